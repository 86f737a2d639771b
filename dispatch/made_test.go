package dispatch

import (
	"testing"
	"time"
)

// A tick that is taken back and set again is a new one: it settles anew.
func TestTickTakenBack(t *testing.T) {
	d := asking(t, mayI)
	d.tick("Allow once")
	equal(t, "ticked", d.later(2*time.Second), nil)
	d.edit("Shop.md", "- [x] Allow once", "- [ ] Allow once")
	equal(t, "taken back", d.later(time.Minute), nil)
	d.tick("Allow once")
	equal(t, "not settled again", d.later(2*time.Second), nil)
	equal(t, "settled", d.later(time.Second), []Do{DoAnswer, DoShow})
}
