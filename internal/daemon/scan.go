package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"deckhand/board"
	"deckhand/chats"
	"deckhand/internal/store"
)

// file is what one look at a path says.
type file struct {
	path  string
	gone  bool   // there is no such file
	fault string // it cannot be read now, and why
	board *board.Board
	chat  string // the run whose chat it is
	ctime time.Time
	hash  string // of a board's bytes
	busy  bool   // somebody is writing it right now
}

// looker reads files and says what they are. It is used by several goroutines
// at once and holds copies of what it needs of the model.
type looker struct {
	store   *store.Store
	opts    board.Options
	recog   *board.Recogniser
	outputs []string
	named   map[string]bool
	known   map[string]*board.Board // as they were read last
	globs   globs                   // boards:
}

func (m *model) looker(s *store.Store) *looker {
	l := &looker{store: s, opts: m.options(), recog: board.NewRecogniser(m.options()), outputs: m.f.file.Outputs, named: map[string]bool{}, known: map[string]*board.Board{}, globs: m.settings.Boards}
	for path, s := range m.boards {
		l.known[path] = s.board
	}
	for _, p := range m.machine.Projects {
		for _, b := range p.Boards {
			l.named[b] = true
		}
	}
	return l
}

// note reports whether a path is a note: the only files that are read.
func note(rel string) bool { return strings.EqualFold(path.Ext(rel), ".md") }

// look reads one file. Of most, a glance shows that they are no boards; one that
// is torn by a save is looked at again because of that save.
func (l *looker) look(g *store.Glancer, rel string) file {
	f := file{path: rel}
	old := l.known[rel]
	if old == nil {
		if src, err := g.Read(rel); err == nil && !l.isBoard(rel, src) {
			f.chat, _ = chats.Run(src)
			return f
		}
	}
	src, info, err := l.store.Read(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.gone = true
		return f
	case errors.Is(err, store.ErrBusy):
		f.busy, f.fault = true, "it is being written right now"
		return f
	case err != nil:
		f.fault = err.Error()
		return f
	}
	f.ctime = info.CTime
	if !l.isBoard(rel, src) {
		f.chat, _ = chats.Run(src)
		return f
	}
	opts := l.opts
	opts.Named = l.named[rel]
	sum := sha256.Sum256(src)
	f.hash = hex.EncodeToString(sum[:])
	if old != nil {
		f.board = old.Reread(src, opts)
	} else {
		f.board = board.Parse(rel, src, opts)
	}
	return f
}

// isBoard reports whether a file is a board and not one of ours.
func (l *looker) isBoard(rel string, src []byte) bool {
	if below(rel, l.outputs) {
		return false
	}
	named := l.named[rel]
	return (named || l.globs.match(rel)) && l.recog.Board(rel, src, named)
}

func below(rel string, dirs []string) bool {
	for _, d := range dirs {
		if rel == d || strings.HasPrefix(rel, d+"/") {
			return true
		}
	}
	return false
}

// all looks at many files with as many workers as there are processors; the
// result has the order of paths. progress is told now and then.
func (l *looker) all(paths []string, progress func(done int)) []file {
	out := make([]file, len(paths))
	workers := min(runtime.GOMAXPROCS(0), len(paths))
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := 0
	const step = 64
	take := func() (int, int) {
		mu.Lock()
		defer mu.Unlock()
		from := next
		next = min(next+step, len(paths))
		if progress != nil && next/step%32 == 0 {
			progress(next)
		}
		return from, next
	}
	for range workers {
		wg.Go(func() {
			g := l.store.Glancer()
			defer g.Close()
			for from, to := take(); from < to; from, to = take() {
				for i := from; i < to; i++ {
					out[i] = l.look(g, paths[i])
				}
			}
		})
	}
	wg.Wait()
	return out
}

// take puts what was seen of a file into the model. It reports whether that
// can change a decision.
func (m *model) take(f file) bool {
	old := m.boards[f.path]
	switch {
	case f.gone:
		delete(m.chats, m.chatAt(f.path))
		m.files.drop(f.path)
		if old == nil {
			return false
		}
		if m.carries(f.path) {
			old.gone = "the file is gone"
			return true
		}
		delete(m.boards, f.path)
		return true
	case f.fault != "":
		if old != nil {
			old.gone = f.fault
		}
		return old != nil
	}
	m.files.put(f.path)
	if f.chat != "" {
		m.chats[strings.ToUpper(f.chat)] = f.path
	}
	if f.board == nil {
		delete(m.boards, f.path)
		return old != nil
	}
	if old != nil && old.gone == "" && old.hash == f.hash {
		return false
	}
	m.boards[f.path] = &seen{board: f.board, ctime: f.ctime, hash: f.hash}
	return true
}

func (m *model) chatAt(path string) string {
	for run, at := range m.chats {
		if at == path {
			return run
		}
	}
	return ""
}

// carries reports whether an open run has its card on this board: then the board
// is remembered when its file is away.
func (m *model) carries(path string) bool {
	for _, r := range m.runs {
		if r.Live() && r.Board == path {
			return true
		}
	}
	return false
}

// late is told of a save that came after a swap had been compared.
func (d *daemon) late(r store.Recovered) { d.post(func() { d.recovered(r) }) }

// recovered says what became of a copy that a swap, or a kill in one, left.
func (d *daemon) recovered(r store.Recovered) {
	if r.Kept != "" {
		d.say("%s: %s: two saves met; the earlier one is kept in %s", r.Path, r.What, r.Kept)
		return
	}
	if r.What != store.Swept {
		d.say("%s: %s", r.Path, r.What)
	}
}

// linked notes the links of a batch that lead out of the folder: what is
// behind them is not read, and that is said.
func (d *daemon) linked(links []string) {
	for _, rel := range links {
		real, err := filepath.EvalSymlinks(filepath.Join(d.f.dir, filepath.FromSlash(rel)))
		if err == nil && real != d.f.dir && !strings.HasPrefix(real, d.f.dir+string(filepath.Separator)) {
			d.links[rel] = true
			d.dirty = true
		} else {
			delete(d.links, rel)
		}
	}
}
