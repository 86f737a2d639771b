package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"deckhand/dispatch"
	"deckhand/internal/config"
	"deckhand/internal/shell"
)

// ground is what the disk says of the folders that the configuration names. To
// look can take as long as a dead disk likes, so it is not done in the loop.
type ground struct {
	trusted  bool // the work folder is trusted
	projects map[string]dispatch.Project
}

// project is what is known of a project; one that came just now is not looked
// at yet.
func (g ground) project(name string) dispatch.Project {
	if p, ok := g.projects[name]; ok {
		return p
	}
	return dispatch.Project{Pending: true, Why: dispatch.Reason{Text: "project " + name + " is being looked at"}}
}

// faulty reports whether a project cannot be worked in at the moment.
func (g ground) faulty() bool {
	for _, p := range g.projects {
		if p.Why.Text != "" {
			return true
		}
	}
	return false
}

// lookGround looks at the folders of a configuration.
func lookGround(c config.Machine, work, state string) ground {
	g := ground{projects: map[string]dispatch.Project{}}
	for _, dir := range c.Trust {
		g.trusted = g.trusted || realPath(dir) == work
	}
	home, _ := os.UserHomeDir() // without one nothing is taken for it
	for name, p := range c.Projects {
		folder, why := checkProject(p, work, home, state)
		g.projects[name] = dispatch.Project{Folder: folder, Boards: p.Boards, Why: why}
	}
	return g
}

const (
	// surveyEvery is how old what is known of the projects' folders may be when
	// something starts or runs.
	surveyEvery = 2 * time.Second
	// surveyLate is how soon a folder that was missing is seen to be back.
	surveyLate = 30 * time.Second
)

// survey looks at the projects' folders again, outside the loop, while they
// matter to somebody: a card asks for an agent, or one works.
func (d *daemon) survey(now time.Time) {
	d.surveyAgain = time.Time{}
	if len(d.decision.Cards) == 0 && !d.anyLive() {
		return
	}
	if d.ground.faulty() {
		d.surveyAgain = now.Add(surveyLate)
	}
	if d.surveying || now.Sub(d.surveyed) < surveyEvery {
		return
	}
	d.surveying, d.surveyed = true, now
	machine, work, state := d.machine, d.f.dir, d.o.State
	d.queues.add("ground", func() any { return lookGround(machine, work, state) }, func(v any) {
		d.surveying = false
		if g := v.(ground); !reflect.DeepEqual(g, d.ground) && reflect.DeepEqual(machine, d.machine) {
			d.ground, d.dirty = g, true
		}
	})
}

func (d *daemon) anyLive() bool {
	for _, r := range d.runs {
		if r.Live() {
			return true
		}
	}
	return false
}

func realPath(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	return real
}

// checkProject gives the real path of a project's folder, or why no agent works there.
func checkProject(p config.Project, work, home, state string) (string, dispatch.Reason) {
	refuse := func(text string) (string, dispatch.Reason) {
		return "", dispatch.Reason{
			Text: "project " + p.Name + ": " + p.Folder + " " + text,
			Hint: "deckhand project remove " + shell.Operand(p.Name) + " && deckhand project add " + shell.Operand(p.Name) + " FOLDER",
		}
	}
	if p.Name == dispatch.Notes {
		return refuse("has the name of the work folder itself")
	}
	if p.Isolate != "" {
		return "", dispatch.Reason{Text: "project " + p.Name + ": isolate: worktree is not in use yet", Hint: "take isolate: out of config.yaml: agents then work in the folder itself"}
	}
	real, err := filepath.EvalSymlinks(p.Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("is not there")
	case err != nil:
		return refuse("cannot be read: " + cause(err))
	}
	if why := unfit(real, work, home, state); why != "" {
		return refuse(why)
	}
	return real, dispatch.Reason{}
}

// unfit says why no agent works in a folder, given by its real path; empty: it may.
func unfit(real, work, home, state string) string {
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "cannot be read: " + cause(err)
	case !info.IsDir():
		return "is not a folder"
	case real == "/":
		return "is the whole machine"
	case home != "" && real == realPath(home):
		return "is the home folder"
	case real == work:
		return "is the work folder itself"
	case within(real, work):
		return "lies inside the work folder"
	case home != "" && within(realPath(home), real):
		return "holds the home folder"
	case within(real, realPath(state)) || within(realPath(state), real):
		return "holds deckhand's own state"
	}
	return ""
}

// within reports whether a real path lies in a folder, or is it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// cause is an error without the path it names.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}
