package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"

	"deckhand/internal/robust"
)

// burstFiles are in each folder of a burst.
const burstFiles = 20

// unpack makes folders at three depths with files in them, as fast as they go,
// and in some a board; it returns their cards.
func unpack(t *testing.T, p *robust.Place, under, label string, folders, boards int) (cards []string) {
	t.Helper()
	for i := range folders {
		dir := fmt.Sprintf("%s/%d/%d/%d", under, i/100, i/10%10, i%10)
		mkdir(t, p.Path(dir))
		for n := range burstFiles - 1 {
			p.Write(p.Path(fmt.Sprintf("%s/note %d.md", dir, n)), "# A note\n\nwith [[links]]\n")
		}
		text := "# No board\n"
		if i%(folders/boards) == 0 {
			title := fmt.Sprintf("%s %d", label, i)
			cards = append(cards, title)
			text = board(i, title)
		}
		p.Write(p.Path(dir+"/Last.md"), text)
	}
	return cards
}

// naive is the control: it watches each folder as soon as it is told of it, and
// counts the files it is told of.
type naive struct {
	watcher *fsnotify.Watcher
	told    map[string]bool
	done    chan struct{}
}

func watchNaively(t *testing.T, root string) *naive {
	t.Helper()
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := &naive{watcher: w, told: map[string]bool{}, done: make(chan struct{})}
	go n.run()
	return n
}

func (n *naive) run() {
	defer close(n.done)
	for e := range n.watcher.Events {
		if !e.Has(fsnotify.Create) {
			continue
		}
		if st, err := os.Lstat(e.Name); err == nil && st.IsDir() {
			_ = n.watcher.Add(e.Name) // gone again: nothing to be told of
		} else {
			n.told[e.Name] = true
		}
	}
}

// missed ends the watch and counts the files below root that it was not told of.
func (n *naive) missed(t *testing.T, root string) (missed int) {
	t.Helper()
	n.watcher.Close()
	<-n.done
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") && !n.told[path] {
			missed++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return missed
}

// TestFoldersInABurst: folders with files in them (1,000 and 20,000 in the full
// form) are made in the work folder as fast as they go, and as many are moved in
// as one. Every card on a
// board among them starts, once.
func TestFoldersInABurst(t *testing.T) {
	t.Parallel()
	ctx := bounded(t)
	p := newPlace(t)
	d := p.Start(ctx)
	boards := max(4, suite.Rounds(50))
	folders := min(1000, suite.Rounds(10_000))

	control := watchNaively(t, p.Work)
	cards := unpack(t, p, "notes/made", "Made", folders, boards)
	inReview(d, len(cards))
	missed := control.missed(t, p.At("made"))
	if missed == 0 {
		t.Error("a watcher that lists nothing missed nothing: this run shows nothing")
	}

	cards = append(cards, unpack(t, p, "elsewhere", "Moved in", folders, boards)...)
	if err := os.Rename(p.Path("elsewhere"), p.At("moved")); err != nil {
		t.Fatal(err)
	}
	inReview(d, len(cards))
	mustStartOnce(t, p, cards)
	suite.Figure(t, "folders in a burst", "twice %d folders with %d files, %d cards, each started once", folders, folders*burstFiles, len(cards))
	suite.Figure(t, "control: watching each new folder, listing none", "%d of %d files missed", missed, folders*burstFiles)
}
