package cli

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/internal/config"
	"deckhand/internal/control"
)

func (a *app) projectCmd() *cobra.Command {
	c := &cobra.Command{Use: "project", Short: "the folders in which agents may work", Args: noCommand}
	c.RunE = func(c *cobra.Command, _ []string) error { return usage(c, "project wants a command") }
	c.AddCommand(a.projectAddCmd(), a.projectListCmd(), a.projectRemoveCmd())
	return c
}

func (a *app) projectAddCmd() *cobra.Command {
	var boards []string
	c := &cobra.Command{
		Use: "add NAME FOLDER", Short: "register a folder", Args: cobra.MatchAll(atLeast(2, "NAME or FOLDER"), atMost(2)),
		Long: `Puts the project into the machine's configuration. A card belongs to it by
#project/NAME, by project: in its board's header, or by --board.`,
		Example: "  deckhand project add web-ecommerce ~/web-ecommerce --board Shop.md",
	}
	c.Flags().StringArrayVar(&boards, "board", nil, "a board whose cards belong to it, relative to the work folder; may be given again")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.projectAdd(c.Context(), args[0], args[1], boards)
	}
	return c
}

func (a *app) projectAdd(ctx context.Context, name, folder string, boards []string) error {
	dir, err := existing(folder)
	if err != nil {
		var e *control.Error
		if errors.As(err, &e) {
			e.Hint = "" // init is for notes, not for projects
		}
		return err
	}
	if err := a.refuse(dir); err != nil {
		return err
	}
	for i := range boards {
		boards[i] = filepath.ToSlash(filepath.Clean(boards[i]))
		if !filepath.IsLocal(boards[i]) {
			return &control.Error{Text: boards[i] + " is not in the work folder", Hint: "name the board relative to the work folder: --board Shop.md", Code: control.CodeUsage}
		}
	}
	byHand := "write into it: projects: {" + name + ": {folder: " + tilde(dir) + "}}"
	err = a.changeConfig(byHand, func(src []byte) ([]byte, error) { return config.AddProject(src, name, tilde(dir), boards) })
	if err != nil {
		return err
	}
	if err := a.grantAll(ctx); err != nil {
		return err
	}
	a.say("%s: agents will work in %s itself, one at a time; %s", name, clean(tilde(dir)), uncommitted(ctx, dir))
	for _, b := range boards {
		a.say("cards of %s belong to it", clean(b))
	}
	return nil
}

// refuse names the folders in which no agent may work, before they are written
// down. The daemon judges again, each time.
func (a *app) refuse(dir string) error {
	real, text := realPath(dir), ""
	switch {
	case real == "/":
		text = "/ is the whole machine"
	case real == realPath(home()):
		text = tilde(real) + " is the home folder"
	default:
		m, err := a.machine()
		if err != nil {
			return err
		}
		for _, work := range m.Trust {
			if w := realPath(work); real == w || strings.HasPrefix(real, w+"/") {
				text = tilde(dir) + " lies inside the work folder " + tilde(w)
			}
		}
	}
	if text == "" {
		return nil
	}
	return &control.Error{Text: text + ": no agent works there", Code: control.CodeError}
}

// uncommitted says what an agent's changes would be mixed with.
func uncommitted(ctx context.Context, dir string) string {
	if _, err := git(ctx, dir, "rev-parse", "--git-dir"); err != nil {
		return "it is no git repository, so nothing tells your changes from theirs"
	}
	out, err := git(ctx, dir, "status", "--porcelain", "-z")
	if err != nil {
		return "git status fails there"
	}
	n := strings.Count(out, "\x00")
	if n == 0 {
		return "nothing uncommitted"
	}
	return count(n, "uncommitted file", "uncommitted files")
}

func (a *app) projectListCmd() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "the registered folders", Args: atMost(0)}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		m, err := a.machine()
		if err != nil {
			return err
		}
		var list control.Projects
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(m.Projects)) {
			p := m.Projects[name]
			list.Projects = append(list.Projects, control.Project{Name: name, Folder: p.Folder, Boards: p.Boards})
			there := ""
			if _, err := os.Stat(p.Folder); err != nil {
				there = "is not there"
			}
			rows = append(rows, []string{name, tilde(p.Folder), joined(strings.Join(p.Boards, ", "), there)})
		}
		if *asJSON {
			return a.json(list)
		}
		table(a.out, rows)
		if len(rows) == 0 {
			a.say("no project yet: deckhand project add NAME FOLDER")
		}
		return nil
	}
	return c
}

func (a *app) projectRemoveCmd() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use: "remove NAME", Short: "take a folder out again", Args: cobra.MatchAll(atLeast(1, "NAME"), atMost(1)),
		Long: "No card starts in the folder any more. Agents at work there are stopped, unless --keep lets them end by themselves. Nothing in the folder is touched.",
	}
	c.Flags().BoolVar(&keep, "keep", false, "agents at work go on")
	c.RunE = func(c *cobra.Command, args []string) error { return a.projectRemove(c.Context(), args[0], keep) }
	return c
}

func (a *app) projectRemove(ctx context.Context, name string, keep bool) error {
	found := false
	err := a.changeConfig("take "+name+" out of projects: there", func(src []byte) (out []byte, err error) {
		out, found, err = config.RemoveProject(src, name)
		return out, err
	})
	if err != nil {
		return err
	}
	if !found {
		return &control.Error{Text: "no project " + name, Hint: "deckhand project list", Code: control.CodeError}
	}
	if err := a.grantAll(ctx); err != nil {
		return err
	}
	a.say("%s is registered no more; its folder stays as it is", clean(name))
	m, err := a.machine()
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range m.Trust {
		if _, err := os.Stat(dir); err == nil {
			errs = append(errs, a.revoked(ctx, dir, keep, func(r control.Run) bool { return r.Project == name }))
		}
	}
	return errors.Join(errs...)
}
