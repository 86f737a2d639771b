package assistant

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/change"
	"deckhand/harness/pi"
)

// Names that are looked for by others.
const (
	createFile = "create_file"
	setWork    = "set_work"
)

// Parameters that several tools have.
func paramFile() map[string]any   { return text("the document, as it is listed") }
func paramReason() map[string]any { return text("why, in one short sentence for the person") }

func changeTools() []tool {
	return []tool{
		{
			name: createFile, kind: proposes, about: "Propose a new document.",
			params: map[string]any{"file": text("its path in the work folder, ending in .md"), "text": text("its whole text"), "reason": paramReason()},
			need:   []string{"file", "text", "reason"}, run: single(change.CreateFile),
		},
		{
			name: "edit_file", kind: proposes,
			about: "Propose to replace a text in a document. The old text must stand there exactly once: read the document first, and take enough lines around it.",
			params: map[string]any{
				"file": paramFile(), "old_text": text("the text as it stands there, without line numbers"),
				"new_text": text("what becomes of it"), "reason": paramReason(),
			},
			need: []string{"file", "old_text", "new_text", "reason"}, run: single(change.EditText),
		},
		{
			name: "insert", kind: proposes,
			about: "Propose new lines in a document, before a line or below a heading.",
			params: map[string]any{
				"file": paramFile(), "text": text("the lines"),
				"line":    number("the text becomes this line; one more than the last: at the end"),
				"heading": text("or: below this heading"), "reason": paramReason(),
			},
			need: []string{"file", "text", "reason"}, run: single(change.InsertText),
		},
		{
			name: "delete_file", kind: proposes, about: "Propose to delete a document.",
			params: map[string]any{"file": paramFile(), "reason": paramReason()},
			need:   []string{"file", "reason"}, run: single(change.DeleteFile),
		},
		{
			name: "move_file", kind: proposes, about: "Propose another name or folder for a document.",
			params: map[string]any{"file": paramFile(), "to": text("its new path"), "reason": paramReason()},
			need:   []string{"file", "to", "reason"}, run: single(change.MoveFile),
		},
		{
			name: "replace_all", kind: proposes, about: "Propose to replace a text wherever it stands in one document.",
			params: map[string]any{"file": paramFile(), "old_text": text("the text"), "new_text": text("what becomes of it"), "reason": paramReason()},
			need:   []string{"file", "old_text", "new_text", "reason"}, run: single(change.ReplaceAll),
		},
		{
			name: "edit_kanban", also: "edit_board", kind: proposes,
			about:  "Propose a change of one card of a board. Boards are never changed as text.",
			params: boardParams(), need: []string{"do", "file", "reason"}, run: with(editBoard),
		},
		{
			name: "propose_batch", kind: proposes,
			about: fmt.Sprintf("Propose up to %d changes that belong together, in one review. An action sees what those before it did; what was deleted or moved is not touched again.", change.MaxActions),
			params: map[string]any{
				"reason":  text("why all of it, in one short sentence for the person"),
				"actions": listOf("what is to be done, in this order", record(actionParams(), "do", "file")),
			},
			need: []string{"reason", "actions"}, run: with(proposeBatch),
		},
	}
}

func boardVerbs() []change.Verb {
	return []change.Verb{change.AddCard, change.MoveCard, change.EditCard, change.TickCard, change.UntickCard, change.RemoveCard}
}

func noteVerbs() []change.Verb {
	return []change.Verb{change.CreateFile, change.EditText, change.InsertText, change.ReplaceAll, change.DeleteFile, change.MoveFile}
}

func words(verbs []change.Verb) []string {
	out := make([]string, len(verbs))
	for i, v := range verbs {
		out[i] = string(v)
	}
	return out
}

func boardParams() map[string]any {
	return map[string]any{
		"do": oneOf("what", words(boardVerbs())...), "file": text("the board, as it is listed"),
		"card": text("the card: its first line, or a part of it that no other card has"), "lane": text("of add_card and move_card"),
		"text": text("of add_card: the card, its first line without a box"), "old_text": text("of edit_card"), "new_text": text("of edit_card"),
		"reason": paramReason(),
	}
}

// actionParams are those of every action.
func actionParams() map[string]any {
	p := boardParams()
	p["do"] = oneOf("what; those with card in their name are for boards, the others for other documents, delete and move for both",
		words(slices.Concat(noteVerbs(), boardVerbs()))...)
	p["file"] = paramFile()
	p["to"] = text("of move: its new path")
	p["text"] = text("of create: the whole text; of insert: the lines; of add_card: the card")
	p["old_text"], p["new_text"] = text("of edit, replace_all, edit_card"), text("of edit, replace_all, edit_card")
	p["line"], p["heading"] = number("of insert"), text("of insert, in place of line")
	return p
}

// single is a tool that proposes one action.
func single(do change.Verb) func(*turn, []byte) (string, bool) {
	return with(func(t *turn, a change.Action) (string, error) {
		a.Do = do
		return t.propose([]change.Action{a}, a.Reason)
	})
}

func editBoard(t *turn, a change.Action) (string, error) {
	if !slices.Contains(boardVerbs(), a.Do) {
		return "", fmt.Errorf("do is one of %s", strings.Join(words(boardVerbs()), ", "))
	}
	return t.propose([]change.Action{a}, a.Reason)
}

func proposeBatch(t *turn, args struct {
	Reason  string
	Actions []change.Action
},
) (string, error) {
	return t.propose(args.Actions, args.Reason)
}

// reasonMost is how long a reason may be, in characters.
const reasonMost = 500

// propose plans the actions on a virtual copy, says what would come of them, and
// waits for what the person decides, as long as it takes.
func (t *turn) propose(actions []change.Action, reason string) (string, error) {
	f, err := t.folder()
	if err != nil {
		return "", err
	}
	if err := f.refresh(); err != nil {
		return "", err
	}
	if id := t.a.session.again(actions, f.contents); id != "" {
		return "", fmt.Errorf("this was applied already, as %s, and stands in the documents: it is not proposed again", id)
	}
	changes, err := change.Plan(f.planned(), actions)
	if err != nil {
		return "", err
	}
	p, err := t.a.session.propose(proposal{
		Proposal: change.Proposal{Reason: cutRunes(reason, reasonMost), Changes: changes}, Time: time.Now(), Actions: actions,
	})
	if err != nil {
		return "", fmt.Errorf("nothing can be proposed: it could not be kept: %w", err)
	}
	answer := t.expect(p.ID)
	out := pi.Propose{Type: pi.ProposeType, ID: p.ID, Reason: p.Reason}
	for _, c := range p.Changes {
		out.Changes = append(out.Changes, pi.Change{Kind: string(c.Kind), File: c.File, To: c.To, Before: c.Before, After: c.After, Reason: c.Reason})
	}
	t.a.emit(out)
	select {
	case d := <-answer:
		return t.decided(p, d)
	case <-t.ctx.Done():
		return "", errors.New("the turn was stopped before anybody decided")
	}
}

// decided keeps a decision and tells the model.
func (t *turn) decided(p *proposal, d decision) (string, error) {
	if err := t.a.session.decided(d); err != nil {
		return "", fmt.Errorf("the decision could not be kept: %w", err)
	}
	if len(d.Applied) > 0 {
		if err := t.changed(); err != nil {
			return "", err
		}
	}
	return d.words(p.ID), nil
}

// words are a decision as the model reads it.
func (d decision) words(id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was decided.\n", id)
	if len(d.Applied) > 0 {
		fmt.Fprintf(&b, "Applied: %s\n", strings.Join(d.Applied, ", "))
	}
	switch {
	case d.Failed != "":
		fmt.Fprintf(&b, "Nothing was written: %s\nLook at the documents again before you propose anything about them.\n", d.Failed)
	case len(d.Rejected) > 0:
		fmt.Fprintf(&b, "Rejected: %s\nDo not propose these again unless the person asks for it.\n", strings.Join(d.Rejected, ", "))
	}
	if d.Note != "" {
		fmt.Fprintf(&b, "The person says: %s\n", d.Note)
	}
	return b.String()
}
