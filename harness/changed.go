package harness

import (
	"fmt"
	"strings"
)

// ChangedNote is a note that an agent was given and that is another now.
type ChangedNote struct {
	Name    string // as the prompt named it
	Section string // heading or block, empty: the whole note
	Diff    string // what changed, as diff -u has it
	Problem string // why that is not there: note not found, …
}

// NotesChanged is what an agent at work is told about notes that have changed
// since it was given them, behind what the person says. The rules for data are
// those of Prompt.
func NotesChanged(nonce, said string, changed []ChangedNote) string {
	data := []string{said}
	for _, c := range changed {
		data = append(data, c.Name, c.Section, c.Diff, c.Problem)
	}
	w := promptWriter{nonce: unheardOf(nonce, data)}
	if said != "" {
		w.line("%s", said)
		w.line("")
	}
	w.line("Notes that you were given are others now: %s.", changedNames(changed))
	w.fences()
	for i, c := range changed {
		if i > 0 {
			w.line("")
		}
		w.changed(c)
	}
	return w.b.String()
}

func (w *promptWriter) changed(c ChangedNote) {
	n := PromptNote{Name: c.Name, Section: c.Section}
	if c.Problem != "" {
		w.line("Of %s nothing is copied: %s.", linked(n), plain(c.Problem))
		return
	}
	w.fenced("diff", w.attr(n), c.Diff)
}

func changedNames(changed []ChangedNote) string {
	names := make([]string, len(changed))
	for i, c := range changed {
		names[i] = linked(PromptNote{Name: c.Name, Section: c.Section})
	}
	return strings.Join(names, "; ")
}

// NoteTexts are the texts of the notes in a prompt, in their order. They are what
// stands between its fences: nothing in the data can be equal to one.
func NoteTexts(prompt string) []string {
	nonce := fenceOf(prompt)
	if nonce == "" {
		return nil
	}
	begin, end := fmt.Sprintf("<note nonce=%q", nonce), fmt.Sprintf("</note nonce=%q>\n", nonce)
	var out []string
	var text *strings.Builder
	for line := range strings.Lines(prompt) {
		switch {
		case text == nil && strings.HasPrefix(line, begin):
			text = &strings.Builder{}
		case text != nil && line == end:
			out, text = append(out, text.String()), nil
		case text != nil:
			text.WriteString(line)
		}
	}
	return out
}

// fenceOf is the nonce of a prompt: what stands before its first fence is ours.
func fenceOf(prompt string) string {
	for line := range strings.Lines(prompt) {
		for _, kind := range []string{"card", "added"} {
			if rest, ok := strings.CutPrefix(line, "<"+kind+` nonce="`); ok {
				nonce, _, _ := strings.Cut(rest, `"`)
				return nonce
			}
		}
	}
	return ""
}
