package pi

import (
	"encoding/json"
	"testing"

	"deckhand/harness"
	"deckhand/harness/conformance"
)

// suite is pi's side of the conformance suite, in the words of one generation.
func suite(settles bool) *conformance.Suite {
	one := func(v map[string]any) []string { return []string{line(v)} }
	message := func(stop, why string, parts ...Content) map[string]any {
		return map[string]any{"type": "message_end", "message": map[string]any{
			"role": "assistant", "content": parts, "stopReason": stop, "errorMessage": why,
			"usage": map[string]any{"totalTokens": 0},
		}}
	}
	end := func(m map[string]any) []string {
		lines := []string{line(m), `{"type":"agent_end","messages":[]}`}
		if settles {
			lines = append(lines, `{"type":"agent_settled","aborted":false}`)
		}
		return lines
	}
	tool := func(kind, id string) map[string]any {
		return map[string]any{"type": kind, "toolCallId": id, "toolName": "bash", "args": map[string]string{"command": "make"}}
	}
	return &conformance.Suite{
		Driver: New,
		Script: conformance.Script{
			Answer:   func(s harness.Send) []string { return answerTo(s, settles) },
			IsPrompt: func(s harness.Send) bool { return unquote(field([]byte(s.Line), "type")) == Prompt },
			IsCancel: func(s harness.Send, ask string) bool {
				return s.Line == Request{ID: ask, Type: UIResponse, Cancelled: true}.Line()
			},
			Text: func(d string) []string {
				return one(map[string]any{"type": "message_update", "assistantMessageEvent": map[string]any{"type": "text_delta", "contentIndex": 0, "delta": d}})
			},
			ToolBegin: func(id string) []string { return one(tool("tool_execution_start", id)) },
			ToolEnd: func(id string) []string {
				v := tool("tool_execution_end", id)
				v["result"], v["isError"] = Result{Content: []Content{}}, false
				return one(v)
			},
			Ask: func(id string) []string {
				return one(map[string]any{"type": "extension_ui_request", "id": id, "method": "confirm", "title": "May I?"})
			},
			End:    func(answer string) []string { return end(message("stop", "", Content{Type: "text", Text: answer})) },
			Failed: func(why string) []string { return end(message("error", why)) },
			Noise:  []string{`{"type":"from_the_future","x":[{"type":"agent_end"}]}`, `{"type":"message_update"}`, `{"type":"tool_execution_frob","toolCallId":"z"}`},
		},
	}
}

// answerTo is an agent that says yes to everything and keeps no session.
func answerTo(s harness.Send, settles bool) []string {
	var r Request
	if json.Unmarshal([]byte(s.Line), &r) != nil {
		return nil
	}
	yes := Response{ID: r.ID, Type: "response", Command: r.Type, Success: true}
	switch r.Type {
	case GetState:
		yes.Data = State{SessionFile: "/state/card.jsonl"}
	case Prompt:
		if settles {
			yes.Data = map[string]string{"disposition": "started"}
		}
		return []string{line(yes), `{"type":"agent_start"}`}
	case UIResponse:
		return nil
	}
	return []string{line(yes)}
}

func TestConformance(t *testing.T) {
	for name, settles := range map[string]bool{"0.73": false, "1.x": true} {
		t.Run(name, func(t *testing.T) {
			for _, f := range suite(settles).Run() {
				t.Error(f)
			}
		})
	}
	for _, f := range conformance.Missing(t.Context(), New(), nil, []string{"/nowhere/pi"}, []string{program(t, "exit 1")}) {
		t.Error(f)
	}
}
