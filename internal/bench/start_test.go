package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const shop = "---\nkanban-plugin: board\nproject: web\n---\n\n## Backlog\n\n\n## Plan\n\n\n## In Progress\n\n\n## Review\n\n"

// BenchmarkStart is the way from a save to the first instruction of the agent,
// with everything that is synced on it: claim, card, prompt, keeper. A new card
// waits for typing, one that is moved for settle; both are subtracted.
func BenchmarkStart(b *testing.B) {
	p := newPlace(b)
	p.grant()
	p.write(p.at("Shop.md"), shop)
	d := p.watch()
	defer d.end()
	const warm = 4
	var made, moved times
	for i := range warm + *samples {
		card := fmt.Sprintf("- [ ] Card %d of the run @pi\n", i)
		took := &made
		if i%2 == 1 {
			took = &moved
			p.edit("## Backlog\n\n", "## Backlog\n\n"+card)
			p.pause()
			p.edit(card, "")
		}
		p.pause()
		saved := p.edit("## Plan\n\n", "## Plan\n\n"+card)
		if began := p.agentBegan(); i >= warm {
			*took = append(*took, began.Sub(saved)-settle)
		}
		d.until(fmt.Sprintf("on \"Card %d of", i))
		p.inReview(i + 1)
	}
	for name, took := range map[string]times{"new": made, "moved": moved} {
		detail := fmt.Sprintf("%d cards", len(took))
		results.add(b, "save to agent, "+name+" card, median", "ms", ms(took.median()), 15, detail)
		results.add(b, "save to agent, "+name+" card, p99", "ms", ms(took.quantile(0.99)), 50, detail)
	}
}

// edit saves the board with one thing in place of another.
func (p *place) edit(old, text string) time.Time {
	p.b.Helper()
	return p.save("Shop.md", strings.Replace(p.read("Shop.md"), old, text, 1))
}

// pause lets what was begun before come to rest, as it does between two saves
// of a person.
func (p *place) pause() { <-time.After(2 * settle) }

// inReview waits until so many cards stand in review: the agent may have ended
// before its card was written.
func (p *place) inReview(cards int) {
	p.b.Helper()
	for range time.Tick(time.Millisecond) {
		if strings.Count(p.read("Shop.md"), "pi: review") == cards {
			return
		}
	}
}
