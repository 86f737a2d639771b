package board

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"sync"

	"deckhand/internal/markdown"
)

// Recognise reports whether a file is a board. It looks at bytes before it
// reads anything as Markdown or YAML: of ten thousand notes few are boards.
// Dot folders, ignores and deckhand's own folder are the caller's.
func Recognise(path string, src []byte, o Options) bool {
	h, body := readHeader(src)
	switch {
	case h.own:
		return false
	case h.kanban || h.board || o.Named:
		return true
	}
	if h.project == "" && !mayHoldBox(src[body:]) || !mayHoldLane(src[body:]) {
		return false
	}
	return hasLane(src, body, newLaneNames(o.Lanes, h.lanes), h.project != "")
}

// mayHoldBox looks for the bytes of an empty box.
func mayHoldBox(body []byte) bool {
	return bytes.Contains(body, []byte("[ ]")) || bytes.Contains(body, []byte("[\u00a0]"))
}

// mayHoldLane looks for the bytes of a level-2 heading.
func mayHoldLane(body []byte) bool {
	return bytes.Contains(body, []byte("##")) || bytes.Contains(body, []byte("\n--")) || bytes.Contains(body, []byte("\n-\n"))
}

// hasLane looks for a level-2 heading named like a role's lane, and for an
// empty box under any level-2 heading unless a project makes up for it.
func hasLane(src []byte, body int, names laneNames, project bool) bool {
	lane, named, boxed := false, false, project
	for l := range markdown.Lines(src, body) {
		switch {
		case l.Quotes > 0:
		case l.Starts:
			boxed = boxed || lane && startsOpen(src, l)
		case l.Listed || l.Level == 0 || l.Level > 2:
		default:
			if lane = l.Level == 2; lane {
				title, _ := laneTitle(src, l.Title)
				role := names.role(title)
				named = named || role != NoRole && (role != Done || !project)
			}
		}
		if named && boxed {
			return true
		}
	}
	return false
}

// startsOpen reports whether an item begins with an empty box.
func startsOpen(src []byte, l markdown.Line) bool {
	box, _, ok := cutBox(string(src[l.Content:min(l.End, l.Content+8)]))
	return ok && l.Kind == markdown.Text && openBox(box)
}

// conflictNames are the forms in which sync programs name the copy of a file
// that was changed on two sides; the second group is what is left out.
// Syncthing; Dropbox, Nextcloud and OneDrive; Obsidian Sync; ownCloud.
var conflictNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(.+?)(` +
		`\.sync-conflict-\d{8}-\d{6}(-[0-9a-z]+)?` +
		`|[ _]\([^()]*conflict(ed)?( copy)?[^()]*\)` +
		`|_conflict-[^.]*` +
		`)((\.[^.]+)?)$`)
})

// ConflictCopy reports whether a path is the name of a conflict copy, and of
// which file.
func ConflictCopy(file string) (of string, ok bool) {
	name := path.Base(file)
	if !strings.Contains(strings.ToLower(name), "conflict") {
		return "", false
	}
	m := conflictNames().FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return path.Join(path.Dir(file), m[1]+m[6]), true
}

// inactive says why a file must not be written, if so.
func inactive(file string, src []byte, mergeLine int) string {
	if of, ok := ConflictCopy(file); ok {
		return "conflict copy of " + path.Base(of) + ", merge it by hand"
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return "NUL bytes, line " + lineNumber(src, i)
	}
	if mergeLine > 0 {
		return "merge markers, line " + itoa(mergeLine)
	}
	return ""
}
