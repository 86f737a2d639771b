package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func drivers() []string { return []string{"pi"} }

// report is what a person would see, one problem a line.
func report(ps []Problem) string {
	var b strings.Builder
	for _, p := range ps {
		kind := "error"
		if p.Warning {
			kind = "warning"
		}
		fmt.Fprintf(&b, "%d:%d %s: %s", p.Line, p.Col, kind, p.Text)
		if p.Hint != "" {
			fmt.Fprintf(&b, " (%s)", p.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestEmptyFilesAreTheDefaults(t *testing.T) {
	for _, src := range []string{"", "\n", "# only a comment\n", "---\n", "\ufeff# with a BOM\n"} {
		s, ps := LoadSettings([]byte(src), "deckhand.yaml")
		if !reflect.DeepEqual(s, DefaultSettings()) || len(ps) > 0 {
			t.Errorf("settings of %q: %+v\n%s", src, s, report(ps))
		}
		m, ps := LoadMachine([]byte(src), "/etc/config.yaml", "/home/ann", drivers())
		if !reflect.DeepEqual(m, DefaultMachine()) || len(ps) > 0 {
			t.Errorf("machine of %q: %+v\n%s", src, m, report(ps))
		}
	}
}

// An option that is accepted and does nothing is a fault: each key changes the
// value, and the tables name every key that the readers know.
func TestEverySettingChangesSomething(t *testing.T) {
	tests := map[string]string{
		"boards": "[a.md]", "ignore": "[x/**]", "output": "dh", "settle": "1s", "typing": "2s",
		"lanes": "{ready: [Next]}", "add_lanes": "yes", "marks": "text", "notes": "{links: 3}",
	}
	s := DefaultSettings()
	for key := range s.fields(&reader{}) {
		v, ok := tests[key]
		if !ok {
			t.Errorf("%s has no test", key)
			continue
		}
		got, ps := LoadSettings([]byte(key+": "+v), "deckhand.yaml")
		if len(ps) > 0 || reflect.DeepEqual(got, DefaultSettings()) {
			t.Errorf("%s: %s changes nothing\n%s", key, v, report(ps))
		}
	}
}

func TestEveryMachineKeyChangesSomethingOrIsSaidToBeLater(t *testing.T) {
	tests := map[string]string{
		"max_running": "2", "run": "5m", "day": "3 USD", "on_interrupt": "resume", "answers": "terminal",
		"trust": "[~/notes]", "keep": "{days: 3}", "sweep_keep": "[tmux]", "copy_max": "1GB",
		"path": "~/bin", "env_file": "~/env", "projects": "{a: {folder: ~/a}}", "agents": "{pi: {driver: pi, command: [p]}}",
		"assistant": "{base_url: 'http://127.0.0.1:1', model: m}", "notify": "[notify-send]",
	}
	m := DefaultMachine()
	for key, f := range m.fields(&reader{}, "", "", nil) {
		v, ok := tests[key]
		if !ok {
			t.Errorf("%s has no test", key)
			continue
		}
		got, ps := LoadMachine([]byte(key+": "+v), "/c/config.yaml", "/home/ann", drivers())
		switch said := report(ps); {
		case f.later && said != fmt.Sprintf("1:1 warning: %s is not yet in use in this version\n", key):
			t.Errorf("%s: %s", key, said)
		case !f.later && (len(ps) > 0 || reflect.DeepEqual(got, DefaultMachine())):
			t.Errorf("%s: %s changes nothing\n%s", key, v, said)
		}
	}
}

// Each value of ask is kept, and none of them is said to do nothing.
func TestAskIsRead(t *testing.T) {
	for _, ask := range []string{"risky", "all", "none"} {
		m, ps := LoadMachine([]byte("agents:\n  pi: {ask: "+ask+"}\n"), "/c/config.yaml", "/home/ann", drivers())
		if m.Agents["pi"].Ask != ask || len(ps) > 0 {
			t.Errorf("%s: %+v\n%s", ask, m.Agents["pi"], report(ps))
		}
	}
}

func TestNotifyIsRead(t *testing.T) {
	for src, want := range map[string]string{
		`[notify-send, "{title}", "{text}"]`: "notify-send {title} {text}",
		`[./tell.sh, "{text}"]`:              "/c/tell.sh {text}",
		`[~/bin/tell]`:                       "/home/ann/bin/tell",
		`tell`:                               "tell",
		`[]`:                                 "",
		``:                                   "",
		`notify-send "{title}"`:              `1:9 error: notify is a list, the program and its arguments (write notify: [PROGRAM, "{title}", "{text}"])`,
		`["{title}"]`:                        `1:9 error: notify: "{title}" is no program (write notify: [PROGRAM, "{title}", "{text}"])`,
		`[""]`:                               "1:10 error: notify needs a value",
	} {
		m, ps := LoadMachine([]byte("notify: "+src), "/c/config.yaml", "/home/ann", drivers())
		if got := strings.Join(m.Notify, " ") + strings.TrimSpace(report(ps)); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

func TestSettingsAreRead(t *testing.T) {
	src := `boards: "*.md"
ignore: [Templates/**, Archive/**]
output: Work/deckhand/
settle: 500ms
typing: 1m
lanes: {ready: [Plan, Next], done: Fertig}
add_lanes: no
marks: text
notes: {links: 2, per_note: 100, total: 0}
`
	want := DefaultSettings()
	want.Boards, want.Ignore = []string{"*.md"}, []string{"Templates/**", "Archive/**"}
	want.Output, want.Settle, want.Typing = "Work/deckhand", 500*time.Millisecond, time.Minute
	want.Lanes["ready"], want.Lanes["done"] = []string{"Plan", "Next"}, []string{"Fertig"}
	want.Marks, want.Notes = "text", Notes{Links: 2, PerNote: 100, Total: 0}
	got, ps := LoadSettings([]byte(src), "deckhand.yaml")
	if !reflect.DeepEqual(got, want) || len(ps) > 0 {
		t.Errorf("got  %+v\nwant %+v\n%s", got, want, report(ps))
	}
}

func TestMachineIsRead(t *testing.T) {
	src := `max_running: 2
run: 90m
day: none
trust: [~/notes, /srv/notes/]
keep: {days: 7, size: 500 MB}
path: ~/.local/bin:/opt/bin
env_file: ~/.config/deckhand/env
projects:
  web-ecommerce: {folder: ~/web, boards: [Shop.md]}
  Laden Süd: &p
    folder: /srv/laden
  copy: *p
agents:
  pi: {}
  fake: {driver: pi, command: [./fake.sh, -x], model: m/n}
  tilde: {driver: pi, command: ~/bin/pi}
`
	want := DefaultMachine()
	want.MaxRunning, want.Run, want.Day = 2, 90*time.Minute, 0
	want.Trust = []string{"/home/ann/notes", "/srv/notes"}
	want.KeepDays, want.KeepSize = 7, 500_000_000
	want.Path = []string{"/home/ann/.local/bin", "/opt/bin"}
	want.EnvFile = "/home/ann/.config/deckhand/env"
	want.Projects = map[string]Project{
		"web-ecommerce": {Name: "web-ecommerce", Folder: "/home/ann/web", Boards: []string{"Shop.md"}, Parallel: 1},
		"Laden Süd":     {Name: "Laden Süd", Folder: "/srv/laden", Parallel: 1},
		"copy":          {Name: "copy", Folder: "/srv/laden", Parallel: 1},
	}
	want.Agents = map[string]Agent{
		"pi":    {Name: "pi", Driver: "pi", Command: []string{"pi"}, Ask: "risky"},
		"fake":  {Name: "fake", Driver: "pi", Command: []string{"/c/d/fake.sh", "-x"}, Model: "m/n", Ask: "risky"},
		"tilde": {Name: "tilde", Driver: "pi", Command: []string{"/home/ann/bin/pi"}, Ask: "risky"},
	}
	got, ps := LoadMachine([]byte(src), "/c/d/config.yaml", "/home/ann", drivers())
	if !reflect.DeepEqual(got, want) || len(ps) > 0 {
		t.Errorf("got  %+v\nwant %+v\n%s", got, want, report(ps))
	}
}

func TestProblemsOfSettings(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"several at once", "settle: 3\nmarks: [text]\nboads: x\nnotes:\n  links: -1\n", `1:9 error: settle: "3" is no duration: write 3s or 90m
2:8 error: marks needs a value
3:1 warning: unknown key "boads" (did you mean boards?)
5:10 error: notes: links: -1 is not between 0 and 100
`},
		{"rights are not granted", "agents: {pi: {command: [rm]}}\ncommand: rm\nprojects: {a: /}\ntrust: [/]\nday: 99 USD\n", `1:1 warning: agents does not count here: a work folder cannot grant itself rights (it belongs in config.yaml of the machine)
2:1 warning: command does not count here: a work folder cannot grant itself rights (it belongs in config.yaml of the machine)
3:1 warning: projects does not count here: a work folder cannot grant itself rights (it belongs in config.yaml of the machine)
4:1 warning: trust does not count here: a work folder cannot grant itself rights (it belongs in config.yaml of the machine)
5:1 warning: day does not count here: a work folder cannot grant itself rights (it belongs in config.yaml of the machine)
`},
		{"paths outside", "output: ../x\nignore: [a, /etc/**]\nboards: [~/x.md, 'a/../../b']\n", `1:9 error: output: "../x" is outside the work folder
2:13 error: ignore: "/etc/**" is outside the work folder
3:10 error: boards: "~/x.md" is outside the work folder
3:18 error: boards: "a/../../b" is outside the work folder
`},
		{"output hidden", "output: .deckhand\n", `1:9 error: output: ".deckhand" is hidden: what people read stands in a folder they see
`},
		{"pattern", "ignore: ['[a']\n", `1:10 error: ignore: "[a" is no pattern
`},
		{"a lane of two roles", "lanes: {ready: [Doing]}\n", `1:8 error: lanes: "Doing" is a name of ready and of working (name the lanes of ready too, without it)
`},
		{"role misspelt", "lanes: {redy: [Plan]}\n", `1:9 warning: lanes: unknown role "redy" (did you mean ready?)
`},
		{"key twice", "settle: 1s\nsettle: 2s\n", `2:1 error: settle stands here twice, the first is in line 1
`},
		{"not YAML", "a: b\nsettle: [\n", `2:1 error: not YAML: did not find expected node content
`},
		{"no mapping", "- a\n", `1:1 error: deckhand.yaml needs keys and values
`},
		{"second document", "settle: 1s\n---\nsettle: 2s\n", `2:1 error: a second document: only one is read (take the --- out)
`},
		{"control character", "output: \"a\\u0007b\"\n", `1:9 error: output has a control character
`},
		{"no bool", "add_lanes: perhaps\n", `1:12 error: add_lanes: "perhaps" is neither yes nor no
`},
		{"key of a list", "? [a]\n: b\n", `1:3 error: deckhand.yaml: a key is one word
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ps := LoadSettings([]byte(tt.src), "deckhand.yaml")
			if got := report(ps); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestProblemsOfMachine(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"limits", "max_runing: 1\nmax_running: 0\nrun: 0s\nday: 0 USD\nkeep: {size: 2 bananas, days: x, age: 1}\non_interrupt: go\n", `1:1 error: unknown key "max_runing" (did you mean max_running?)
2:14 error: max_running: 0 is not between 1 and 1000
3:6 error: run: 0s is not between 1s and 720h0m0s
4:6 error: day: 0 USD is not above 0: write none for no budget
5:14 error: keep: size: "2 bananas" is no size: write 500MB or 2GB
5:31 error: keep: days: "x" is no whole number
5:34 error: keep: unknown key "age" (known are days, size)
6:15 error: on_interrupt: "go" is none of ask, resume
`},
		{"another currency", "day: 10 EUR\n", `1:6 error: day: "10 EUR" is no amount: write 10 USD, or none
`},
		{"a setting", "settle: 3s\n", `1:1 error: settle does not count here (it belongs in deckhand.yaml of the work folder)
`},
		{"folders", "trust: [notes, ~bob/notes]\nenv_file: env\n", `1:9 error: trust: "notes" is not absolute: write an absolute path or ~/…
1:16 error: trust: "~bob/notes" is not absolute: "~bob/notes": only ~ and ~/ are understood
2:11 error: env_file: "env" is not absolute: write an absolute path or ~/…
`},
		{"projects", "projects:\n  notes: {folder: /a}\n  a/b: {folder: /a}\n  c: {}\n  d: {foldr: /a}\n  e: {folder: /e, isolate: worktree}\n  f: ~/f\n", `2:3 error: the project name notes stands for the work folder itself (choose another name)
3:3 error: "a/b" is no name of a project (use letters, digits, - and _)
4:3 error: project c has no folder (write c: {folder: ~/…})
5:7 error: project d: unknown key "foldr" (did you mean folder?)
6:19 warning: isolate is not yet in use in this version
7:6 error: project f needs keys and values
`},
		{"agents", "agents:\n  Pi: {}\n  assistant: {}\n  a: {}\n  b: {driver: pj}\n  c: {driver: pi, command: pi --x}\n  d: {driver: acp, command: [d]}\n  e: {driver: acp}\n  f: {driver: pi, ask: all, command: []}\n", `2:3 error: "Pi" is no name of an agent: nobody could mention it (use a-z, 0-9, - and _)
3:3 error: the agent name assistant is taken by the built-in one (choose another name)
4:3 error: agent a has no driver (write a: {driver: pi, command: [a]})
5:15 error: agent b: unknown driver "pj" (known are pi)
6:28 error: agent c: command is a list, the program and its arguments (write command: [pi, --x])
7:15 warning: agent d: driver acp is not yet in use in this version
8:15 warning: agent e: driver acp is not yet in use in this version
8:3 error: agent e has no command (write e: {driver: acp, command: [e]})
9:38 error: agent f: command is empty
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ps := LoadMachine([]byte(tt.src), "/c/config.yaml", "/home/ann", drivers())
			if got := report(ps); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// A part that cannot be read has its default, so that what is shown besides the
// problem is not zero.
func TestWhatIsWrongHasItsDefault(t *testing.T) {
	m, ps := LoadMachine([]byte("max_running: many\nrun: 5m\n"), "/c/config.yaml", "/h", drivers())
	if m.MaxRunning != 4 || m.Run != 5*time.Minute || !Bad(ps) {
		t.Errorf("%+v %v", m, ps)
	}
	if got := ps[0].String(); got != `/c/config.yaml:1:14: max_running: "many" is no whole number` {
		t.Error(got)
	}
}

func TestSize(t *testing.T) {
	for in, want := range map[string]int64{"1B": 1, "1.5 KB": 1500, "2GiB": 2 << 30, "1tb": 1e12, "3 MiB": 3 << 20} {
		if got, err := size(in); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "GB", "2", "-1GB", "1e3MB", "99999999TB", "0.1B", "1..2KB"} {
		if got, err := size(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}
