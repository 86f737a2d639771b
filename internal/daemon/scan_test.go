package daemon

import (
	"strings"
	"testing"
)

func TestTooManyCards(t *testing.T) {
	for text, want := range map[string]bool{"- [ ] a\n": true, "\t* [x] a\n": true, "12. [ ] a\n": true, "- a [ ]\n": false, "text [[a]]\n": false, "[ ] a\n": false} {
		if tooMany([]byte(strings.Repeat(text, cardsMost))) {
			t.Errorf("%d of %q are too many", cardsMost, text)
		}
		if got := tooMany([]byte(strings.Repeat(text, cardsMost+1))); got != want {
			t.Errorf("%d of %q: %v", cardsMost+1, text, got)
		}
	}
}
