package daemon

import (
	"maps"
	"slices"
	"strings"
	"time"

	"deckhand/board"
)

// seen is one board file.
type seen struct {
	board *board.Board
	gone  string // why it is not there or not to be read or written; its cards are left alone
	ctime time.Time
	read  int64 // when it came into the model, in steps of model.step

	refused trouble // why a first claim could not be written on it: nothing starts on it before it changes or can be written
	lanes   trouble // why lanes could not be added
}

// fileGone is the reason of a board that is away while a run has its card on it.
const fileGone = "the file is gone"

// setBoard takes a board into the model.
func (m *model) setBoard(path string, s *seen) {
	m.step++
	s.read = m.step
	m.boards[path], m.items = s, nil
}

func (m *model) dropBoard(path string) {
	if m.boards[path] != nil {
		delete(m.boards, path)
		m.items = nil
	}
}

// paths are the boards, sorted.
func (m *model) paths() []string { return slices.Sorted(maps.Keys(m.boards)) }

// find is the place of a run's card on the boards, by its item; in the archive
// it is nowhere.
func (m *model) find(r *run) (spot, bool) {
	if m.items == nil {
		m.items = map[string]spot{}
		for path, s := range m.boards {
			for l, c := range s.board.All() {
				if c.Status != nil {
					m.items[strings.ToUpper(c.Status.Run)] = spot{path, l, c}
				}
			}
		}
	}
	s, ok := m.items[r.ID]
	return s, ok
}

func (m *model) onBoard(r *run) bool {
	_, ok := m.find(r)
	return ok
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

// forgetGone drops boards that were remembered for a run that is over.
func (m *model) forgetGone() {
	for path, s := range m.boards {
		if s.gone == fileGone && !m.carries(path) {
			m.dropBoard(path)
		}
	}
}

// options are how the boards of the folder are read.
func (m *model) options() board.Options {
	o := board.Options{Agents: slices.Sorted(maps.Keys(m.machine.Agents)), Lanes: map[board.Role][]string{}}
	for name, lanes := range m.settings.Lanes {
		if role := roleOf(name); role != board.NoRole {
			o.Lanes[role] = lanes
		}
	}
	return o
}

// optionsOf are those of one board.
func (m *model) optionsOf(path string) board.Options {
	o := m.options()
	o.Named = m.named(path)
	return o
}

// named reports whether a project's boards: names this file.
func (m *model) named(path string) bool {
	for _, p := range m.machine.Projects {
		if slices.Contains(p.Boards, path) {
			return true
		}
	}
	return false
}

func roleOf(name string) board.Role {
	for _, r := range [...]board.Role{board.Ready, board.Working, board.Review, board.Done} {
		if r.String() == name {
			return r
		}
	}
	return board.NoRole
}

// reread gives the board that some bytes are. Where they are, or nearly are,
// what was read last, little has to be read again.
func reread(path string, src []byte, known *board.Board, o board.Options) *board.Board {
	if known == nil {
		return board.Parse(path, src, o)
	}
	return known.Reread(src, o)
}

// boardAt is a board as it is known; nil when it is not.
func (m *model) boardAt(path string) *board.Board {
	if s := m.boards[path]; s != nil {
		return s.board
	}
	return nil
}
