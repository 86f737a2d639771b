package daemon

import (
	"slices"
	"strings"
	"sync"

	"deckhand/notes"
)

// names are the names of all files, shared with effects that resolve links.
type names struct {
	mu sync.Mutex
	ix *notes.Index // guarded by mu
}

func (n *names) put(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ix.Put(path)
}

func (n *names) drop(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ix.Drop(path)
}

// taken reports whether a file of that name is anywhere in the folder.
func (n *names) taken(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ix.Resolve("", name).Path != ""
}

func newNames() *names { return &names{ix: notes.NewIndex()} }

// copy is notes.Copy with the index's lock, which is let go while a note is
// read: the loop must not wait for a disk.
func (n *names) copy(text []byte, from string, read func(string) ([]byte, error), lim notes.Limits) []notes.Piece {
	n.mu.Lock()
	defer n.mu.Unlock()
	return notes.Copy(text, from, n.ix, func(rel string) ([]byte, error) {
		n.mu.Unlock()
		defer n.mu.Lock()
		return read(rel)
	}, lim)
}

// chatPlaces say where the chats of runs lie: a person may have moved one, and
// a sync program may have copied it.
type chatPlaces struct {
	runs  map[string]string   // by path
	paths map[string][]string // by run, sorted
}

func newChatPlaces() chatPlaces {
	return chatPlaces{runs: map[string]string{}, paths: map[string][]string{}}
}

// put says that the file at path is the chat of a run; of none if that is empty.
func (c chatPlaces) put(path, run string) {
	run = strings.ToUpper(run)
	old := c.runs[path]
	if old == run {
		return
	}
	if old != "" {
		c.paths[old] = slices.DeleteFunc(c.paths[old], func(p string) bool { return p == path })
		if len(c.paths[old]) == 0 {
			delete(c.paths, old)
		}
		delete(c.runs, path)
	}
	if run != "" {
		c.runs[path] = run
		c.paths[run] = append(c.paths[run], path)
		slices.Sort(c.paths[run])
	}
}

// of is where the chat of a run is: where it was made, else where it lies now.
func (c chatPlaces) of(r *run) (path string, found bool) {
	if c.runs[r.Chat] == r.ID {
		return r.Chat, true
	}
	if all := c.paths[r.ID]; len(all) > 0 {
		return all[0], true
	}
	return r.Chat, false
}

// chatPath is where the chat of a run is, or was.
func (m *model) chatPath(r *run) string {
	path, _ := m.chats.of(r)
	return path
}
