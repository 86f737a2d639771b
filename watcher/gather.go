package watcher

import (
	"context"
	"slices"
	"time"
)

// found is what one look found.
type found struct {
	paths, links                     []string
	part                             bool // of the first scan, of which more comes
	rescan, first, gone, back, other bool
}

func (f *found) empty() bool {
	return len(f.paths)+len(f.links) == 0 && !f.rescan && !f.first && !f.gone && !f.back && !f.other
}

// gather makes batches. A batch is handed out when nothing came for debounce,
// at the latest ceiling after its first path, however noisy the folder is; what
// comes while the receiver is busy joins the batch that waits for it. The first
// scan waits for nothing, and each part of it is a batch of its own: the walk is
// held back until the one before is taken.
func gather(ctx context.Context, in <-chan found, out chan<- Batch, debounce, ceiling time.Duration) {
	p := new(pile)
	timer := time.NewTimer(debounce)
	timer.Stop()
	var latest time.Time // when the batch is due whatever comes
	var ready chan<- Batch
	for {
		var next Batch
		from := in
		if ready != nil {
			next = p.batch()
			if p.part || p.first {
				from = nil
			}
		}
		select {
		case <-ctx.Done():
			return
		case f := <-from:
			now := time.Now()
			if p.empty() {
				latest = now.Add(ceiling)
			}
			p.put(f)
			if f.first || f.part {
				ready = out
			}
			if ready == nil {
				timer.Reset(min(debounce, latest.Sub(now)))
			}
		case <-timer.C:
			ready = out
		case ready <- next:
			ready = nil
			p = new(pile)
		}
	}
}

// pile is a batch in the making.
type pile struct {
	found
	done *Batch // what it comes to, until more is put on it
}

func (p *pile) put(f found) {
	p.paths, p.links = append(p.paths, f.paths...), append(p.links, f.links...)
	p.part, p.rescan, p.first = p.part || f.part, p.rescan || f.rescan, p.first || f.first
	if f.gone || f.back { // whichever came last
		p.gone, p.back, p.other = f.gone, f.back, false
	}
	p.other = p.other || f.other
	p.done = nil
}

func (p *pile) batch() Batch {
	if p.done == nil {
		p.paths, p.links = sorted(p.paths), sorted(p.links)
		p.done = &Batch{Paths: p.paths, Links: p.links, Rescan: p.rescan, First: p.first, Gone: p.gone, Back: p.back, Other: p.other}
	}
	return *p.done
}

// sorted sorts in place, each once.
func sorted(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}
