package daemon

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"deckhand/chats"
	"deckhand/dispatch"
	"deckhand/inbox"
)

// What people ticked and wrote in Needs me and in chats is read like boards are:
// when the watcher names the file. Only the chats of runs that can be told
// something are read whole.

// asking is what is asked in those files at the moment, for whoever reads them.
type asking struct {
	page  string                    // path of Needs me
	mine  string                    // the file with the lines of it that are ours
	needs map[string]inbox.Need     // of the page, by offer
	asks  map[string]string         // what is asked in chats, by offer
	chats map[string]bool           // runs whose chats are read
	pages map[string]inbox.Proposal // pages of proposals, by path
}

func (m *model) asking() asking {
	a := asking{
		page: m.needsPath(), mine: m.f.path("needs-me.txt"), needs: m.pageNeeds, asks: map[string]string{}, chats: map[string]bool{},
		pages: m.openPages(),
	}
	for _, r := range m.runs {
		if len(r.Offers()) > 0 {
			a.chats[r.ID] = true
		}
		for _, ask := range r.Asks {
			a.asks[ask.Offer] = asText(ask)
		}
	}
	return a
}

// onPage reads what a person made of Needs me.
func (a asking) onPage(src []byte) ([]dispatch.Made, error) {
	wrote, err := os.ReadFile(a.mine)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []dispatch.Made
	for _, s := range inbox.ReadNeedsMe(src, wrote) {
		by := map[string]*dispatch.Made{}
		for _, box := range s.Boxes {
			offer, choice := dispatch.CutOffer(box.ID)
			made := by[offer]
			if made == nil {
				need, known := a.needs[offer]
				made = &dispatch.Made{
					Offer: offer, By: dispatch.ByNote, Path: a.page, Text: s.Said, Took: s.Taken, Changed: known && !need.Stands(s),
				}
				by[offer] = made
			}
			if box.Ticked && choice >= 0 {
				made.Ticked = append(made.Ticked, choice)
			}
		}
		for _, made := range by {
			out = append(out, *made)
		}
	}
	return out, nil
}

// inChat reads what a person made of a chat.
func (a asking) inChat(path string, src []byte) []dispatch.Made {
	c := chats.Read(src)
	var out []dispatch.Made
	for _, item := range c.Items {
		if item.Kind != chats.Ask {
			continue
		}
		made := dispatch.Made{By: dispatch.ByChat, Path: path, Text: item.Said}
		for _, box := range item.Boxes {
			offer, choice := dispatch.CutOffer(box.ID)
			if made.Offer = offer; box.Ticked && choice >= 0 {
				made.Ticked = append(made.Ticked, choice)
			}
		}
		if asked, known := a.asks[made.Offer]; known {
			made.Changed = strings.TrimSpace(item.Text) != strings.TrimSpace(asked)
			out = append(out, made)
		}
	}
	if d := c.Draft; d != nil {
		offer, _ := dispatch.CutOffer(d.ID)
		made := dispatch.Made{Offer: offer, By: dispatch.ByChat, Path: path, Text: d.Text}
		if d.Ticked {
			made.Ticked = []int{0}
		}
		out = append(out, made)
	}
	return out
}

// takeMade takes over what was seen of a file, and reports whether it is new.
// What stands there as it stood before has stood there since then.
func (m *model) takeMade(path string, made []dispatch.Made, changed time.Time) bool {
	now, since := time.Now(), map[string]time.Time{}
	for _, old := range m.made[path] {
		since[old.Print()] = old.Since
	}
	news := len(m.made[path]) != len(made)
	for i := range made {
		made[i].Since = dispatch.Recent(changed, now)
		if t, ok := since[made[i].Print()]; ok {
			made[i].Since = t
		} else {
			news = true
		}
	}
	if delete(m.made, path); len(made) > 0 {
		m.made[path] = made
	}
	return news
}

// madeNow is what is ticked of it, in the order of paths: most of what waits for
// a person is as it was written.
func (m *model) madeNow() (out []dispatch.Made) {
	for _, path := range slices.Sorted(maps.Keys(m.made)) {
		for _, made := range m.made[path] {
			if len(made.Ticked) > 0 {
				out = append(out, made)
			}
		}
	}
	return out
}

// drafted is since when a text stands unsent at the end of a run's chat; zero:
// there is none.
func (m *model) drafted(r *run) time.Time {
	for _, made := range m.made[m.chatPath(r)] {
		if made.Offer == r.Send && made.Text != "" && len(made.Ticked) == 0 {
			return made.Since
		}
	}
	return time.Time{}
}
