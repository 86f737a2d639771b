package daemon

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"deckhand/board"
	"deckhand/dispatch"
	"deckhand/harness"
	"deckhand/internal/config"
	"deckhand/internal/control"
	"deckhand/notes"
)

// model is what is known of a work folder: the files' side (boards, names of
// notes), the runs' side (logs), and the configuration. The daemon's loop owns
// one and keeps it up to date; without a daemon it is read from the disk once.
// All answers (view.go) are computed from it.
type model struct {
	o          Options
	f          *folder
	settings   config.Settings
	machine    config.Machine
	problems   []config.Problem
	badMachine bool // config.yaml has errors: the last good one, or none, is in force
	files      *names
	boards     map[string]*seen  // by path
	chats      map[string]string // path of a run's chat, by run, when it is not where it was made
	links      map[string]bool   // symbolic links that leave the folder
	runs       map[string]*run
	mem        dispatch.Memory
	agents     map[string]harness.Probe
	forced     map[dispatch.CardID]bool
	busy       map[string]bool
	drivers    map[string]harness.Driver
	wiki       bool
	mine       machineState
	decision   dispatch.Decision
	daemon     *running // the daemon that runs, nil when none does
}

// seen is one board file.
type seen struct {
	board *board.Board
	gone  string
	ctime time.Time
	hash  string
}

// run is one run: what its log says, and what its live capture adds.
type run struct {
	*dispatch.Run
	dir    harness.Dir
	runner *runner // of the loop; nil when no life is attached
	talk   *talk   // what goes into the chat; of the loop
	use    usage   // of the life that is attached
	prompt string  // of that life, as sent
	model  string  // that the agent says it uses
	logged map[logKey]bool
	last   time.Time // of the newest event
	fault  string    // why the last effect on its card failed
	again  time.Time // when it is tried again

	chatDue   time.Time // the chat is written then at the latest
	chatAt    time.Time // it was written last
	chatBusy  bool      // it is being written
	chatFirst int       // the life whose first piece makes the chat; 0: none was announced
	chatGone  int       // how often it was not where it should be
	props     string    // what its header was given last, to see that it changed
	starting  bool      // a life is being started
	misses    int       // keepers that died before they did anything
}

// usage adds up what the messages of one life cost; each message counts once.
type usage struct {
	seen   map[string]bool
	tokens int64
	cost   *float64
}

func (u *usage) add(m *harness.Usage) {
	if m.Message != "" {
		if u.seen[m.Message] {
			return
		}
		if u.seen == nil {
			u.seen = map[string]bool{}
		}
		u.seen[m.Message] = true
	}
	u.tokens += m.Tokens
	if m.Cost != nil {
		sum := *m.Cost
		if u.cost != nil {
			sum += *u.cost
		}
		u.cost = &sum
	}
}

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

func newModel(o Options, f *folder) *model {
	return &model{
		o: o, f: f, settings: config.DefaultSettings(), machine: config.DefaultMachine(),
		files: &names{ix: notes.NewIndex()}, boards: map[string]*seen{}, chats: map[string]string{}, links: map[string]bool{}, runs: map[string]*run{},
		agents: map[string]harness.Probe{}, forced: map[dispatch.CardID]bool{}, busy: map[string]bool{}, drivers: drivers(),
	}
}

// world is the model as dispatch wants it.
func (m *model) world(now time.Time) dispatch.World {
	w := dispatch.World{Now: now, Memory: m.mem, Busy: m.busy, Set: m.set()}
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
		Wiki: m.wiki, Text: m.settings.Marks == "text", Before: m.f.before(), Forced: m.forced,
	}
	for name := range m.machine.Agents {
		s.Agents[name] = m.agent(name)
	}
	for name, p := range m.machine.Projects {
		s.Projects[name] = m.project(p)
	}
	if _, ok := s.Projects["notes"]; !ok {
		s.Projects["notes"] = dispatch.Project{Why: dispatch.Reason{Text: "project notes (the work folder itself) is reserved until proposals exist"}}
	}
	return s
}

// held says why nothing starts in this folder at all.
func (m *model) held() dispatch.Reason {
	switch {
	case m.trusted():
		return m.mine.held()
	case m.badMachine:
		return dispatch.Reason{Text: "config.yaml has errors: nothing is granted before they are mended", Hint: "deckhand doctor"}
	}
	return dispatch.Reason{Text: "the work folder is not trusted", Hint: "deckhand trust " + tilde(m.f.dir)}
}

func (m *model) trusted() bool {
	return slices.ContainsFunc(m.machine.Trust, func(dir string) bool { return realPath(dir) == m.f.dir })
}

func (m *model) agent(name string) dispatch.Agent {
	p, known := m.agents[name]
	switch {
	case !known:
		return dispatch.Agent{Pending: true, Why: dispatch.Reason{Text: "@" + name + " is being looked at"}}
	case p.State == "ready" || p.State == "installed":
		return dispatch.Agent{Ready: true}
	}
	return dispatch.Agent{Why: dispatch.Reason{Text: "@" + name + ": " + p.Reason, Hint: p.Hint}}
}

// grants are what starts could depend on: trust, each project, each agent.
func (m *model) grants() []string {
	var out []string
	if m.trusted() {
		out = append(out, "trust")
	}
	for name, p := range m.machine.Projects {
		out = append(out, "project:"+name+"="+p.Folder)
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
	case "project":
		project := cmp.Or(c.Project, b.Project)
		return project == "" || strings.HasPrefix(name, project+"=")
	}
	return true
}

func (m *model) options() board.Options {
	o := board.Options{Agents: slices.Sorted(maps.Keys(m.machine.Agents)), Lanes: map[board.Role][]string{}}
	for name, lanes := range m.settings.Lanes {
		for _, role := range []board.Role{board.Ready, board.Working, board.Review, board.Done} {
			if role.String() == name {
				o.Lanes[role] = lanes
			}
		}
	}
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

func (m *model) problem(where, text, hint string) control.Problem {
	return control.Problem{Where: where, Text: text, Hint: hint}
}
