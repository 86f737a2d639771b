package daemon

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestRunsBase: it is made once, for Obsidian only, and never over a person's.
func TestRunsBase(t *testing.T) {
	const rel = "deckhand/" + baseName
	gone := func(p *placeT) bool {
		_, err := os.Stat(p.at(rel))
		return errors.Is(err, fs.ErrNotExist)
	}
	mkdir := func(p *placeT, name string) {
		if err := os.MkdirAll(p.at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	plain := newPlace(t, fast, shopBoard)
	plain.once()
	if !gone(plain) {
		t.Error("there is a Runs.base where Obsidian is not")
	}

	p := newPlace(t, fast, shopBoard)
	mkdir(p, ".obsidian")
	p.once()
	var base struct {
		Filters struct{ And []string }
		Views   []struct{ Name string }
	}
	if err := yaml.Unmarshal([]byte(p.read(rel)), &base); err != nil || len(base.Views) != 2 || base.Filters.And[0] != `file.inFolder("deckhand/chats")` {
		t.Errorf("%v %+v", err, base)
	}
	if err := os.Remove(p.at(rel)); err != nil {
		t.Fatal(err)
	}
	p.once()
	if !gone(p) {
		t.Error("it came back")
	}

	own := newPlace(t, fast, shopBoard)
	mkdir(own, ".obsidian")
	mkdir(own, "deckhand")
	own.write(own.at(rel), "mine\n")
	own.once()
	if own.read(rel) != "mine\n" || strings.Contains(own.log.String(), baseName) {
		t.Errorf("%s\n%s", own.read(rel), own.log)
	}

	idle := newPlace(t, fast, "# Nothing to do\n")
	mkdir(idle, ".obsidian")
	idle.once()
	if !gone(idle) {
		t.Error("it was made before there is a run")
	}
}
