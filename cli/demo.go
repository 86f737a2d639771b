package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/shell"
)

// demoCard is what the person in the demo writes and saves.
const demoCard = "- [ ] Checkout with QRIS [[Specification#Payment]] @pi #feature\n"

func (a *app) demoCmd() *cobra.Command {
	var keep, ask bool
	c := &cobra.Command{
		Use: "demo", Short: "the whole way of a card, on a throwaway folder, without an account", Args: atMost(0),
		Long: `Makes a work folder, a project and a stand-in for pi that needs no model, saves a
card, and shows what becomes of it. It uses the same daemon, keeper and driver as
real work, and touches nothing of yours. With --ask the stand-in asks before it
writes, three cards one after the other, and waits for your answers.`,
	}
	c.Flags().BoolVar(&keep, "keep", false, "leave the folder for a look around")
	c.Flags().BoolVar(&ask, "ask", false, "be asked, and answer: in an editor, in the pane, on the command line")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), keep, ask) }
	return c
}

// stage is the demo's throwaway folder.
type stage struct{ root string }

func (s stage) path(parts ...string) string {
	return filepath.Join(append([]string{s.root}, parts...)...)
}

func (a *app) demo(ctx context.Context, keep, ask bool) (err error) {
	root, err := os.MkdirTemp("", "deckhand-demo-")
	if err != nil {
		return err
	}
	s := stage{root: realPath(root)}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(s.root)) }()
	}
	if err := s.build(ctx); err != nil {
		return err
	}
	var log bytes.Buffer
	o := daemon.Options{
		Dir: s.path("notes"), Config: s.path("config", "deckhand", "config.yaml"),
		State: s.path("state", "deckhand"), Runtime: runtimeDir(), // the sockets' names differ
		Log: &log, Version: version(),
	}
	// Rights first, then the card: cards that were there before would wait.
	if err := daemon.Grant(ctx, o, daemon.Grants{Trust: true}); err != nil {
		return err
	}
	card := demoCard
	if ask {
		card = askCards
		if err := os.WriteFile(s.path("notes", "deckhand.yaml"), []byte(askSettings), 0o600); err != nil {
			return err
		}
	}
	before, err := s.save(card)
	if err != nil {
		return err
	}
	a.say("a person saves this under ## Plan of Shop.md:\n\n  %s\nand deckhand watch takes it from there …\n", strings.ReplaceAll(card, "\n- ", "\n  - "))
	if ask {
		err = a.demoAsk(ctx, o)
	} else {
		err = demoOnce(ctx, o)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, log.String())
	}
	return a.demoShow(context.WithoutCancel(ctx), o, s, before, keep)
}

// demoOnce runs a daemon until nothing is left to do.
func demoOnce(ctx context.Context, o daemon.Options) error {
	o.Once = true
	out, err := daemon.Run(ctx, o)
	if err == nil && out.Live > 0 {
		err = errors.New("the stand-in is still at work")
	}
	return err
}

// build makes the notes, the project and a configuration that knows the stand-in.
func (s stage) build(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	conf := fmt.Sprintf(`trust: [%q]
projects:
  web-ecommerce: {folder: %q, boards: [Shop.md]}
agents:
  pi: {driver: pi, command: [%q, standin]}
`, s.path("notes"), s.path("web-ecommerce"), exe)
	board := strings.Replace(sampleKanban, "- [ ] Checkout with QRIS [[Specification#Payment]]\n\tUse the official SDK.\n", "", 1)
	for _, f := range []struct{ path, text string }{
		{s.path("config", "deckhand", "config.yaml"), conf},
		{s.path("notes", "Shop.md"), board},
		{s.path("notes", "Specification.md"), sampleNote},
		{s.path("web-ecommerce", "README.md"), "# The shop\n"},
	} {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(f.path, []byte(f.text), 0o600); err != nil {
			return err
		}
	}
	return s.repository(ctx)
}

// repository makes the project one of git, where git is installed.
func (s stage) repository(ctx context.Context) error {
	if _, err := exec.LookPath("git"); err != nil {
		return nil
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=deckhand", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "The shop"},
	} {
		if out, err := git(ctx, s.path("web-ecommerce"), args...); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// save writes cards as a person's editor would, and gives the board so far.
func (s stage) save(cards string) ([]byte, error) {
	path := s.path("notes", "Shop.md")
	board, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	head, rest, ok := bytes.Cut(board, []byte("## Plan\n\n"))
	if !ok {
		return nil, errors.New("the sample board has no ## Plan")
	}
	board = bytes.Join([][]byte{head, []byte("## Plan\n\n" + cards), rest}, nil)
	return board, os.WriteFile(path, board, 0o600)
}

func (a *app) demoShow(ctx context.Context, o daemon.Options, s stage, before []byte, keep bool) error {
	diff, err := s.diff(ctx, before)
	if err != nil {
		return err
	}
	a.say("%s", cleanText(diff))
	r, err := daemon.Open(ctx, o)
	if err != nil {
		return err
	}
	status, err := r.Status(ctx)
	if err != nil {
		return err
	}
	for _, run := range status.Runs {
		if run.Status != "done" && run.Status != "stopped" {
			return &control.Error{Text: "the run ended as " + run.Status + ": " + run.Reason, Code: control.CodeError}
		}
		a.say("what was said   %s", clean(filepath.Join(o.Dir, run.Chat)))
	}
	if len(status.Runs) == 0 {
		return errors.New("the card was not worked on")
	}
	a.say("what it did     %s", clean(s.path("web-ecommerce")))
	a.say("what was done   %s", clean(s.path("notes", "deckhand", "journal")))
	if keep {
		a.say("\nnext: XDG_CONFIG_HOME=%s XDG_STATE_HOME=%s deckhand --dir %s journal",
			shell.Quote(s.path("config")), shell.Quote(s.path("state")), shell.Quote(o.Dir))
		return nil
	}
	a.say("\nall of it is removed again; deckhand demo --keep leaves it for a look around\nnext: deckhand init ~/notes")
	return nil
}

// diff is the board before and after, by git where it is installed.
func (s stage) diff(ctx context.Context, before []byte) (string, error) {
	after, err := os.ReadFile(s.path("notes", "Shop.md"))
	if err != nil {
		return "", err
	}
	old := s.path("Shop.md before")
	if err := os.WriteFile(old, before, 0o600); err != nil {
		return "", err
	}
	out, err := git(ctx, s.root, "diff", "--no-index", "--no-color", "--no-ext-diff", "--", old, s.path("notes", "Shop.md"))
	if _, hunks, ok := strings.Cut(out, "\n@@"); ok {
		return "--- Shop.md, as saved\n+++ Shop.md, now\n@@" + hunks, nil
	}
	if err == nil {
		return "", errors.New("the board did not change")
	}
	return fmt.Sprintf("Shop.md, as saved:\n\n%s\nShop.md, now:\n\n%s", before, after), nil
}
