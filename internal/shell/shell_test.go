package shell

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "''",
		"plain":                  "plain",
		"Shop.md:12":             "Shop.md:12",
		"計画/Ü.md":                "計画/Ü.md",
		"it's":                   `'it'\''s'`,
		"a b":                    "'a b'",
		"$(touch pwned)":         "'$(touch pwned)'",
		"`id`; a & b | c > d":    "'`id`; a & b | c > d'",
		`a\'b`:                   `'a'\\''\''b'`,
		"~root":                  "'~root'",
		"=ls":                    "'=ls'",
		"%self":                  "'%self'",
		"-x":                     "-x",
		"{a,b} [c] * ? # ! ^ \"": "'{a,b} [c] * ? # ! ^ \"'",
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestPathAndOperand(t *testing.T) {
	for in, want := range map[string]string{
		"~": "~", "~/": "'~/'", "~/my notes": "~/'my notes'", "~/notes": "~/notes", "/a b": "'/a b'", "~root": "'~root'", "-x": "-- -x", "-$x": "-- '-$x'",
	} {
		if got := Path(in); got != want {
			t.Errorf("path %q: got %s, want %s", in, got, want)
		}
	}
	if got := Operand("--all"); got != "-- --all" {
		t.Errorf("got %s", got)
	}
}

func TestUnfit(t *testing.T) {
	for in, want := range map[string]bool{
		"plain ä 漢字 🟢": false, "$(id)": false, "a\nb": true, "\x1b[31m": true, "\u202egnp": true, "\xff": true, "a\u00a0b": true, "\u2028": true, "\x7f": true,
	} {
		if got := Unfit(in); got != want {
			t.Errorf("%q: got %v", in, got)
		}
	}
}

// readers are the shells of this machine, and how each prints its arguments.
func readers(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, name := range []string{"sh", "bash", "zsh", "fish"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		t.Skip("no shell")
	}
	return found
}

// TestShellsReadTheWord asks the shells themselves.
func TestShellsReadTheWord(t *testing.T) {
	words := []string{
		"", "plain", "it's", `back\slash`, `\'`, `'\''`, `\`, `\\`, "$(touch pwned)", "`touch pwned`", "$HOME ${HOME}", "~", "~/x", "=ls", "a;touch pwned", "a&b|c>d<e",
		"{a,b}", "*", "[a]?", "#x", "!x!!", "^a^b", "\"", "%1", "(x)", "a=b", `'$(touch pwned)'`, `\'$(touch pwned)\'`, "tab\tand\nline", "ä 漢字 🟢",
	}
	for _, path := range readers(t) {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = Quote(w)
		}
		dir := t.TempDir()
		c := exec.Command(path, "-c", `printf '<%s>\0' `+strings.Join(quoted, " "))
		c.Dir = dir
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if want := "<" + strings.Join(words, ">\x00<") + ">\x00"; string(out) != want {
			t.Errorf("%s: got %q, want %q", path, out, want)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: something ran: %v %v", path, entries, err)
		}
	}
}
