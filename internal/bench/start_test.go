package bench

import (
	"fmt"
	"os/exec"
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
	var made, moved, bare times
	for i := range warm + *samples {
		card := fmt.Sprintf("- [ ] Card %d of the run @pi\n", i)
		took := &made
		if i%2 == 1 {
			took = &moved
			p.edit("## Backlog\n\n", "## Backlog\n\n"+card)
			p.pause()
			p.edit(card, "")
		}
		bare.take(p.bareStart)
		p.pause()
		saved := p.edit("## Plan\n\n", "## Plan\n\n"+card)
		if began := p.agentBegan(); i >= warm {
			*took = append(*took, began.Sub(saved)-settle)
		}
		d.until(fmt.Sprintf("on \"Card %d of", i))
		p.inReview(i + 1)
	}
	for _, c := range []struct {
		name string
		took times
	}{{"new", made}, {"moved", moved}} {
		name, took := c.name, c.took
		detail := fmt.Sprintf("%d cards", len(took))
		results.add(b, "save to agent, "+name+" card, median", "ms", ms(took.median()), 15, detail)
		results.add(b, "save to agent, "+name+" card, p99", "ms", ms(took.quantile(0.99)), 50, detail)
	}
	results.add(b, "the least for that: four durable writes, two process starts", "ms", ms(bare.median()), 0,
		fmt.Sprintf("p99 %.0f ms", ms(bare.quantile(0.99))))
}

// bareStart is what nobody who starts an agent safely can do without: its claim,
// its card, its prompt and its start are on the disk, and it has a keeper.
func (p *place) bareStart() {
	board := []byte(p.read("Shop.md"))
	for range 4 {
		must(p.b, bareWrite(p.root, "bare", board))
	}
	_ = p.command("keep").Run()                 // says how it is called, and ends
	_ = exec.Command(p.agent, "", "", "").Run() // cannot tell anybody
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
