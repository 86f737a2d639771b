package daemon

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"deckhand/internal/control"
)

// Bad input: whatever is wrong with one file, project or agent has a reason
// that says so, loses nothing, and holds up nothing else. In each of these
// tests a good card stands beside the bad ones and has to come to Review.

// bad is a place with a good card, and with projects and agents beside the
// usual ones, each a line of YAML by its name.
func bad(t *testing.T, settings string, projects, agents map[string]string) *placeT {
	t.Helper()
	p := newPlace(t, settings, "")
	config, err := os.ReadFile(p.o.Config)
	if err != nil {
		t.Fatal(err)
	}
	text := string(config)
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		text = strings.Replace(text, "agents:\n", "  "+name+": {folder: "+projects[name]+"}\nagents:\n", 1)
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		text += "  " + name + ": {driver: pi, command: " + agents[name] + "}\n"
	}
	p.write(p.o.Config, text+"max_running: 50\n")
	if err := Grant(context.Background(), p.o, Grants{Trust: true}); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("Shop.md"), boardOf("- [ ] Good @pi\n"))
	return p
}

// own is a folder for a project of its own.
func (p *placeT) own(name string) string {
	p.t.Helper()
	dir := filepath.Join(filepath.Dir(p.proj), "own", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	return dir
}

// good looks that the good card is in Review.
func (p *placeT) good() {
	p.t.Helper()
	if got := p.lane("Review"); !strings.Contains(got, "Good @pi\n") || !strings.Contains(got, "pi: review") {
		p.t.Errorf("the good card was held up:\n%s\nlog:\n%s", p.read("Shop.md"), p.log)
	}
}

// status is read from the files; what it says must be fit to be shown.
func (p *placeT) status() control.Status {
	p.t.Helper()
	r, err := Open(context.Background(), p.o)
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := r.Status(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// reasons is everything that holds back the cards of a board, one a line.
func reasons(s control.Status, board string) string {
	var out []string
	for _, h := range s.Held {
		if h.Board == board {
			out = append(out, h.Reasons...)
		}
	}
	return strings.Join(out, "\n")
}

func on(project, plan string) string {
	return strings.Replace(boardOf(plan), "project: shop", "project: "+project, 1)
}

func TestBadBoardsSayWhy(t *testing.T) {
	card := boardOf("- [ ] Bad @pi\n")
	p := bad(t, "", nil, nil)
	cases := map[string]struct{ text, why string }{
		"Header.md":   {strings.Replace(card, "project: shop", "project: [shop", 1), "Header.md: line 2: "},
		"Kanban.md":   {strings.Replace(card, "project: shop", "kanban-plugin: board\nx: 'y", 1), "Kanban.md: line 3: "},
		"Unclosed.md": {strings.Replace(card, "shop\n---", "shop", 1), "names a project"},
		"NUL.md":      {strings.Replace(card, "Bad", "Bad\x00", 1), "NUL bytes, line 7"},
		"Merge.md":    {boardOf("<<<<<<< HEAD\n- [ ] Bad @pi\n=======\n- [ ] Worse @pi\n>>>>>>> other\n"), "merge markers, line 7"},
		"Twice.md":    {boardOf("- [ ] Two @pi\n- [ ] Two @pi\n"), "2 cards read \"Two\": lines 7, 8"},
		"One.md":      {boardOf("- [ ] Copied @pi\n"), "the same card stands at One.md:7 and Other.md:7"},
		"Other.md":    {boardOf("- [ ] Copied @pi\n"), "the same card stands at Other.md:7 and One.md:7"},
		// How the programs that sync name what they could not merge.
		"Shop.sync-conflict-20261130-101010-ABCDEFG.md": {card, "conflict copy of Shop.md"},
		"Shop (Conflicted copy 2026-11-30).md":          {card, "conflict copy of Shop.md"},
		"Shop (conflicted copy).md":                     {card, "conflict copy of Shop.md"},
		"Shop (Ann's conflicted copy 2026-11-30).md":    {card, "conflict copy of Shop.md"},
		"Shop (SFConflict ann 2026-11-30).md":           {card, "conflict copy of Shop.md"},
		"Shop (case conflict).md":                       {card, "conflict copy of Shop.md"},
		"Shop_conflict-2026.md":                         {card, "conflict copy of Shop.md"},
	}
	for file, c := range cases {
		p.write(p.at(file), c.text)
	}
	p.once()
	p.good()
	s, needs := p.status(), p.read("deckhand/Needs me.md")
	for file, c := range cases {
		if got := p.read(file); got != c.text {
			t.Errorf("%s was written:\n%q", file, got)
		}
		if got := reasons(s, file); !strings.Contains(got, c.why) {
			t.Errorf("%s: held by %q, want %q", file, got, c.why)
		}
		if !strings.Contains(needs, c.why) {
			t.Errorf("Needs me lacks %q:\n%s", c.why, needs)
		}
	}
}

// Bytes that are no UTF-8 are kept to the last one, and their card runs.
func TestInvalidUTF8IsKept(t *testing.T) {
	p := bad(t, "", nil, nil)
	p.write(p.at("Latin.md"), boardOf("- [ ] Caf\xe9 \xff @pi\n\tna\xefve\n")+"\n\xfe\xfe tail\xc3")
	p.once()
	p.good()
	got := p.read("Latin.md")
	for _, want := range []string{"- [ ] Caf\xe9 \xff @pi\n", "na\xefve\n", "\n\xfe\xfe tail\xc3", "pi: review"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%q", want, got)
		}
	}
}

func TestBadProjectsSayWhy(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for name, to := range map[string]string{"slash": "/", "gonelink": at("nowhere")} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := bad(t, "", nil, nil)
	if err := os.Mkdir(p.at("sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.at("sub"), at("inlink")); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ folder, why string }{
		"gone":     {at("none"), "is not there"},
		"gonelink": {at("gonelink"), "is not there"},
		"file":     {at("file"), "is not a folder"},
		"fifo":     {at("fifo"), "is not a folder"},
		"slash":    {"/", "is the whole machine"},
		"slashln":  {at("slash"), "is the whole machine"},
		"home":     {"~/", "is the home folder"},
		"work":     {p.work, "is the work folder itself"},
		"inside":   {p.at("sub"), "lies inside the work folder"},
		"inlink":   {at("inlink"), "lies inside the work folder"},
		"dots":     {p.proj + "/../notes/sub", "lies inside the work folder"},
	}
	config, err := os.ReadFile(p.o.Config)
	if err != nil {
		t.Fatal(err)
	}
	lines := ""
	for name, c := range cases {
		lines += "  " + name + ": {folder: " + c.folder + "}\n"
		p.write(p.at("In "+name+".md"), on(name, "- [ ] In "+name+" @pi\n"))
	}
	p.write(p.o.Config, strings.Replace(string(config), "agents:\n", lines+"agents:\n", 1))
	p.once()
	p.good()
	s := p.status()
	for name, c := range cases {
		if got := reasons(s, "In "+name+".md"); !strings.Contains(got, c.why) {
			t.Errorf("%s: held by %q, want %q", name, got, c.why)
		}
		if got := p.read("deckhand/Needs me.md"); !strings.Contains(got, "project "+name+": ") {
			t.Errorf("Needs me lacks %s:\n%s", name, got)
		}
	}
}

// probed is a script that passes as pi until it is to work.
const probed = "#!/bin/sh\ncase \"$*\" in *--version*|*--help*) exec '%s' standin \"$@\";; esac\n"

func TestBadAgentsSayWhy(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	work := fmt.Sprintf(probed, exe)
	cases := map[string]struct {
		script string // empty: there is none
		mode   os.FileMode
		held   string // why it does not start
		failed string // or how it ends
	}{
		"missing":  {held: "was not found"},
		"empty":    {script: "\n", mode: 0o755, held: "--version failed"},
		"nomode":   {script: work, mode: 0o644, held: "is not executable"},
		"nointerp": {script: "#!/nowhere/sh\n", mode: 0o755, held: "--version failed"},
		"silent":   {script: "#!/bin/sh\n", mode: 0o755, held: "printed nothing"},
		"probe":    {script: "#!/bin/sh\nkill -SEGV $$\n", mode: 0o755, held: "--version failed"},
		"escape":   {script: "#!/bin/sh\nprintf '\\033]0;x\\007\\342\\200\\256no\\n'\n", mode: 0o755, held: "no version"},
		"gone":     {script: work + "exit 0\n", mode: 0o755, failed: "ended before it answered anything (exit code 0)"},
		"signal":   {script: work + "kill -SEGV $$\n", mode: 0o755, failed: "signal SIGSEGV"},
		"last":     {script: work + "printf '\\033[31mlast\\007 \\342\\200\\256words ^r-01 <!-- %%%% [[x]]\\n' >&2; exit 4\n", mode: 0o755, failed: "(exit code 4): last words"},
		"garbage":  {script: work + "head -c 100000 /dev/urandom; printf '\\n{}\\n[]\\nnull\\n{\"type\":5}\\n{\"type\":\"agent_end\"}\\n'\n", mode: 0o755, failed: "ended"},
		"long":     {script: work + "head -c 70000000 /dev/zero | tr '\\0' x; echo\n", mode: 0o755, failed: "ended before it answered anything"},
		"fork":     {script: work + "sleep 600 & setsid sleep 600 & exit 0\n", mode: 0o755, failed: "ended before it answered anything"},
		"folder":   {script: work + "rm -rf \"$PWD\"; exit 2\n", mode: 0o755, failed: "ended before it answered anything (exit code 2)"},
	}
	projects, agents := map[string]string{}, map[string]string{}
	bin := t.TempDir()
	p := newPlace(t, "", "")
	for name, c := range cases {
		path := filepath.Join(bin, name)
		projects[name], agents[name] = p.own(name), "["+path+"]"
		if c.script == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(c.script), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
	}
	p = bad(t, "", projects, agents)
	for name := range cases {
		p.write(p.at(name+".md"), on(name, "- [ ] Do "+name+" @"+name+"\n"))
	}
	p.once()
	p.good()
	s := p.status()
	for name, c := range cases {
		text := p.read(name + ".md")
		got, want := reasons(s, name+".md"), c.held
		if c.failed != "" {
			got, want = text, c.failed
			if !strings.Contains(text, "- 🔴 "+name+" failed · ") || !strings.Contains(text, "`deckhand retry ") {
				t.Errorf("%s: it is not said how it ended, and what to type:\n%s", name, text)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q\n%s", name, got, want, p.log)
		}
		if strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(text), unicode.IsControl) || strings.Contains(text, "\u202e") {
			t.Errorf("%s: the board holds control characters:\n%q", name, text)
		}
	}
	if left := p.find(func(args string) bool { return strings.HasPrefix(args, "sleep 600 ") }); len(left) > 0 {
		t.Errorf("the agent's children go on: %v", left)
	}
}

// An agent that tears down its own run folder harms its own run only.
func TestAgentThatRemovesItsRunFolder(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "agent")
	p := bad(t, "", nil, map[string]string{"evil": "[" + script + "]"})
	p.write(script, fmt.Sprintf(probed, exe)+"rm -rf '"+p.o.State+"'/*/runs/*/1; exit 3\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(p.at("Shop.md"), boardOf("- [ ] Evil @evil\n- [ ] Good @pi\n"))
	p.once()
	p.good()
	if got := p.read("Shop.md"); !strings.Contains(got, "🟠 evil interrupted · ") && !strings.Contains(got, "🔴 evil failed · ") {
		t.Errorf("it is not said that the run is over:\n%s\n%s", got, p.log)
	}
	p.write(p.at("Shop.md"), strings.Replace(p.read("Shop.md"), "## Plan\n", "## Plan\n\n- [ ] After it @pi\n", 1))
	p.once()
	if got := p.lane("Review"); !strings.Contains(got, "After it @pi\n") {
		t.Errorf("the next daemon is held up:\n%s\n%s", got, p.log)
	}
}

// A shared folder can grant itself nothing, and nothing outside of it.
func TestSettingsGrantNothing(t *testing.T) {
	p := bad(t, fast, nil, nil)
	p.write(p.at("deckhand.yaml"), fast+"output: ../out\nagents:\n  evil: {driver: pi, command: [/bin/sh]}\n"+
		"trust: [/]\nprojects:\n  shop: {folder: /}\nmax_running: 99\nboards: [\"../**\", \"/**\"]\n")
	evil := boardOf("- [ ] Evil @evil\n")
	p.write(p.at("Evil.md"), evil)
	p.once()
	p.good()
	var told strings.Builder
	for _, problem := range p.status().Problems {
		fmt.Fprintln(&told, problem.Where, problem.Text)
	}
	for want, line := range map[string]int{"output": 3, "agents": 4, "trust": 6, "projects": 7, "max_running": 9, `"../**"`: 10, `"/**"`: 10} {
		if !strings.Contains(told.String(), fmt.Sprintf("deckhand.yaml:%d:", line)) || !strings.Contains(told.String(), want) {
			t.Errorf("%s in line %d is not reported:\n%s", want, line, told.String())
		}
	}
	if got := p.read("Evil.md"); got != evil {
		t.Errorf("an agent of the folder's own was started:\n%s", got)
	}
	entries, err := os.ReadDir(filepath.Dir(p.work))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"config.yaml", "notes", "run", "shop", "state"}, e.Name()) {
			t.Errorf("%s was made beside the work folder", e.Name())
		}
	}
}
