package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deckhand/board"
	"deckhand/chats"
	"deckhand/dispatch"
	"deckhand/internal/store"
)

// file is what one look at a path says.
type file struct {
	path   string
	gone   bool   // there is no such file
	fault  string // it cannot be read now, and why
	board  *board.Board
	chat   string          // the run whose chat it is
	made   []dispatch.Made // what a person ticked and wrote in it
	ctime  time.Time
	busy   bool // somebody is writing it right now
	ignore bool // ignore: leaves it out
}

// looker reads files and says what they are. It is used by several goroutines
// at once and holds copies of what it needs of the model.
type looker struct {
	store   *store.Store
	opts    board.Options
	quick   *board.Recogniser
	outputs []string
	named   map[string]bool
	globs   globs // boards:
	ignore  globs
	asking  asking
	known   map[string]*board.Board // as they were read last: most of one does not change
}

func (m *model) looker(s *store.Store) *looker {
	l := &looker{
		store: s, opts: m.options(), quick: board.NewRecogniser(m.options()), outputs: m.f.file.Outputs, named: map[string]bool{}, globs: m.settings.Boards,
		ignore: *m.ignore.Load(), asking: m.asking(), known: make(map[string]*board.Board, len(m.boards)),
	}
	for _, p := range m.machine.Projects {
		for _, b := range p.Boards {
			l.named[b] = true
		}
	}
	for path, s := range m.boards {
		l.known[path] = s.board
	}
	return l
}

// note reports whether a path is a note: the only files that are read.
func note(rel string) bool { return strings.EqualFold(path.Ext(rel), ".md") }

// look reads one file. Of most, a glance shows that they are no boards; one that
// is torn by a save is looked at again because of that save.
func (l *looker) look(g *store.Glancer, rel string) file {
	f := file{path: rel, ignore: l.ignore.match(rel)}
	if f.ignore {
		return f
	}
	if below(rel, l.outputs) { // never a board: of most, more than the header is of no interest, and a chat is long
		if src, err := g.Head(rel); err == nil {
			if f.chat, _ = chats.Run(src); !l.answered(f) {
				return f
			}
		}
	} else if l.known[rel] == nil {
		if src, err := g.Read(rel); err == nil && !l.isBoard(rel, src) {
			if f.chat, _ = chats.Run(src); !l.answered(f) {
				return f
			}
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
		l.read(&f, src)
		return f
	}
	if tooMany(src) {
		f.fault = fmt.Sprintf("it holds more than %d cards", cardsMost)
		return f
	}
	opts := l.opts
	opts.Named = l.named[rel]
	f.board = reread(rel, src, l.known[rel], opts)
	return f
}

// cardsMost is how many cards a board may hold. One takes 1.5 KB of memory, and
// 64 MB of a file have room for ten million.
const cardsMost = 100_000

// tooMany reports whether a board holds more cards than that. Nothing is made of
// its lines to know it.
func tooMany(src []byte) bool {
	const shortest = len("- [ ]\n")
	if len(src) < cardsMost*shortest {
		return false
	}
	n := 0
	for line := range bytes.Lines(src) {
		mark, rest, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte(" "))
		if len(bytes.Trim(mark, "-*+0123456789.)")) == 0 && len(mark) > 0 && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte("[")) {
			n++
		}
	}
	return n > cardsMost
}

// answered reports whether a file is one in which a person can answer now.
func (l *looker) answered(f file) bool {
	_, page := l.asking.pages[f.path]
	return page || f.path == l.asking.page || l.asking.chats[strings.ToUpper(f.chat)]
}

// read reads what a person answered in it.
func (l *looker) read(f *file, src []byte) {
	var err error
	switch {
	case !l.answered(*f):
	case f.path == l.asking.page:
		if f.made, err = l.asking.onPage(src); err != nil {
			f.fault = err.Error()
		}
	default:
		if page, ok := l.asking.pages[f.path]; ok {
			f.made = onProposal(f.path, src, page)
			return
		}
		f.made = l.asking.inChat(f.path, src)
	}
}

// isBoard reports whether a file is a board and not one of ours.
func (l *looker) isBoard(rel string, src []byte) bool {
	named := l.named[rel]
	return !below(rel, l.outputs) && (named || l.globs.match(rel)) && l.quick.Board(rel, src, named)
}

func below(rel string, dirs []string) bool {
	for _, d := range dirs {
		if rel == d || strings.HasPrefix(rel, d+"/") {
			return true
		}
	}
	return false
}

// all looks at many files; the result has the order of paths.
func (l *looker) all(paths []string) []file {
	out := make([]file, len(paths))
	spread(len(paths), func(mine iter.Seq[int]) {
		g := l.store.Glancer()
		defer g.Close()
		for i := range mine {
			out[i] = l.look(g, paths[i])
		}
	})
	return out
}

// spread gives the numbers below n to as many workers as there are processors,
// each the next one when it is done with its last.
func spread(n int, work func(mine iter.Seq[int])) {
	var taken atomic.Int64
	next := func() int { return int(taken.Add(1)) - 1 }
	mine := func(yield func(int) bool) {
		for i := next(); i < n && yield(i); i = next() {
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() { work(mine) })
	}
	wg.Wait()
}

// progress is how many notes are read before a person is told how far it is.
const progress = 5000

// scanning counts notes that the first scan has read.
func (d *daemon) scanning(n int) {
	before := d.scanned
	if d.scanned += n; d.scanned/progress > before/progress {
		d.say("reading: %d notes", d.scanned)
	}
}

// take puts what was seen of a file into the model. It reports whether that
// can change a decision, or what people are told.
func (m *model) take(f file) bool {
	old, unread := m.boards[f.path], m.unread[f.path]
	if f.fault != "" {
		if old != nil {
			old.gone = f.fault
		} else if !f.busy {
			m.unread[f.path] = f.fault
		}
		return old != nil || m.unread[f.path] != unread
	}
	delete(m.unread, f.path)
	if f.gone || f.ignore {
		m.chats.put(f.path, "")
		m.files.drop(f.path)
		return m.takeMade(f.path, nil, f.ctime) || m.takeGone(f, old) || unread != ""
	}
	m.files.put(f.path)
	m.chats.put(f.path, f.chat)
	if f.board == nil {
		m.dropBoard(f.path)
		return m.takeMade(f.path, f.made, f.ctime) || old != nil || unread != ""
	}
	return m.takeBoard(f, old)
}

func (m *model) takeGone(f file, old *seen) bool {
	if old == nil {
		return false
	}
	if m.carries(f.path) {
		old.gone = fileGone
	} else {
		m.dropBoard(f.path)
	}
	return true
}

func (m *model) takeBoard(f file, old *seen) bool {
	next := &seen{board: f.board, ctime: f.ctime}
	if old != nil {
		if old.ctime.Equal(f.ctime) {
			next.refused, next.gone = old.refused, old.refused.String()
		}
		if old.board == f.board && old.gone == next.gone {
			m.step++
			old.read, old.ctime = m.step, f.ctime
			return false
		}
	}
	m.setBoard(f.path, next)
	return true
}
