package robust

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/internal/daemon"
)

// Fast is a deckhand.yaml for a place where nobody types.
const Fast = "settle: 10ms\ntyping: 10ms\n"

// Place is a work folder, projects, and a machine's configuration and state, in
// a folder of their own.
type Place struct {
	Root    string         // holds everything
	Work    string         // the work folder
	Exe     string         // this test program, which is deckhand too
	Options daemon.Options // of the daemons that are started here
	Log     *Log

	t        testing.TB
	projects []string
	gate     *Gate    // nil: none
	through  []string // what starts the program; empty: nothing does
}

// NewPlace makes one with projects, whose folders are beside the work folder,
// and the stand-in agent under the name pi. Its path is short, because a
// socket's has to be. Keepers and agents that a test leaves are ended with it.
func NewPlace(t testing.TB, settings string, projects ...string) *Place {
	t.Helper()
	root, err := os.MkdirTemp("", "dh-")
	must(t, err)
	return NewPlaceIn(t, root, settings, projects...)
}

// NewPlaceIn makes one in a folder that is there, on whatever disk.
func NewPlaceIn(t testing.TB, root, settings string, projects ...string) *Place {
	t.Helper()
	root, err := filepath.EvalSymlinks(root)
	must(t, err)
	exe, err := os.Executable()
	must(t, err)
	p := &Place{t: t, Root: root, Work: filepath.Join(root, "notes"), Exe: exe, Log: &Log{}, projects: projects}
	t.Cleanup(func() {
		p.Clear()
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	p.Options = daemon.Options{Dir: p.Work, Config: p.Path("config/deckhand/config.yaml"), State: p.Path("state/deckhand"), Runtime: p.Path("run/deckhand"), Exe: exe}
	for _, dir := range append([]string{"notes", "config/deckhand", "state", "run/deckhand"}, projects...) {
		must(t, os.MkdirAll(p.Path(dir), 0o700))
	}
	p.Write(p.Options.Config, p.config())
	if settings != "" {
		p.Write(p.At("deckhand.yaml"), settings)
	}
	p.Grant()
	return p
}

func (p *Place) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "trust: [%s]\nday: none\nenv_file: %s\nagents:\n  pi: {driver: pi, command: [%s, standin, -pace, 1ms]}\n", p.Work, p.Path("env"), p.Exe)
	if len(p.projects) > 0 {
		b.WriteString("projects:\n")
	}
	for _, name := range p.projects {
		fmt.Fprintf(&b, "  %s: {folder: %s}\n", name, p.Path(name))
	}
	// An agent inherits nothing, and with the race detector each would wait a second at its end.
	env := "GORACE=" + os.Getenv("GORACE") + "\n"
	must(p.t, os.WriteFile(p.Path("env"), []byte(env), 0o600))
	return b.String()
}

// Grant makes this the folder's machine; cards that are there now wait.
func (p *Place) Grant() {
	p.t.Helper()
	must(p.t, daemon.Grant(context.Background(), p.Options, daemon.Grants{Trust: true}))
}

// Env is the environment of the program: nothing of the tester's own folders.
func (p *Place) Env() []string {
	return []string{
		"HOME=" + p.Root, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + p.Root, "GORACE=" + os.Getenv("GORACE"),
		"XDG_CONFIG_HOME=" + p.Path("config"), "XDG_STATE_HOME=" + p.Path("state"), "XDG_RUNTIME_DIR=" + p.Path("run"),
	}
}

// Through has daemons and commands started by another program from now on, which
// is given theirs behind its own arguments and becomes it.
func (p *Place) Through(argv ...string) { p.through = argv }

// argv is the program with arguments, and what starts it.
func (p *Place) argv(args []string) []string {
	return slices.Concat(p.through, []string{p.Exe}, args)
}

// Command is a command of deckhand as a person types it in the work folder.
func (p *Place) Command(ctx context.Context, args ...string) *exec.Cmd {
	argv := p.argv(args)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = p.Env(), p.Work
	return cmd
}

// Once runs a daemon until nothing is left to do.
func (p *Place) Once(ctx context.Context, env ...string) {
	p.t.Helper()
	if err := p.once(ctx, env...); err != nil {
		p.t.Fatalf("watch --once: %v\n%s\n%s", err, p.Log, p.Logs())
	}
}

// OnceKilled does the same with a fault, and reports whether it was killed there.
func (p *Place) OnceKilled(ctx context.Context, point string) bool {
	p.t.Helper()
	err := p.once(ctx, FaultEnv+"="+point)
	if err != nil && !Killed(err) {
		p.t.Fatalf("watch --once, to be killed at %s: %v\n%s", point, err, p.Log)
	}
	return err != nil
}

func (p *Place) once(ctx context.Context, env ...string) error {
	o := p.Options
	defer func() { p.Options = o }()
	p.Options.Once = true
	return p.Spawn(ctx, env...).Wait()
}

// Path is a path in the place, At one in the work folder.
func (p *Place) Path(rel string) string { return filepath.Join(p.Root, rel) }

// At is a path in the work folder.
func (p *Place) At(rel string) string { return filepath.Join(p.Work, rel) }

// Write puts a file there as a careless program does: truncated, then written.
func (p *Place) Write(path, text string) {
	p.t.Helper()
	must(p.t, os.WriteFile(path, []byte(text), 0o644))
}

// Save replaces a file of the work folder in one step, as most editors do.
func (p *Place) Save(rel, text string) {
	p.t.Helper()
	p.Write(p.At(rel)+".save", text)
	must(p.t, os.Rename(p.At(rel)+".save", p.At(rel)))
}

// Read reads a file of the work folder.
func (p *Place) Read(rel string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.At(rel))
	must(p.t, err)
	return string(data)
}

// Text is the same of a file that may be missing at this moment.
func (p *Place) Text(rel string) string {
	data, err := os.ReadFile(p.At(rel))
	if err != nil {
		return ""
	}
	return string(data)
}

// Lane is the text of one lane of a board.
func (p *Place) Lane(rel, name string) string {
	p.t.Helper()
	text := p.Read(rel)
	_, after, ok := strings.Cut(text, "## "+name+"\n")
	if !ok {
		p.t.Fatalf("%s has no lane %s:\n%s", rel, name, text)
	}
	lane, _, _ := strings.Cut(after, "\n## ")
	return lane
}

// Record is what the stand-in wrote about itself in a project: the agents' own
// count of how often they were asked.
func (p *Place) Record(project string) []string {
	data, err := os.ReadFile(filepath.Join(p.Path(project), "RECORD.log"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(data), "\n"), "\n")
}

// Move takes the card that begins with a text to another lane of a board, as a
// person does, with what stands below it and a line added; not twice.
func (p *Place) Move(rel, card, lane, add string) {
	p.t.Helper()
	board := p.Read(rel)
	at := strings.Index(board, "- [ ] "+card)
	if at < 0 {
		p.t.Fatalf("%s has no card %s:\n%s", rel, card, board)
	}
	end := at + strings.IndexByte(board[at:], '\n') + 1
	for end < len(board) && (board[end] == '\t' || board[end] == ' ') {
		end += strings.IndexByte(board[end:], '\n') + 1
	}
	first, rest, _ := strings.Cut(board[at:end], "\n")
	if add != "" {
		rest = "\t" + add + "\n" + rest
	}
	head := "## " + lane + "\n"
	p.Save(rel, strings.Replace(board[:at]+board[end:], head, head+"\n"+first+"\n"+rest, 1))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
