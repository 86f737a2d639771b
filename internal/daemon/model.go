package daemon

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/inbox"
	"deckhand/internal/config"
	"deckhand/internal/shell"
)

// model is what is known of a work folder: the files' side (boards, names of
// notes), the runs' side (logs), and the configuration. The daemon's loop owns
// one and keeps it up to date; without a daemon it is read from the disk once.
// All answers (view.go) are computed from it.
type model struct {
	o       Options
	f       *folder
	drivers map[string]harness.Driver

	settings   config.Settings
	machine    config.Machine
	problems   []config.Problem
	badOutput  string // why nothing may be written to output:, if so
	badMachine bool   // config.yaml has errors: the last good one, or none, is in force
	ignore     atomic.Pointer[globs]
	ground     ground
	mine       machineState
	agents     map[string]harness.Probe

	files  *names
	boards map[string]*seen // by path
	step   int64            // rises with each board that comes in
	items  map[string]spot  // the cards of runs, by run; nil: to be made anew
	chats  chatPlaces
	unread map[string]string // notes that cannot be read, and why
	links  map[string]bool   // symbolic links that leave the folder
	wiki   bool

	runs      map[string]*run
	offers    offers
	made      map[string][]dispatch.Made // what people ticked and wrote, by file
	pageNeeds map[string]inbox.Need      // what stands in Needs me, by offer
	approvals approvals
	broken    []string // run folders that cannot be read, and why
	mem       dispatch.Memory
	forced    map[dispatch.CardID]bool
	busy      map[string]bool // runs whose agent is being started, caught up with or ended
	writing   map[string]bool // runs whose card is being written, or could not be and waits for the next try
	decision  dispatch.Decision
	daemon    *running // the daemon that runs, nil when none does
}

func newModel(o Options, f *folder) *model {
	m := &model{
		o: o, f: f, settings: config.DefaultSettings(), machine: config.DefaultMachine(), drivers: drivers(),
		files: newNames(), boards: map[string]*seen{}, chats: newChatPlaces(), links: map[string]bool{}, unread: map[string]string{}, runs: map[string]*run{}, made: map[string][]dispatch.Made{},
		agents: map[string]harness.Probe{}, forced: map[dispatch.CardID]bool{}, busy: map[string]bool{}, writing: map[string]bool{},
	}
	m.ignore.Store(new(globs))
	return m
}

// world is the model as dispatch wants it.
func (m *model) world(now time.Time) dispatch.World {
	busy := maps.Clone(m.busy)
	maps.Copy(busy, m.writing)
	w := dispatch.World{Now: now, Memory: m.mem, Busy: busy, Set: m.set(), Made: m.madeNow()}
	for _, path := range slices.Sorted(maps.Keys(m.boards)) {
		s := m.boards[path]
		w.Boards = append(w.Boards, dispatch.Seen{Board: s.board, Gone: s.gone, Changed: s.ctime})
	}
	for _, r := range m.sorted() {
		w.Runs = append(w.Runs, r.Run)
	}
	return w
}

// sorted are the runs, oldest first.
func (m *model) sorted() []*run {
	return slices.SortedFunc(maps.Values(m.runs), func(a, b *run) int { return cmp.Compare(a.ID, b.ID) })
}

func (m *model) set() dispatch.Settings {
	s := dispatch.Settings{
		Settle: m.settings.Settle, Typing: m.settings.Typing, Once: m.o.Once, Held: m.held(),
		Agents: map[string]dispatch.Agent{}, Projects: map[string]dispatch.Project{},
		AddLanes: m.settings.AddLanes, MaxRunning: m.machine.MaxRunning, Longest: m.machine.Run, Day: m.machine.Day,
		Wiki: m.wiki, Text: m.settings.Marks == "text", Terminal: m.machine.Answers == "terminal", Approvals: m.approvals.all, Before: m.f.before(), Forced: m.forced,
	}
	for name := range m.machine.Agents {
		s.Agents[name] = m.agent(name)
	}
	for name := range m.machine.Projects {
		s.Projects[name] = m.ground.project(name)
	}
	s.Projects[dispatch.Notes], s.Copy = dispatch.Project{Folder: m.f.dir}, dispatch.Project{Folder: m.copyFolder()}
	return s
}

// held says why nothing starts in this folder at all.
func (m *model) held() dispatch.Reason {
	switch {
	case m.badOutput != "":
		return dispatch.Reason{Text: m.badOutput, Hint: "output: in deckhand.yaml names it"}
	case m.f.moved != "":
		return dispatch.Reason{Text: "the work folder was at " + tilde(m.f.moved) + " before", Hint: "deckhand adopt"}
	case m.f.twin != "":
		return dispatch.Reason{Text: "the work folder is known as " + tilde(m.f.twin), Hint: "deckhand status --dir " + shell.Path(tilde(m.f.twin))}
	case m.f.copied:
		return m.f.wasCopied()
	case m.trusted():
		return m.mine.held(m.f.file.Away)
	case m.badMachine:
		return dispatch.Reason{Text: "config.yaml has errors: nothing is granted before they are mended", Hint: "deckhand doctor"}
	}
	return dispatch.Reason{Text: "the work folder is not trusted", Hint: "deckhand trust " + shell.Path(tilde(m.f.dir))}
}

func (m *model) trusted() bool { return m.ground.trusted }

func (m *model) agent(name string) dispatch.Agent {
	p, known := m.agents[name]
	notes := name == assistantName
	switch {
	case !known:
		return dispatch.Agent{Pending: true, Notes: notes, Why: dispatch.Reason{Text: "@" + name + " is being looked at"}}
	case p.State == "ready" || p.State == "installed":
		return dispatch.Agent{Ready: true, Notes: notes}
	}
	return dispatch.Agent{Notes: notes, Why: dispatch.Reason{Text: "@" + name + ": " + p.Reason, Hint: p.Hint}}
}

// grants are what starts could depend on: trust, each project and each board that
// one names, each agent.
func (m *model) grants() []string {
	var out []string
	if m.trusted() {
		out = append(out, "trust")
	}
	for name, p := range m.machine.Projects {
		out = append(out, "project:"+name+"="+p.Folder)
		for _, b := range p.Boards {
			out = append(out, "board:"+b)
		}
	}
	for name := range m.machine.Agents {
		out = append(out, "agent:"+name)
	}
	return out
}

// waiting are, for each grant, the cards in ready lanes that it would let start.
func (m *model) waiting() map[string][]before {
	out := map[string][]before{}
	for path, s := range m.boards {
		for lane, c := range s.board.All() {
			if lane.Role != board.Ready || !c.Open() || len(c.Agents) == 0 || c.Status != nil {
				continue
			}
			b := before{Board: path, Key: c.Key, Was: dispatch.Was{Lane: lane.Title, Hash: dispatch.Hash(c)}}
			for _, g := range m.grants() {
				if m.concerns(g, s.board, c) {
					out[g] = append(out[g], b)
				}
			}
		}
	}
	return out
}

func (m *model) concerns(grant string, b *board.Board, c *board.Card) bool {
	kind, name, _ := strings.Cut(grant, ":")
	switch kind {
	case "agent":
		return slices.Contains(c.Agents, name)
	case "board":
		return name == b.Path
	case "project":
		project := cmp.Or(c.Project, b.Project)
		return project == "" || strings.HasPrefix(name, project+"=")
	}
	return true
}
