package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/shell"
)

// settingsText is the deckhand.yaml that init writes: nothing is set, so that
// what a later version does better by default reaches this folder too.
const settingsText = `# deckhand.yaml: preferences for this folder. All of it is optional; what stands
# behind a # is the default. Commands, projects and rights are not set here but
# on each machine, by deckhand project and deckhand trust.

# boards: ["**/*.md"]
# ignore: ["Templates/**", "templates/**", "**/node_modules/**"]
# output: deckhand       # the folder that deckhand writes to
# settle: 3s             # a moved card starts this long after the save
# typing: 10s            # and this long after its text last changed
# add_lanes: no          # yes: add a working and a review lane where they lack
# marks: emoji           # or text
# notes: {links: 10, per_note: 20000, total: 60000}   # characters in a prompt
# lanes:
#   ready:   [Plan, Ready, To do, Todo, Next, Up next]
#   working: [In progress, Doing, Working, WIP]
#   review:  [Review, In review, To review]
#   done:    [Done, Completed, Complete, Shipped, Closed]
`

const samplePlain = `# Shop

## Ideas

- [ ] A newsletter

## Plan

- [ ] Checkout with QRIS [[Specification#Payment]]
	Use the official SDK.

## In progress

## Review

## Done

- [x] Choose a name
`

const sampleKanban = `---

kanban-plugin: board

---

## Ideas

- [ ] A newsletter


## Plan

- [ ] Checkout with QRIS [[Specification#Payment]]
	Use the official SDK.


## In progress



## Review



## Done

**Complete**
- [x] Choose a name




%% kanban:settings
` + "```" + `
{"kanban-plugin":"board","list-collapse":[false,false,false,false,false]}
` + "```" + `
%%
`

const sampleNote = `# Specification

## Payment

QRIS, in the sandbox first. A payment is confirmed by the callback, never by the
browser. Amounts are whole rupiah.

## Delivery

By courier, the next day.
`

func (a *app) initCmd() *cobra.Command {
	var sample, obsidian bool
	c := &cobra.Command{
		Use: "init [DIR]", Short: "make a folder of notes a work folder", Args: atMost(1),
		Long: `Writes a deckhand.yaml in which nothing is set, says which boards it sees and
what each lane means, and what to type next. A sample board is written only into
an empty folder, or with --sample. Nothing is ever overwritten.`,
	}
	c.Flags().BoolVar(&sample, "sample", false, "write a sample board and note too")
	c.Flags().BoolVar(&obsidian, "obsidian", false, "write the sample board for Obsidian Kanban")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		} else if a.dirFlag != "" {
			dir = a.dirFlag
		}
		return a.initFolder(c.Context(), dir, sample, obsidian)
	}
	return c
}

func (a *app) initFolder(ctx context.Context, dir string, sample, obsidian bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	empty, err := isEmpty(dir)
	if err != nil {
		return err
	}
	files := map[string]string{settingsName: settingsText}
	names := []string{settingsName}
	if sample || empty {
		files["Shop.md"], files["Specification.md"] = samplePlain, sampleNote
		if obsidian {
			files["Shop.md"] = sampleKanban
		}
		names = append(names, "Shop.md", "Specification.md")
	}
	for _, name := range names {
		switch err := writeNew(filepath.Join(dir, name), files[name]); {
		case errors.Is(err, fs.ErrExist):
			a.say("%s is there already and stays as it is", name)
		case err != nil:
			return err
		default:
			a.say("%s written", name)
		}
	}
	return a.introduce(ctx, dir)
}

// isEmpty reports whether a folder holds nothing that a person put there.
func isEmpty(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			return false, err
		}
	}
	return true, err
}

// writeNew makes a file and never replaces one.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// introduce says what deckhand sees in a folder and what comes next.
func (a *app) introduce(ctx context.Context, dir string) error {
	r, err := daemon.Open(ctx, a.options(dir))
	if err != nil {
		return err
	}
	boards, err := r.Boards(ctx)
	if err != nil {
		return err
	}
	board := "BOARD.md"
	for _, b := range boards {
		if board == "BOARD.md" && b.Inactive == "" && !shell.Unfit(b.Path) {
			board = b.Path
		}
		a.printBoard(b)
	}
	if len(boards) == 0 {
		a.say("\nno board yet: a Markdown file with a heading like ## Plan and a card, - [ ] text, below it")
	}
	a.say("\nnext:")
	table(a.out, [][]string{
		{"  deckhand project add NAME FOLDER --board " + shell.Quote(board), "the folder in which agents work for these cards"},
		{"  deckhand trust " + shell.Path(tilde(dir)), "let cards of this folder start agents"},
		{"  deckhand watch " + shell.Path(tilde(dir)), "start; then put @pi on a card"},
	})
	return nil
}

func (a *app) printBoard(b control.Board) {
	project := ""
	if b.Project != "" {
		project = "project " + b.Project
	}
	kind := "board"
	if b.Kanban {
		kind = "Obsidian Kanban board"
	}
	a.say("\n%s: %s", clean(b.Path), clean(joined(kind, project, b.Inactive)))
	var rows [][]string
	for _, l := range b.Lanes {
		limit := ""
		if l.Limit > 0 {
			limit = fmt.Sprintf("at most %d agents at work", l.Limit)
		}
		rows = append(rows, []string{"  " + l.Title, count(l.Cards, "card", "cards"), joined(meaning(l.Role), limit)})
	}
	table(a.out, rows)
}

// meaning is what a lane of a role means to deckhand.
func meaning(role string) string {
	switch role {
	case "ready":
		return "ready: a card with an agent starts from here"
	case "working":
		return "working: cards of agents at work stand here"
	case "review":
		return "review: finished cards come here"
	case "done":
		return "done: for you to put accepted cards"
	}
	return "starts nothing"
}
