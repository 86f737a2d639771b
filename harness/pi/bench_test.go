package pi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"deckhand/harness"
)

// BenchmarkDecode is how fast a session reads what an agent prints, by the kind
// of line; beside it, what encoding/json needs to parse the same bytes.
func BenchmarkDecode(b *testing.B) {
	text := strings.Repeat("All work and no play. ", 1000)
	message := line(map[string]any{"role": "assistant", "content": []Content{{Type: "text", Text: text}}, "stopReason": "stop", "timestamp": 1})
	result := line(Result{Content: []Content{{Type: "text", Text: text}}})
	args := line(map[string]string{"path": "big.txt", "content": text})
	for _, c := range []struct{ name, line string }{
		{"delta-1.x", `{"type":"message_update","usage":{"input":1,"cost":{"total":0}},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"All work and no play makes a dull day. "}}`},
		{"delta-0.73", `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"All work","partial":` + message + `},"message":` + message + `}`},
		{"toolcall-delta-0.73", `{"type":"message_update","assistantMessageEvent":{"type":"toolcall_delta","contentIndex":0,"delta":"All work","partial":` + message + `},"message":` + message + `}`},
		{"message_end", `{"type":"message_end","message":` + message + `}`},
		{"turn_end", `{"type":"turn_end","message":` + message + `,"toolResults":[]}`},
		{"tool_start", `{"type":"tool_execution_start","toolCallId":"a","toolName":"write","args":` + args + `}`},
		{"tool_update", `{"type":"tool_execution_update","toolCallId":"a","toolName":"bash","args":{"command":"x"},"partialResult":` + result + `}`},
		{"agent_end", `{"type":"agent_end","messages":[` + message + `,` + message + `]}`},
	} {
		data := []byte(c.line)
		b.Run(c.name, func(b *testing.B) {
			s := newSession(harness.Spec{})
			l := harness.Line{Time: time.Unix(0, 0), Stream: harness.Out, Data: data}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				l.Seq++
				s.Decode(l)
				if s.turn.streamed.Len() > 1<<20 {
					s.turn.streamed.Reset()
				}
			}
			if s.turn == nil {
				b.Fatal("the turn ended")
			}
		})
		b.Run(c.name+"/json", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				var v struct{ Type string }
				if json.Unmarshal(data, &v) != nil {
					b.Fatal(fmt.Errorf("%.80s", data))
				}
			}
		})
	}
}
