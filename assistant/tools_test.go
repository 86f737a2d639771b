package assistant

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWordsOfTools: models choose tools by name and description, and hesitate
// where these speak of another kind of document than the one at hand.
func TestWordsOfTools(t *testing.T) {
	narrow := regexp.MustCompile(`(?i)\b(manuscript|book|novel|chapter|scene|author|article|blog|wiki|code|codebase|source|program|function|class|bug|repository|repo|project|script|notebook|meeting minutes|vault)s?\b`)
	a := &agent{o: Options{Read: ReadAll}}
	tools := ""
	for _, one := range a.tools() {
		params, err := json.Marshal(one.params)
		if err != nil {
			t.Fatal(err)
		}
		tools += strings.ReplaceAll(one.name, "_", " ") + ": " + one.about + " " + string(params) + "\n"
	}
	for what, text := range map[string]string{"tools": tools, "identity": identity + limited + unread, "last round": lastRound} {
		if hit := narrow.FindString(text); hit != "" {
			t.Errorf("%s speak of %q", what, hit)
		}
	}
	if n := len(a.tools()); n != 17 {
		t.Errorf("%d tools", n)
	}
}

func TestToolsByWhatMayBeRead(t *testing.T) {
	names := func(read string) (out []string) {
		for _, tool := range (&agent{o: Options{Read: read}}).tools() {
			out = append(out, tool.name)
		}
		return out
	}
	if got := names(ReadNone); !slices.Equal(got, []string{"create_file", "set_work"}) {
		t.Errorf("none: %q", got)
	}
	linked := names(ReadLinked)
	if slices.Contains(linked, "git_show") || !slices.Contains(linked, "read_file") {
		t.Errorf("linked: %q", linked)
	}
}

// repo is a folder with a history; the commands are git's own.
func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, step := range [][]string{
		{"init", "-q"}, {"add", "."}, {"commit", "-qm", "first", "--allow-empty"},
	} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=a@b"}, step...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("no git: %v %s", err, out)
		}
	}
	return dir
}

// TestGitAlwaysAnswers: a git that hangs, and one that is gone while something
// it started holds its output, are failures that can be read.
func TestGitAlwaysAnswers(t *testing.T) {
	dir := repo(t)
	for name, test := range map[string]struct {
		alias string
		limit git
		want  string
	}{
		"hangs":      {"!sleep 30", git{limit: 100 * time.Millisecond, grace: time.Minute}, "git did not finish within"},
		"lost":       {"!sleep 30 & exit 0", git{limit: time.Minute, grace: 100 * time.Millisecond}, "git finished but its result was lost; try again"},
		"asks":       {"!read line </dev/tty && echo $line", git{limit: time.Minute, grace: time.Minute}, "git: "},
		"reads":      {"!cat", git{limit: time.Minute, grace: time.Minute}, ""},
		"unknown":    {"nonsense", git{limit: time.Minute, grace: time.Minute}, "git: "},
		"no trouble": {"log -n 1", git{limit: time.Minute, grace: time.Minute}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.limit.run(t.Context(), dir, "-c", "alias.x="+test.alias, "x")
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newGit().run(ctx, dir, "log"); err == nil {
		t.Error("one that is not wanted any more gives something")
	}
}

// TestGitTools: what is shown of the history are documents, and no name of an
// entry or a document is an option.
func TestGitTools(t *testing.T) {
	dir := repo(t)
	for name, text := range map[string]string{"a.md": "one\n", "code.go": "package secret\n", ".hidden.md": "x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range [][]string{{"add", "."}, {"commit", "-qm", "second"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=a@b"}, step...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: dir, Read: ReadAll}
	f, err := openFolder(o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	tn := &turn{a: &agent{o: o, folder: f}, ctx: t.Context()}
	for call, want := range map[[2]string]string{
		{"git_log", `{}`}:                                  "Ann: second\n",
		{"git_show", `{"commit":"HEAD"}`}:                  "+one\n",
		{"git_show", `{"commit":"HEAD","file":"a.md"}`}:    "1\tone\n",
		{"git_diff", `{}`}:                                 "-one\n+two\n",
		{"git_diff", `{"commit":"--output=/tmp/x"}`}:       "is no entry of the history",
		{"git_diff", `{"commit":"HEAD","file":"code.go"}`}: "no document is called",
		{"git_log", `{"file":".hidden.md"}`}:               "no document is called",
		{"git_show", `{"commit":"HEAD","file":"../a.md"}`}: "no document is called",
		{"git_show", `{"commit":"HEAD:code.go"}`}:          "is no entry of the history",
		{"git_show", `{"commit":"0123456789","file":""}`}:  "git: ",
		{"git_log", `{"file":"none.md"}`}:                  "the history holds nothing",
	} {
		out := ""
		for _, tool := range gitTools() {
			if tool.name == call[0] {
				out, _ = tool.run(tn, []byte(call[1]))
			}
		}
		if !strings.Contains(out, want) || strings.Contains(out, "secret") {
			t.Errorf("%v: got %q, want %q", call, out, want)
		}
	}
}
