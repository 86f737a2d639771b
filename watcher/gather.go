package watcher

import (
	"context"
	"maps"
	"slices"
	"time"
)

// found is what one look found.
type found struct {
	paths, links              []string
	rescan, first, gone, back bool
}

func (f *found) empty() bool {
	return len(f.paths)+len(f.links) == 0 && !f.rescan && !f.first && !f.gone && !f.back
}

// gather makes batches. A batch is handed out when nothing came for debounce,
// at the latest ceiling after its first path, however noisy the folder is; what
// comes while the receiver is busy joins the batch that waits for it. The first
// scan waits for nothing.
func gather(ctx context.Context, in <-chan found, out chan<- Batch, debounce, ceiling time.Duration) {
	p := newPile()
	timer := time.NewTimer(debounce)
	timer.Stop()
	var latest time.Time // when the batch is due whatever comes
	var ready chan<- Batch
	for {
		var next Batch
		if ready != nil {
			next = p.batch()
		}
		select {
		case <-ctx.Done():
			return
		case f := <-in:
			now := time.Now()
			if p.empty() {
				latest = now.Add(ceiling)
			}
			p.put(f)
			if f.first {
				ready = out
			}
			if ready == nil {
				timer.Reset(min(debounce, latest.Sub(now)))
			}
		case <-timer.C:
			ready = out
		case ready <- next:
			ready = nil
			p = newPile()
		}
	}
}

// pile is a batch in the making.
type pile struct {
	paths, links map[string]bool
	flags        found
	done         *Batch // what it comes to, until more is put on it
}

func newPile() *pile { return &pile{paths: map[string]bool{}, links: map[string]bool{}} }

func (p *pile) empty() bool { return len(p.paths)+len(p.links) == 0 && p.flags.empty() }

func (p *pile) put(f found) {
	for _, rel := range f.paths {
		p.paths[rel] = true
	}
	for _, rel := range f.links {
		p.links[rel] = true
	}
	p.flags.rescan = p.flags.rescan || f.rescan
	p.flags.first = p.flags.first || f.first
	if f.gone || f.back { // whichever came last
		p.flags.gone, p.flags.back = f.gone, f.back
	}
	p.done = nil
}

func (p *pile) batch() Batch {
	if p.done == nil {
		p.done = &Batch{
			Paths: slices.Sorted(maps.Keys(p.paths)), Links: slices.Sorted(maps.Keys(p.links)),
			Rescan: p.flags.rescan, First: p.flags.first, Gone: p.flags.gone, Back: p.flags.back,
		}
	}
	return *p.done
}
