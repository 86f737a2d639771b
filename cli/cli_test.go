package cli

import (
	"encoding/xml"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
)

// Every command says what it is for in one line, in lower case and without a
// full stop, and has no flag without a text.
func TestHelpIsWhole(t *testing.T) {
	a := &app{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if s := c.Short; s == "" || strings.HasSuffix(s, ".") || s[0] >= 'A' && s[0] <= 'Z' {
			t.Errorf("%s: %q", c.CommandPath(), s)
		}
		if c.RunE == nil && c.Run == nil {
			t.Errorf("%s does nothing", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(a.root())
}

func TestWrongCallsAreUsage(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"wach"}, "deckhand: no command \"wach\"\nhint: deckhand watch\n"},
		{[]string{"xyzzy"}, "deckhand: no command \"xyzzy\"\nhint: deckhand --help\n"},
		{[]string{"project"}, "deckhand: project wants a command\nhint: deckhand project --help\n"},
		{[]string{"project", "ad"}, "deckhand: no command \"ad\"\nhint: deckhand project add\n"},
		{[]string{"project", "add", "web"}, "deckhand: project add: NAME or FOLDER is missing\nhint: deckhand project add --help\n"},
		{[]string{"status", "--jsn"}, "deckhand: unknown flag: --jsn\nhint: deckhand status --help\n"},
		{[]string{"status", "x"}, "deckhand: status: \"x\" is too much\nhint: deckhand status --help\n"},
		{[]string{"why"}, "deckhand: why: CARD is missing\nhint: deckhand why --help\n"},
		{[]string{"stop"}, "deckhand: stop wants either a RUN or --all\nhint: deckhand stop --help\n"},
		{[]string{"stop", "--all", "x"}, "deckhand: stop wants either a RUN or --all\nhint: deckhand stop --help\n"},
		{[]string{"lanes"}, "deckhand: lanes wants a command\nhint: deckhand lanes --help\n"},
		{[]string{"journal", "--since", "soon"}, "deckhand: since soon is neither a time nor how long ago\nhint: deckhand journal --help\n"},
	}
	for _, tt := range tests {
		code, out, errs := run(t, tt.args...)
		if code != control.CodeUsage || out != "" || errs != tt.want {
			t.Errorf("%v: %d\n%s%s", tt.args, code, out, errs)
		}
		hint, _, _ := strings.Cut(errs[strings.Index(errs, "hint: deckhand ")+len("hint: deckhand "):], "\n")
		if code, _, errs := run(t, append(strings.Fields(hint), "--help")...); code != 0 {
			t.Errorf("the hint %q does not work: %s", hint, errs)
		}
	}
}

func TestErrorsAsJSON(t *testing.T) {
	code, out, errs := run(t, "status", "--json", "x\x1b")
	want := `{"error":"status: \"x\\x1b\" is too much","hint":"deckhand status --help","code":2}` + "\n"
	if code != control.CodeUsage || out != want || errs != "" {
		t.Errorf("%d %s %s", code, out, errs)
	}
}

func TestMatchesAreListed(t *testing.T) {
	var out, errs strings.Builder
	a := &app{out: &output{w: &out}, errs: &errs}
	code := a.end(&control.Error{Text: "2 cards match", Hint: "say more\nor less", Code: 1, Matches: []string{"Shop.md:3: a\x1b", "Shop.md:4: b"}}, false)
	if want := "deckhand: 2 cards match\n  Shop.md:3: a\\x1b\n  Shop.md:4: b\nhint: say more\nhint: or less\n"; code != 1 || errs.String() != want || out.String() != "" {
		t.Errorf("%d %q %q", code, out.String(), errs.String())
	}
}

func TestTableAlignsWideCharacters(t *testing.T) {
	var b strings.Builder
	table(&b, [][]string{{"Shop.md:1:", "held", "x"}, {"漢字.md:12:", "working", "y", ""}, {"", "hint", "z"}})
	want := "Shop.md:1:   held     x\n漢字.md:12:  working  y\n             hint     z\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestShortStatus(t *testing.T) {
	s := control.Status{Runs: []control.Run{{Status: "working"}, {Status: "working"}, {Status: "waiting"}, {Status: "done"}}, Held: make([]control.Held, 3)}
	if got := shortStatus(s); got != "2 working · 1 asks · 3 held" {
		t.Error(got)
	}
	if got := shortStatus(control.Status{Runs: []control.Run{{Status: "done"}}}); got != "" {
		t.Errorf("nothing goes on, and it says %q", got)
	}
}

func TestParseSince(t *testing.T) {
	zone := time.FixedZone("", 7*3600)
	now := time.Date(2026, 11, 30, 14, 3, 0, 0, zone)
	for in, want := range map[string]time.Time{
		"":                     time.Date(2026, 11, 30, 0, 0, 0, 0, zone),
		"90m":                  now.Add(-90 * time.Minute),
		"2026-11-29":           time.Date(2026, 11, 29, 0, 0, 0, 0, zone),
		"2026-11-29T01:00:00Z": time.Date(2026, 11, 29, 1, 0, 0, 0, time.UTC),
	} {
		if got, err := parseSince(in, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	if _, err := parseSince("-3h", now); err == nil {
		t.Error("the future is no time of the journal")
	}
}

func TestAmounts(t *testing.T) {
	small, big := 0.0031, 12.345
	if cost(nil) != "" || cost(&small) != "$0.0031" || cost(&big) != "$12.35" {
		t.Errorf("%s %s %s", cost(nil), cost(&small), cost(&big))
	}
	if lasted(252*time.Second+400*time.Millisecond) != "4m12s" || lasted(20*time.Millisecond) != "20ms" {
		t.Error(lasted(252 * time.Second))
	}
}

// Agents outlive the daemon also where a service manager starts it.
func TestUnitsLetAgentsLive(t *testing.T) {
	unit, err := os.ReadFile("../contrib/deckhand.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"KillMode=process", "OOMPolicy=continue", "Restart=on-failure", `ExecStart=%h/.local/bin/deckhand watch "%f"`} {
		if !strings.Contains(string(unit), "\n"+line+"\n") {
			t.Errorf("deckhand.service lacks %s", line)
		}
	}
	plist, err := os.ReadFile("../contrib/org.deckhand.plist")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(plist), "<key>AbandonProcessGroup</key>\n\t<true/>") {
		t.Error("org.deckhand.plist ends agents with the daemon")
	}
	if err := xml.Unmarshal(plist, new(struct{})); err != nil {
		t.Errorf("org.deckhand.plist: %v", err)
	}
}

// A shell without XDG_RUNTIME_DIR looks in the same place, and no place is too
// long for a socket.
func TestRuntimeDir(t *testing.T) {
	dir, long := t.TempDir(), "/tmp/"+strings.Repeat("x", 90)
	t.Setenv("TMPDIR", long)
	t.Setenv("XDG_RUNTIME_DIR", long)
	if got := runtimeDir(); len(got) > longestRuntime || !strings.Contains(got, "deckhand") {
		t.Error(got)
	}
	if len(dir) < 40 {
		t.Setenv("XDG_RUNTIME_DIR", dir)
		if got := runtimeDir(); got != dir+"/deckhand" {
			t.Error(got)
		}
	}
}
