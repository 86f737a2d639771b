package daemon

import (
	"path"
	"strings"
)

// globs are patterns of relative paths, `**` for any number of folders.
type globs []string

// match reports whether one of the patterns means this path.
func (g globs) match(rel string) bool {
	for _, pattern := range g {
		if matchParts(parts{pattern, true}, parts{rel, true}) {
			return true
		}
	}
	return false
}

// folder reports whether a pattern means everything below this folder.
func (g globs) folder(rel string) bool { return g.match(rel+"/x") && g.match(rel+"/x/x") }

// parts are what is left of a path. Each path of a folder meets each pattern, so
// nothing is split beforehand.
type parts struct {
	path string
	any  bool
}

func (p parts) cut() (first string, rest parts) {
	first, path, more := strings.Cut(p.path, "/")
	return first, parts{path, more}
}

func matchParts(pattern, rel parts) bool {
	for pattern.any {
		glob, rest := pattern.cut()
		if glob == "**" {
			return matchAnywhere(rest, rel)
		}
		if !rel.any {
			return false
		}
		name, below := rel.cut()
		if ok, err := path.Match(glob, name); err != nil || !ok {
			return false
		}
		pattern, rel = rest, below
	}
	return !rel.any
}

// matchAnywhere matches what is behind a ** with each end of a path.
func matchAnywhere(pattern, rel parts) bool {
	for !matchParts(pattern, rel) {
		if !rel.any {
			return false
		}
		_, rel = rel.cut()
	}
	return true
}
