package watch

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/robust"
)

// limited starts what stands behind it in a user namespace in which a limit on
// inotify is so low: the machine's own stays as it is.
func limited(t *testing.T, limit string, most int) []string {
	t.Helper()
	argv := []string{"unshare", "--user", "--map-root-user", "sh", "-c", fmt.Sprintf(`echo %d >/proc/sys/user/%s && exec "$@"`, most, limit), "sh"}
	if out, err := exec.Command(argv[0], append(argv[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no user namespaces here: %v: %s", err, out)
	}
	return argv
}

// raise raises a limit in the user namespace of a daemon.
func raise(t *testing.T, d *robust.Process, limit string) {
	t.Helper()
	pid := fmt.Sprint(d.Cmd.Process.Pid)
	cmd := exec.Command("nsenter", "--user", "--preserve-credentials", "--target", pid, "sh", "-c", "echo 65536 >/proc/sys/user/"+limit)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// doctor is what it says of the watches, and its exit code.
func doctor(t *testing.T, p *robust.Place) (said string, code int) {
	t.Helper()
	all := p.Type(bounded(t), "doctor")
	_, after, _ := strings.Cut(all.Out, "watches")
	lines := strings.SplitN(after, "\n", 3)
	return strings.Join(lines[:min(2, len(lines))], "\n"), all.Code
}

// TestTooFewWatches: a user may watch 10 folders and has 100, or may watch none.
// Cards in those that have no watch start, also in new ones; status says what is
// polled and doctor what to type. When the limit is raised, all are watched.
func TestTooFewWatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit  string
		most   int
		advice string
	}{
		{"max_inotify_watches", 10, ""},
		{"max_inotify_instances", 0, " and start deckhand again"},
	} {
		t.Run(c.limit, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t)
			p := newPlace(t)
			const folders = 100
			for i := range folders {
				put(t, p, fmt.Sprintf("f%d/Board.md", i), board(i))
			}
			p.Through(limited(t, c.limit, c.most)...)
			d := p.Start(ctx)
			var cards []string
			for i := 0; i < folders; i += folders / 4 {
				title := fmt.Sprintf("Card %d", i)
				p.Save(fmt.Sprintf("f%d/Board.md", i), board(i, title))
				put(t, p, fmt.Sprintf("f%d/new/deep/Board.md", i), board(i, "New "+title))
				cards = append(cards, title, "New "+title)
			}
			inReview(d, len(cards))
			mustStartOnce(t, p, cards)
			name := "user." + c.limit
			d.Until(func(s control.Status) bool {
				return strings.HasPrefix(s.Watch, "polling ") && strings.HasSuffix(s.Watch, ": raise "+name+c.advice)
			})
			if said, code := doctor(t, p); code == 0 || !strings.Contains(said, "sudo sysctl "+name+"=") {
				t.Errorf("doctor says, with exit code %d: %s", code, said)
			}
			if c.most > 0 {
				raise(t, d, c.limit)
				d.Until(func(s control.Status) bool { return s.Watch == "events" })
			}
		})
	}
}

// TestWatchingAsAnotherUser: the same as a user without rights.
func TestWatchingAsAnotherUser(t *testing.T) {
	t.Parallel()
	suite.AsNobody(t, "TestOverflowingQueue", "TestFoldersInABurst", "TestTooFewWatches")
}
