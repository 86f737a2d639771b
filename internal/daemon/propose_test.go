package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/harness/pi"
	"deckhand/internal/control"
)

// The notes of these tests, and what is proposed for them.
const (
	launchMay  = "# Launch\n\nLaunch: May\n"
	launchJune = "# Launch\n\nLaunch: June\n"
	oldPlan    = "The plan of May.\n"
	newNote    = "# June\n"
)

// launchMoves edits one note, makes one, deletes one and moves one.
func launchMoves() []pi.Change {
	return []pi.Change{
		{Kind: "edit", File: "Launch.md", Before: launchMay, After: launchJune, Reason: "it moved"},
		{Kind: "create", File: "Notes/June.md", After: newNote},
		{Kind: "delete", File: "May.md", Before: oldPlan},
		{Kind: "move", File: "Draft.md", To: "Notes/Draft.md", Before: "draft\n", After: "draft\n"},
	}
}

// proposes is a place whose card leads to a proposal of these changes.
func proposes(t *testing.T, note string, changes []pi.Change) *placeT {
	t.Helper()
	p := newPlace(t, fast, one("[propose:changes.json] [record] "+note))
	for name, text := range map[string]string{"Launch.md": launchMay, "May.md": oldPlan, "Draft.md": "draft\n"} {
		p.write(p.at(name), text)
	}
	if changes != nil {
		p.change(changes)
	}
	return p
}

// change is what the agent proposes next; it waits for it.
func (p *placeT) change(changes []pi.Change) {
	p.t.Helper()
	data, err := json.Marshal(changes)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(filepath.Join(p.proj, "changes.new"), string(data))
	if err := os.Rename(filepath.Join(p.proj, "changes.new"), filepath.Join(p.proj, "changes.json")); err != nil {
		p.t.Fatal(err)
	}
}

// proposed waits for the only proposal.
func (r *runningT) proposed() control.Proposal {
	r.t.Helper()
	return r.until(func(s control.Status) bool { return len(s.Proposals) == 1 && s.Proposals[0].Status == "waiting" }).Proposals[0]
}

// holds checks the notes; an empty text is a file that is not there.
func (p *placeT) holds(files map[string]string) {
	p.t.Helper()
	for name, want := range files {
		if got := p.text(name); got != want {
			p.t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func asItWas() map[string]string {
	return map[string]string{"Launch.md": launchMay, "Notes/June.md": "", "May.md": oldPlan, "Draft.md": "draft\n", "Notes/Draft.md": ""}
}

func asProposed() map[string]string {
	return map[string]string{"Launch.md": launchJune, "Notes/June.md": newNote, "May.md": "", "Draft.md": "", "Notes/Draft.md": "draft\n"}
}

// recorded checks what the agent was told, by its own record.
func (p *placeT) recorded(want string) {
	p.t.Helper()
	record, err := os.ReadFile(filepath.Join(p.proj, "RECORD.log"))
	if err != nil || strings.Count(string(record), "decision ") != 1 || !strings.Contains(string(record), "decision "+want+" ") {
		p.t.Errorf("record lacks %q: %v\n%s", want, err, record)
	}
}

// journal is the journal of the only day.
func (p *placeT) journal() string {
	p.t.Helper()
	days, err := filepath.Glob(p.at("deckhand/journal/*.md"))
	if err != nil || len(days) == 0 {
		return ""
	}
	data, err := os.ReadFile(days[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// The whole way by command: proposed, shown, applied, told, taken back.
func TestProposalApplied(t *testing.T) {
	p := proposes(t, "", launchMoves())
	d := p.watching(bounded(t))
	got := d.proposed()
	p.shows(d, "In Progress", "🟡 pi asks")
	p.shows(d, "In Progress", "deckhand apply "+got.ID)
	p.holds(asItWas())
	if len(got.Changes) != 4 || got.Changes[0].Added != 1 || got.Changes[0].Removed != 1 || got.Agent != "pi" {
		t.Errorf("the proposal: %+v", got)
	}
	diff, err := d.client.Diff(d.ctx, got.ID)
	if err != nil || !strings.Contains(diff.Text, "-Launch: May\n+Launch: June\n") || !strings.Contains(diff.Text, "+++ b/Notes/June.md\n@@ -0,0 +1 @@\n+# June\n") {
		t.Errorf("diff: %v\n%s", err, diff.Text)
	}
	apply := control.Command{ID: "apply", Name: "apply", Proposal: got.ID, Note: "well done", From: "cli"}
	for range 2 {
		if _, err := d.command(apply); err != nil {
			t.Fatal(err)
		}
	}
	p.holds(asProposed())
	d.reviewed()
	p.recorded("applied Launch.md, Notes/June.md, May.md, Draft.md; note well done")
	if _, err := d.command(control.Command{Name: "reject", Proposal: got.ID}); !code(err, control.CodeConflict) {
		t.Errorf("decided twice: %v", err)
	}
	if _, err := d.command(control.Command{Name: "revert", Proposal: got.ID}); err != nil {
		t.Fatal(err)
	}
	p.holds(asItWas())
	for _, want := range []string{" · proposed · Launch.md", " · applied · Notes/June.md", " · reverted · May.md", "-Launch: May\n+Launch: June", "before:: sha256-"} {
		for !strings.Contains(p.journal(), want) {
			if _, err := d.client.Status(d.ctx); err != nil {
				t.Fatalf("the journal lacks %q:\n%s", want, p.journal())
			}
		}
	}
}

// By ticking on its page, in part.
func TestProposalTicked(t *testing.T) {
	p := proposes(t, "", launchMoves())
	d := p.watching(bounded(t))
	got := d.proposed()
	page := p.pageOf(d, got)
	for _, want := range []string{"- [x] edit Launch.md · +1 −1 ^" + got.ID + "-1\nit moved\n", "- [ ] apply ticked ^" + got.ID + "-5\n- [ ] reject ^" + got.ID + "-6\n- note:\n"} {
		if !strings.Contains(page, want) {
			t.Fatalf("the page lacks %q:\n%s", want, page)
		}
	}
	page = strings.NewReplacer("- [x] delete", "- [ ] delete", "- [x] move", "- [ ] move", "- [ ] apply", "- [x] apply", "- note:", "- note: leave the others").Replace(page)
	p.save(got.Path, page)
	d.reviewed()
	p.holds(map[string]string{"Launch.md": launchJune, "Notes/June.md": newNote, "May.md": oldPlan, "Draft.md": "draft\n", "Notes/Draft.md": ""})
	p.recorded("applied Launch.md, Notes/June.md; rejected May.md, Draft.md; note leave the others")
	for !strings.Contains(p.text(got.Path), "status: applied") {
		if _, err := d.client.Status(d.ctx); err != nil {
			t.Fatalf("the page:\n%s", p.text(got.Path))
		}
	}
	if strings.Contains(p.text(got.Path), "- [") {
		t.Errorf("boxes are left:\n%s", p.text(got.Path))
	}
}

// pageOf waits for the page of a proposal.
func (p *placeT) pageOf(d *runningT, prop control.Proposal) string {
	p.t.Helper()
	for p.text(prop.Path) == "" {
		if _, err := d.client.Status(d.ctx); err != nil {
			p.t.Fatalf("no page: %v\n%s", err, p.log)
		}
	}
	return p.text(prop.Path)
}

// A file that changed since keeps all of them from being written.
func TestProposalOutdated(t *testing.T) {
	p := proposes(t, "", launchMoves())
	d := p.watching(bounded(t))
	got := d.proposed()
	p.save("May.md", "still needed\n")
	_, err := d.command(control.Command{Name: "apply", Proposal: got.ID})
	if !code(err, control.CodeConflict) || !strings.Contains(err.Error(), "May.md changed since it was proposed") {
		t.Errorf("apply: %v", err)
	}
	d.reviewed()
	want := asItWas()
	want["May.md"] = "still needed\n"
	p.holds(want)
	p.recorded("failed May.md changed since it was proposed; ask for a new proposal")
}

// What no agent may change is refused as a whole, and the agent is told why.
func TestProposalRefused(t *testing.T) {
	edit := func(file string) pi.Change {
		return pi.Change{Kind: "edit", File: file, Before: launchMay, After: launchJune}
	}
	for _, c := range []struct {
		name    string
		changes []pi.Change
		why     string
	}{
		{"nothing", []pi.Change{}, "changes nothing"},
		{"outside", []pi.Change{edit("Launch.md"), edit("../Launch.md")}, "../Launch.md"},
		{"absolute", []pi.Change{edit("/etc/passwd.md")}, "/etc/passwd.md"},
		{"dots", []pi.Change{edit(".obsidian/x.md")}, "begins with a dot"},
		{"output", []pi.Change{edit("deckhand/Needs me.md")}, "deckhand writes in this folder"},
		{"settings", []pi.Change{edit("deckhand.yaml")}, "only notes are changed"},
		{"link", []pi.Change{edit("Link.md")}, "Link.md is a symbolic link"},
		{"below a link", []pi.Change{{Kind: "create", File: "linked/x.md", After: "x"}}, "linked is a symbolic link"},
		{"twice", []pi.Change{edit("Launch.md"), edit("Launch.md")}, "Launch.md is changed twice"},
		{"case", []pi.Change{{Kind: "create", File: "a/É.md", After: "x"}, {Kind: "create", File: "a/é.md", After: "x"}}, "a/é.md"},
		{"kind", []pi.Change{{Kind: "chmod", File: "Launch.md"}}, "no change is called"},
		{"a run's line", []pi.Change{{Kind: "create", File: "x.md", After: "## Plan\n- [ ] a\n\t- 🟡 pi asks ^r-01kb7x2m\n"}}, "the line of a run"},
		{"outdated", []pi.Change{{Kind: "edit", File: "Launch.md", Before: "x", After: "y"}}, "changed since it was proposed"},
		{"there", []pi.Change{{Kind: "create", File: "Launch.md", After: "y"}}, "Launch.md already exists"},
		{"the same", []pi.Change{{Kind: "edit", File: "Launch.md", Before: launchMay, After: launchMay}}, "this changes nothing"},
		{"NUL", []pi.Change{{Kind: "create", File: "x.md", After: "a\x00b"}}, "control character U+0000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := proposes(t, "", c.changes)
			for link, to := range map[string]string{"Link.md": "Launch.md", "linked": "deckhand"} {
				if err := os.Symlink(to, p.at(link)); err != nil {
					t.Fatal(err)
				}
			}
			d := p.watching(bounded(t))
			d.reviewed()
			p.holds(asItWas())
			if sent := p.sent(); len(sent) != 1 || !strings.Contains(sent[0], `"type":"decision"`) || !strings.Contains(sent[0], c.why) {
				t.Errorf("the agent got %q", sent)
			}
			if pages, err := filepath.Glob(p.at("deckhand/proposals/*")); err != nil || len(pages) > 0 {
				t.Errorf("pages: %v %v", pages, err)
			}
		})
	}
}

// Stopped while it waits: nothing is written, and the proposal is over.
func TestProposalStopped(t *testing.T) {
	p := proposes(t, "", launchMoves())
	d := p.watching(bounded(t))
	got := d.proposed()
	if _, err := d.command(control.Command{Name: "stop", Run: got.Run}); err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool { return len(s.Proposals) == 0 && s.Runs[0].Status == "stopped" })
	p.holds(asItWas())
	if sent := p.sent(); slices.ContainsFunc(sent, func(l string) bool { return strings.Contains(l, `"applied"`) }) {
		t.Errorf("the agent got %q", sent)
	}
}

// An agent that goes on is told what became of what it proposed, and of what
// nobody decided how the files are now.
func TestProposalRemembered(t *testing.T) {
	p := proposes(t, "", launchMoves())
	d := p.watching(bounded(t))
	first := d.proposed()
	if _, err := d.command(control.Command{Name: "stop", Run: first.Run}); err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "stopped" })
	p.write(p.at("Launch.md"), launchJune)
	p.write(filepath.Join(p.proj, "changes.json"), `[{"kind":"create","file":"New.md","after":"new\n"}]`)
	if _, err := d.command(control.Command{Name: "reply", Run: first.Run, Text: "go on [propose:changes.json]"}); err != nil {
		t.Fatal(err)
	}
	second := d.proposed()
	if p.text(first.Path) == "" || !strings.Contains(p.pageOf(d, second), "- [x] create New.md · +1 −0 ^"+second.ID+"-1\n\n") {
		t.Errorf("the page:\n%s", p.text(second.Path))
	}
	if second.ID == first.ID || second.Changes[0].File != "New.md" {
		t.Fatalf("the second proposal: %+v", second)
	}
	prompts, err := filepath.Glob(filepath.Join(p.o.State, "*/runs/*/2/prompt.md"))
	if err != nil || len(prompts) != 1 {
		t.Fatal(prompts, err)
	}
	prompt, err := os.ReadFile(prompts[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not decided: its agent's turn ended before", "Launch.md is already as it was proposed", "Notes/June.md is as it was", "Do not propose again"} {
		if !strings.Contains(string(prompt), want) {
			t.Errorf("the prompt lacks %q:\n%s", want, prompt)
		}
	}
	if _, err := d.command(control.Command{Name: "reject", Proposal: second.ID, Note: "no"}); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
	if sent := p.sent(); !slices.ContainsFunc(sent, func(l string) bool { return strings.Contains(l, `"rejected":["New.md"],"note":"no"`) }) {
		t.Errorf("the agent got %q", sent)
	}
}

// A proposal for the board on which its own card stands: deckhand writes there
// meanwhile, and that is no reason against it, nor against taking it back.
func TestProposalForItsOwnBoard(t *testing.T) {
	p := proposes(t, "", nil)
	add := func(s string) string {
		return strings.Replace(s, "## Plan\n", "## Plan\n\n- [ ] Tell all about June\n", 1)
	}
	d := p.watching(bounded(t))
	p.shows(d, "In Progress", "🔵 pi works")
	works := p.read("Shop.md")
	p.change([]pi.Change{{Kind: "edit", File: "Shop.md", Before: works, After: add(works)}})
	got := d.proposed()
	p.shows(d, "In Progress", "🟡 pi asks")
	if _, err := d.command(control.Command{Name: "apply", Proposal: got.ID}); err != nil {
		t.Fatal(err)
	}
	p.shows(d, "Plan", "- [ ] Tell all about June")
	d.reviewed()
	p.shows(d, "Review", "🟢 pi: review")
	p.shows(d, "Plan", "- [ ] Tell all about June")
	if _, err := d.command(control.Command{Name: "revert", Proposal: got.ID}); err != nil {
		t.Fatal(err)
	}
	if lane := p.lane("Plan"); strings.Contains(lane, "June") || !strings.Contains(p.lane("Review"), "🟢 pi: review") {
		t.Errorf("taken back:\n%s", p.read("Shop.md"))
	}
}

// What a person rejected and gets again as it was says so.
func TestProposalAgain(t *testing.T) {
	p := proposes(t, "", launchMoves()[:2])
	d := p.watching(bounded(t))
	first := d.proposed()
	if _, err := d.command(control.Command{Name: "reject", Proposal: first.ID, Note: "not June"}); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
	p.change(append(launchMoves()[:1], pi.Change{Kind: "create", File: "Notes/June.md", After: "other\n"}))
	if _, err := d.command(control.Command{Name: "reply", Run: first.Run, Text: "again [propose:changes.json]"}); err != nil {
		t.Fatal(err)
	}
	got := d.proposed()
	if says := got.Changes[0].Reason; !strings.HasPrefix(says, "you rejected this on ") || !strings.HasSuffix(says, ": not June it moved") || got.Changes[1].Reason != "" {
		t.Errorf("%+v", got.Changes)
	}
	if page := p.pageOf(d, got); !strings.Contains(page, "-1\nyou rejected this on ") {
		t.Errorf("the page:\n%s", page)
	}
}

// An agent that is gone waits for nothing, but what it proposed can be applied.
func TestProposalAppliedLate(t *testing.T) {
	p := proposes(t, "", launchMoves())
	d := p.watching(bounded(t))
	got := d.proposed()
	if _, err := d.command(control.Command{Name: "stop", Run: got.Run}); err != nil {
		t.Fatal(err)
	}
	d.until(func(s control.Status) bool { return s.Runs[0].Status == "stopped" })
	if _, err := d.command(control.Command{Name: "apply", Proposal: got.ID}); err != nil {
		t.Fatal(err)
	}
	p.holds(asProposed())
}
