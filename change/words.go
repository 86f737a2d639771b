package change

import (
	"strings"

	"github.com/rivo/uniseg"

	"deckhand/internal/span"
)

// Words finds what changed between a line and the one that took its place:
// spans in old and in new, in order, on borders of words as Unicode has them,
// so never inside a character. Nothing is found where the lines have so little
// in common that words of one would only be scattered in the other: then all
// of both changed.
func Words(old, new string) (was, is []span.Span) {
	a, b := words(old), words(new)
	ids := map[string]int32{}
	na, nb := number(a, ids), number(b, ids)
	gone, came := align(na, nb, len(ids))
	common := 0
	for i, w := range a {
		if !gone[i] && strings.TrimSpace(w) != "" {
			common += len(w)
		}
	}
	if 1000*common < alike/2*max(len(old), len(new)) {
		return nil, nil
	}
	return spansOf(a, gone), spansOf(b, came)
}

// words parts a line at the borders that Unicode has between words.
func words(s string) []string {
	var out []string
	for state := -1; s != ""; {
		var w string
		w, s, state = uniseg.FirstWordInString(s, state)
		out = append(out, w)
	}
	return out
}

// spansOf gathers the changed words; a blank between two of them is one with
// them.
func spansOf(words []string, changed []bool) []span.Span {
	var out []span.Span
	at, blank := 0, false // whether only a blank is between the last span and here
	for i, w := range words {
		end := at + len(w)
		switch {
		case changed[i] && len(out) > 0 && (blank || out[len(out)-1].End == at):
			out[len(out)-1].End = end
			blank = false
		case changed[i]:
			out = append(out, span.Span{Start: at, End: end})
		default:
			blank = len(out) > 0 && out[len(out)-1].End == at && strings.TrimSpace(w) == ""
		}
		at = end
	}
	return out
}
