// Package hostile proves that what others write, in notes, names, settings and
// the words of an agent, is data: it reaches nothing outside, starts nothing,
// says nothing in deckhand's name, and moves no terminal.
package hostile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"deckhand/internal/robust"
)

var suite = robust.Suite{Section: "hostile"}

func TestMain(m *testing.M) { suite.Main(m) }

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func boardOf(project string, cards ...string) string {
	return "---\nproject: " + project + "\n---\n\n## Plan\n\n" + strings.Join(cards, "") + "\n## In Progress\n\n## Review\n"
}

// evil is what a terminal would obey and a reader would not see: the title, the
// clipboard, colours, a cleared screen, C1, turned and hidden text, a return.
const evil = "\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x1b\\\x1b[2J\x1b[31mred\u009b31m\u0090q\u009c\x08\x7f\u202egnp\u2066x\u2069\u200f\ufeff\u200b\u2060\U000e0041\rover"

// obeyed are the characters of a text that a terminal obeys or that hide what is
// read; line ends and tabs of the program's own are none.
func obeyed(text string) []string {
	var out []string
	for i, r := range text {
		hidden := unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || unicode.In(r, unicode.Cf) && r != '\u200d' && r != '\u200c'
		if r != '\n' && r != '\t' && hidden {
			out = append(out, fmt.Sprintf("%U in %q", r, text[max(0, i-30):min(len(text), i+30)]))
		}
	}
	return out
}

// clean looks that a text holds nothing of that kind.
func clean(t *testing.T, what, text string) {
	t.Helper()
	if bad := obeyed(text); len(bad) > 0 {
		t.Errorf("%s holds %d such characters: %s", what, len(bad), bad[0])
	}
}

// tree is a hash of everything below a folder, names and modes too.
func tree(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %v %d\n", path, info.Mode(), info.Size())
		if e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			h.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// ours is what deckhand has added to a file that somebody else wrote.
func ours(now, was string) string {
	had := map[string]bool{}
	for line := range strings.Lines(was) {
		had[strings.TrimSpace(line)] = true
	}
	var b strings.Builder
	for line := range strings.Lines(now) {
		if !had[strings.TrimSpace(line)] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// said are the commands that look, and those that fail with the words they got.
func said(run, card string) [][]string {
	return [][]string{
		{"status"},
		{"status", "--short"},
		{"status", "--json"},
		{"why", card},
		{"why", card, "--json"},
		{"prompt", card},
		{"log", run},
		{"log", run, "--json"},
		{"chat", run},
		{"journal"},
		{"journal", "--json"},
		{"doctor"},
		{"doctor", "--json"},
		{"agents"},
		{"project", "list"},
		{"why", evil},
		{"why", evil, "--json"},
		{"log", evil},
		{"chat", evil},
		{"stop", evil},
		{"prompt", evil},
		{"status", "--dir", evil},
		{evil},
		{"status", "--" + evil},
		{"lanes", "add", evil},
		{"watch", "--once", evil},
		{"add", "--board", evil, "x"},
		{"adopt", evil},
		{"replay", evil},
		{"doctor", "--config", evil},
	}
}

// TestNoTerminalObeys: text of others in titles, notes, lanes, names, settings,
// and everything an agent says and does, comes out of every command without a
// character that a terminal obeys or that hides what is read; and what deckhand
// writes into boards, chats, journal and Needs me holds none either.
func TestNoTerminalObeys(t *testing.T) {
	ctx := bounded(t)
	p := robust.NewPlace(t, robust.Fast+evil+": 1\nboards: [\"**/*.md\"]\nlanes: {ready: [\"Plan\", \"\u202ex\"]}\n", "shop")
	p.Write(p.Path("shop/answer"), "I did it "+evil+"\n"+evil+"\n")
	p.Write(p.Path("shop/"+strings.ReplaceAll(evil, "/", "")), "a file the agent lists")
	p.Write(p.Path("shop/raw"), "no JSON "+evil+"\n{\"type\":\"extension_ui_request\",\"id\":\"x\",\"method\":\"notify\",\"message\":\"a\u202eb\\u001b[31m\"}")
	boards := map[string]string{
		"Shop.md": boardOf("shop", "- [ ] Say "+evil+" [say:answer] @pi\n\t[raw:raw] note "+evil+"\n", "- [ ] Fail"+evil+" [fail] @pi\n"),
		strings.ReplaceAll("B"+evil, "/", "") + ".md": boardOf("nowhere"+strings.ReplaceAll(evil, "\r", ""), "- [ ] Held "+evil+" @pi\n", "- [ ] Two @pi @"+evil+"\n"),
		"Lanes.md":                               strings.Replace(boardOf("shop", "- [ ] Lane @pi after: [["+evil+"]]\n"), "## Review\n", "## Rev"+evil+"\n", 1),
		"Conflict (conflicted copy).md":          boardOf("shop", "- [ ] "+evil+" @pi\n"),
		"deckhand/journal/2001-01-01 journal.md": "## 14:03 · applied · " + evil + "\n\nreason:: " + evil + "\n\n%% event:: 01KB7X2M0000000000000000AB run:: 01KB7X2M0000000000000000AA at:: 2001-01-01T14:03:12.412Z %%\n",
	}
	for rel, text := range boards {
		if err := os.MkdirAll(filepath.Dir(p.At(rel)), 0o700); err != nil {
			t.Fatal(err)
		}
		p.Save(rel, text)
	}
	p.Once(ctx)
	if !strings.Contains(p.Lane("Shop.md", "Review"), "pi: review") {
		t.Fatalf("the card was not done:\n%s\n%s", p.Read("Shop.md"), p.Log)
	}
	clean(t, "the daemon's log", p.Log.String())
	for _, args := range said("Say", "Held") {
		s := p.Type(ctx, args...)
		if s.Out+s.Err == "" && args[len(args)-1] != "--short" {
			t.Errorf("%q says nothing", args)
		}
		clean(t, fmt.Sprintf("%.40q, standard output,", args), s.Out)
		clean(t, fmt.Sprintf("%.40q, standard error,", args), s.Err)
	}
	// A return is a line end for an editor.
	file := func(rel, was string) { clean(t, rel, strings.ReplaceAll(ours(p.Read(rel), was), "\r", "")) }
	for rel, was := range boards {
		file(rel, was)
	}
	written := 0
	err := filepath.WalkDir(p.At("deckhand"), func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.Work, path)
		if err != nil || !e.Type().IsRegular() || boards[rel] != "" {
			return err
		}
		written++
		clean(t, fmt.Sprintf("the name %q", rel), rel)
		file(rel, boards["Shop.md"])
		return nil
	})
	if err != nil || written < 5 {
		t.Errorf("%d files were written: %v", written, err)
	}
	suite.Figure(t, "commands and files read for what a terminal obeys", "%d and %d, none found", len(said("", "")), written+len(boards))
}
