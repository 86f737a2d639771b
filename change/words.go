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
	head, tail := commonEnds(old, new)
	a, b := words(old[head:len(old)-tail]), words(new[head:len(new)-tail])
	ids := map[string]int32{}
	na, nb := number(a, ids), number(b, ids)
	gone, came := align(na, nb, len(ids))
	common := head + tail
	for i, w := range a {
		if !gone[i] && strings.TrimSpace(w) != "" {
			common += len(w)
		}
	}
	if 1000*common < alike/2*max(len(old), len(new)) {
		return nil, nil
	}
	return spansOf(head, a, gone), spansOf(head, b, came)
}

// commonEnds are the bytes at both ends that two lines have in common, up to a
// blank: words are only looked for between them.
func commonEnds(old, new string) (head, tail int) {
	most := min(len(old), len(new))
	for head < most && old[head] == new[head] {
		head++
	}
	for head > 0 && !(wordEnds(old, head) && wordEnds(new, head)) {
		head--
	}
	most -= head
	for tail < most && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	for tail > 0 && !(wordEnds(old, len(old)-tail) && wordEnds(new, len(new)-tail)) {
		tail--
	}
	return head, tail
}

// wordEnds reports whether a word ends at an offset for certain: a blank begins
// there, and no blank is before it.
func wordEnds(s string, at int) bool {
	return at < len(s) && s[at] == ' ' && at > 0 && s[at-1] != ' ' && s[at-1] != '\t'
}

// maxWordy is how long text is, in bytes, in which words are looked for.
const maxWordy = 20_000

// words parts text at the borders that Unicode has between words.
func words(s string) []string {
	if len(s) > maxWordy {
		return []string{s}
	}
	var out []string
	for state := -1; s != ""; {
		var w string
		w, s, state = uniseg.FirstWordInString(s, state)
		out = append(out, w)
	}
	return out
}

// spansOf gathers the changed words of those from offset at on; a blank between
// two of them is one with them.
func spansOf(at int, words []string, changed []bool) []span.Span {
	var out []span.Span
	blank := false // only a blank is between the last span and here
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
