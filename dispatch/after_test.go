package dispatch

import (
	"testing"
	"time"
)

func TestAfter(t *testing.T) {
	const other = "## Plan\n\n- [ ] Far away\n- [ ] Twin\n- [ ] Same name\n\n## In Progress\n\n## Review\n\n- [ ] Built ^b1\n\n## Done\n\n- [x] Twin\n"
	for _, c := range []struct {
		name, after, rest string
		want              []string
	}{
		{"title", "after: Other", "Review: Other", []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"title, case and blanks", "after:  other  CARD", "Review: Other card", []string{`~after "Other card" (Shop.md:18), which is not done`}},
		{"link", "after: [[Other]]", "Review: Other", []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"link with text", "after: [[Other|that one]]", "Review: Other", []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"first line with mention", "after: Other @claude", "Review: Other @claude", []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"ticked", "after: Other", "Review: [x] Other", nil},
		{"done lane", "after: Other", "Done: Other", nil},
		{"block", "after: [[#^o1]]", "Review: Other ^o1", []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"bare block", "after: ^o1", "Review: Other ^o1", []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"block, done", "after: [[Shop#^o1]]", "Done: Other ^o1", nil},
		{"case 15: a block id twice", "after: ^o1", "Review: Other ^o1 | Third ^o1", []string{`after: more than one card reads "^o1": Shop.md:18, Shop.md:19 (make the titles differ)`}},
		{"a block id twice, one is done", "after: ^o1", "Review: Other ^o1\nDone: Third ^o1", []string{`~after "Other" (Shop.md:18), which is not done`}},
		{"another board's card", "after: [[Far away]]", "", []string{`~after "Far away" (Sub/Else.md:3), which is not done`}},
		{"another board's block", "after: [[Else#^b1]]", "", []string{`~after "Built" (Sub/Else.md:11), which is not done`}},
		{"another board's title", "after: [[Sub/Else#far away]]", "", []string{`~after "Far away" (Sub/Else.md:3), which is not done`}},
		{"no such board", "after: [[None#^b1]]", "", []string{`after: no card reads "None#^b1" (correct its after: line)`}},
		{"no such card", "after: Nothing", "", []string{`after: no card reads "Nothing" (correct its after: line)`}},
		{"own board first", "after: Same name", "Done: Same name", nil},
		{"two, one done", "after: Twin", "", []string{`~after "Twin" (Sub/Else.md:4), which is not done`}},
		{"two open", "after: Other", "Next: Other\nReview: Other", []string{`after: more than one card reads "Other": Shop.md:12, Shop.md:19 (make the titles differ)`}},
		{"title with #", "after: Fix #12", "Review: Fix #12", []string{`~after "Fix" (Shop.md:18), which is not done`}},
		{"itself", "after: Card", "", []string{`after: "Card" is the card itself (correct its after: line)`}},
		{"several", "after: [[A]] and [[B]]", "Done: A\nReview: B", []string{`~after "B" (Shop.md:18), which is not done`}},
		{"each other", "after: Other", "Review: Other\\nafter: Card", []string{`cards wait for each other: "Card" (Shop.md:7) waits for "Other" (Shop.md:18) waits for "Card" (Shop.md:7) (delete one of their after: lines)`}},
		{"in a round", "after: A", "Review: A\\nafter: B | B\\nafter: [[Card]]", []string{
			`cards wait for each other: "Card" (Shop.md:7) waits for "A" (Shop.md:18) waits for "B" (Shop.md:20) waits for "Card" (Shop.md:7) (delete one of their after: lines)`,
		}},
		{"for a round of others", "after: A", "Review: A\\nafter: B | B\\nafter: A", []string{`~after "A" (Shop.md:18), which is not done`}},
		{"each other, but done", "after: Other", "Review: [x] Other\\nafter: Card", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.old("Shop.md", lanes("Plan: Card @pi\\n"+c.after+"\n"+c.rest))
			d.old("Sub/Else.md", other)
			d.old("Sub/Else.sync-conflict-20260102-101500-ABC1234.md", other)
			d.look()
			equal(t, "fails", failing(t, d, "Card"), c.want)
		})
	}
}

func TestAfterArchivedCard(t *testing.T) {
	d := oneBoard(t, "---\nkanban-plugin: board\nproject: shop\n---\n\n## Plan\n\n- [ ] Card @pi\n\tafter: [[Old]]\n\n## In Progress\n\n## Review\n\n***\n\n## Archive\n\n- [ ] Old\n")
	equal(t, "fails", failing(t, d, "Card"), nil)
}

// What a card waits for is done: it starts by itself.
func TestAfterIsDone(t *testing.T) {
	d := oneBoard(t, lanes("Plan: Card @pi\\nafter: Other\nReview: Other"))
	equal(t, "waits", d.later(time.Minute), nil)
	same(t, "no alarm clock", d.last.Wake.IsZero(), true)
	d.edit("Shop.md", "- [ ] Other", "- [x] Other")
	equal(t, "starts", d.settle(), []Do{DoClaim, DoShow, DoStart})
}
