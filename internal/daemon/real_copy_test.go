package daemon

import (
	"strings"
	"testing"

	"deckhand/internal/control"
	"deckhand/internal/testkit"
)

// The real pi works on the notes in a copy of them. Its shell changes one, makes
// one and deletes one; a person takes two of that and not the third.
func TestRealPiOnTheNotes(t *testing.T) {
	for _, pi := range testkit.RealPi(t) {
		t.Run(pi.Version, func(t *testing.T) {
			p, _ := realPi(t, pi, "none", "")
			p.write(p.at("Launch.md"), launchMay)
			p.write(p.at("May.md"), oldPlan)
			board := strings.Replace(boardOf("- [ ] Move the launch @pi\n\t[tool:sed -i s/May/June/ Launch.md; echo June > June.md; rm May.md]\n"), "project: shop", "project: notes", 1)
			p.write(p.at("Shop.md"), board)
			d := p.watching(bounded(t))
			got := d.proposed()
			d.reviewed()
			p.holds(map[string]string{"Launch.md": launchMay, "June.md": "", "May.md": oldPlan})
			if _, err := d.command(control.Command{Name: "apply", Proposal: got.ID, Files: []string{"Launch.md", "June.md"}, Note: "May stays"}); err != nil {
				t.Fatal(err)
			}
			p.holds(map[string]string{"Launch.md": launchJune, "June.md": "June\n", "May.md": oldPlan})
			for _, want := range []string{" · applied · Launch.md", " · rejected · May.md"} {
				for !strings.Contains(p.journal(), want) {
					if _, err := d.client.Status(d.ctx); err != nil {
						t.Fatalf("the journal lacks %q:\n%s", want, p.journal())
					}
				}
			}
		})
	}
}
