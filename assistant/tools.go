package assistant

import (
	"encoding/json"
	"fmt"
	"slices"

	openai "github.com/sashabaranov/go-openai"
)

// kind is what a tool does to the world.
type kind int

const (
	reads    kind = iota // looks at documents
	proposes             // makes a proposal, and waits for the decision
	plans                // states or checks the plan
)

// tool is what a model may call. Models choose by names and descriptions, so
// these speak of documents, never of a kind of them.
type tool struct {
	name, also string // also: another name that models know it by
	kind       kind
	about      string
	params     map[string]any
	need       []string
	run        func(t *turn, args []byte) (out string, ok bool)
}

// tools are those of this configuration: where nothing may be read, none that
// would tell what stands in a document.
func (a *agent) tools() []tool {
	all := slices.Concat(readTools(), gitTools(), changeTools(), planTools())
	return slices.DeleteFunc(all, func(t tool) bool {
		switch a.o.Read {
		case ReadNone:
			return t.name != createFile && t.name != setWork
		case ReadLinked:
			return slices.ContainsFunc(gitTools(), func(g tool) bool { return g.name == t.name })
		}
		return false
	})
}

// definitions are tools as a request has them.
func definitions(tools []tool) []openai.Tool {
	out := make([]openai.Tool, len(tools))
	for i, t := range tools {
		out[i] = openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.name, Description: t.about, Parameters: t.schema(),
		}}
	}
	return out
}

func (t tool) schema() map[string]any {
	s := map[string]any{"type": "object", "properties": t.params}
	if len(t.need) > 0 {
		s["required"] = t.need
	}
	return s
}

// toolTokens is what the tools cost of each request.
func toolTokens(tools []tool) int {
	raw, err := json.Marshal(definitions(tools))
	if err != nil {
		panic("assistant: " + err.Error()) // literals
	}
	return tokens(string(raw))
}

func text(about string) map[string]any { return map[string]any{"type": "string", "description": about} }

func number(about string) map[string]any {
	return map[string]any{"type": "integer", "description": about}
}

func oneOf(about string, of ...string) map[string]any {
	return map[string]any{"type": "string", "description": about, "enum": of}
}

func listOf(about string, item map[string]any) map[string]any {
	return map[string]any{"type": "array", "description": about, "items": item}
}

func record(params map[string]any, need ...string) map[string]any {
	return map[string]any{"type": "object", "properties": params, "required": need}
}

// with reads the arguments of a call and does it. What is wrong with them is
// said to the model, which can mend it.
func with[T any](do func(t *turn, args T) (string, error)) func(*turn, []byte) (string, bool) {
	return func(t *turn, raw []byte) (string, bool) {
		var args T
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return fmt.Sprintf("the arguments are not what the tool takes: %v. Call it again with one JSON object as described.", err), false
			}
		}
		out, err := do(t, args)
		if err != nil {
			return err.Error(), false
		}
		return out, true
	}
}
