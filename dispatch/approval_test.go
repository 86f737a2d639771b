package dispatch

import (
	"strings"
	"testing"
	"time"
)

// What a permission covers, and what not.
func TestApprovalCovers(t *testing.T) {
	r := &Run{ID: "R", Agent: "pi", Folder: "/p/shop", Project: "shop"}
	ask := Ask{ID: "1", Kind: "confirm", Title: "Run in shop? (deletes)", Message: "rm -rf build"}
	other := func(change func(*Run, *Ask)) (*Run, Ask) {
		r, a := *r, ask
		change(&r, &a)
		return &r, a
	}
	for _, c := range []struct {
		name   string
		change func(*Run, *Ask)
		want   string // the scopes that cover it
	}{
		{"the same", func(*Run, *Ask) {}, "session project always"},
		{"another ask of the run", func(_ *Run, a *Ask) { a.ID = "2" }, "session project always"},
		{"another run", func(r *Run, _ *Ask) { r.ID = "S" }, "project always"},
		{"another project", func(r *Run, a *Ask) {
			r.ID, r.Folder, a.Title = "S", "/p/web", "Run in web? (deletes)"
		}, "always"},
		{"another argument", func(_ *Run, a *Ask) { a.Message = "rm -rf build dist" }, ""},
		{"a blank more", func(_ *Run, a *Ask) { a.Message += " " }, ""},
		{"another reason to ask", func(_ *Run, a *Ask) { a.Title = "Run in shop? (git push)" }, ""},
		{"another tool", func(_ *Run, a *Ask) { a.Title = "Write in shop? (deletes)" }, ""},
		{"another agent", func(r *Run, _ *Ask) { r.Agent = "claude" }, ""},
		{"another kind", func(_ *Run, a *Ask) { a.Kind = "select" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, scope := range Scopes(ask)[1:] {
				p := Approval{Scope: scope, Run: r.ID, Folder: r.Folder, Digest: Digest(r, ask)}
				if p.Covers(other(c.change)) {
					got = append(got, scope)
				}
			}
			same(t, "covers", strings.Join(got, " "), c.want)
		})
	}
	for name, a := range map[string]Ask{
		"a choice":                which,
		"two lines":               {Kind: "confirm", Title: "Run?", Message: "a\nb"},
		"nothing to be read":      {Kind: "confirm", Title: "Sure?"},
		"a command turned around": {Kind: "confirm", Title: "Run?", Message: "rm \u202e-rf"},
	} {
		same(t, name, strings.Join(Scopes(a), " "), "once")
	}
}

// An ask that is covered is answered without a person, and its card never shows
// boxes; revoked, the next one asks.
func TestApprovedByItself(t *testing.T) {
	d := atWork(t)
	d.set.Approvals = []Approval{{ID: "p1", Scope: ScopeProject, Folder: "/p/shop", Digest: Digest(d.run(), mayI)}}
	d.entry(d.run().ID, Entry{Kind: Asked, Ask: &mayI})
	equal(t, "did", d.settle(), []Do{DoAnswer, DoShow})
	same(t, "owed", *d.run().Owed[0].Answer.Confirmed, true)
	contains(t, "card", d.text("Shop.md"), "\t\t- Allow (project) · approval · 09:00\n")
	d.set.Approvals = nil
	again := mayI
	again.ID = "2"
	d.ask(again)
	equal(t, "did", d.later(time.Hour), nil)
	contains(t, "card", d.text("Shop.md"), "- [ ] Allow once ^")
}
