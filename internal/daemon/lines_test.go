package daemon

import (
	"slices"
	"strings"
	"testing"

	"deckhand/internal/control"
)

// What a person does with a run leaves one line on the card, in the chat and in
// the journal.
func TestOneLineEach(t *testing.T) {
	p := newPlace(t, fast, one("[hang]"))
	d := p.watching(bounded(t))
	run := d.until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Tokens > 0 }).Runs[0]
	do := func(c control.Command) {
		t.Helper()
		c.Run, c.From = run.ID, "cli"
		if _, err := d.command(c); err != nil {
			t.Fatal(c.Name, err)
		}
	}
	no := "deny"
	var want []string
	says := func(lines ...string) {
		t.Helper()
		want = append(want, lines...)
		for got := p.lines(d); !slices.Equal(got, want); got = p.lines(d) {
			if len(got) > len(want) || d.ctx.Err() != nil {
				t.Fatalf("the journal says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	says("claimed @pi in shop", "moved Plan → In Progress", "started")
	do(control.Command{Name: "stop"})
	p.shows(d, "Review", "⚪ pi stopped · by command · ")
	says("stopped by command", "moved In Progress → Review")
	do(control.Command{Name: "reply", Text: "[ask] In blue."})
	says("steered it goes on (cli): [ask] In blue.", "moved Review → In Progress", "started", "asked Write SHIP.md? The card says [ask].")
	do(control.Command{Name: "answer", Value: &no})
	p.shows(d, "Review", "- Deny · cli · ")
	says("answered Deny (cli): Write SHIP.md?", "finished", "moved In Progress → Review")
	do(control.Command{Name: "send_back", Text: "In red."})
	says("steered it goes on (cli): In red.", "moved Review → In Progress", "started", "finished", "moved In Progress → Review")
	p.shows(d, "Review", "- In red. · cli · ")
	do(control.Command{Name: "accept"})
	p.shows(d, "Done", "🟢 pi: accepted")
	says("accepted", "moved Review → Done")
	chat := p.text(run.Chat)
	for _, once := range []string{"## You\n\nstop: by command\n\n> sent ", "## You\n\nDeny\n\n> sent ", "\n[ask] In blue.\n", "\nIn red.\n"} {
		if n := strings.Count(chat, once); n != 1 {
			t.Errorf("%q stands %d times in the chat:\n%s", once, n, chat)
		}
	}
}
