package daemon

import (
	"errors"
	"fmt"
	"os"
	"path"

	"deckhand/internal/store"
)

// baseName is a table of the chats for Obsidian's Bases, in output:.
const baseName = "Runs.base"

// baseText is the file. It is a person's from then on.
func baseText(output string) []byte {
	return fmt.Appendf(nil, `filters:
  and:
    - file.inFolder(%q)
    - file.hasProperty("run")
views:
  - type: table
    name: Runs
    order:
      - file.name
      - status
      - agent
      - project
      - board
      - created
      - cost
      - tokens
    sort:
      - property: created
        direction: DESC
  - type: table
    name: Needs a person
    filters:
      or:
        - status == "asks"
        - status == "review"
        - status == "failed"
        - status == "interrupted"
    order:
      - file.name
      - status
      - agent
      - board
      - created
    sort:
      - property: created
        direction: DESC
`, path.Join(output, "chats"))
}

// runsBase writes the table once in the life of a work folder that Obsidian
// opens: never over a file that is there, and not again when it was deleted.
func (d *daemon) runsBase() {
	if d.based || !d.wiki || len(d.runs) == 0 || !d.decides() || d.held().Text != "" {
		return
	}
	d.based = true
	rel, mark := path.Join(d.settings.Output, baseName), d.f.path("runs-base")
	text := baseText(d.settings.Output)
	d.queues.add("file:"+rel, func() any {
		if _, err := os.Stat(mark); err == nil {
			return nil
		}
		if err := d.store.Create(d.ctx, rel, text); err != nil && !errors.Is(err, store.ErrExists) {
			return err
		}
		return os.WriteFile(mark, []byte(rel+"\n"), 0o600)
	}, func(v any) {
		if err, _ := v.(error); err != nil && d.ctx.Err() == nil {
			d.say("%s: %v", rel, err) // tried again at the next start
		}
	})
}
