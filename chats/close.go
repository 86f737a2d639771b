package chats

import "deckhand/internal/span"

// Close takes away the boxes of asks that are over, with the line for a reason
// where nobody wrote one. Over is asked of the first part of each box's id, up to
// its dash. The question stays, and so does what a person wrote.
func Close(cur []byte, over func(offer string) bool) ([]byte, error) {
	d := parse(cur)
	var edits []span.Edit
	for i, p := range d.parts[:d.draft] {
		if p.kind != boxes || !allOver(p.boxes, over) {
			continue
		}
		s := span.Span{Start: p.start, End: p.end}
		if p.field != "" {
			rest := nextLine(cur, p.end)
			if trimEnds(string(cur[p.end:rest])) == "" {
				s.End = rest
			} else {
				s.End -= len("- " + p.field + ":")
			}
		}
		if i > 0 && d.parts[i-1].kind == text {
			s.Start = blankBefore(cur, s.Start)
		}
		edits = append(edits, span.Delete(s))
	}
	return span.Apply(cur, edits...)
}

// allOver reports whether no box can be ticked any more.
func allOver(all []Box, over func(string) bool) bool {
	for _, b := range all {
		if !over(offerOf(b.ID)) {
			return false
		}
	}
	return true
}

// offerOf is the first part of a box's id.
func offerOf(id string) string {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i] == '-' {
			return id[:i]
		}
	}
	return id
}
