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
		if matchParts(strings.Split(pattern, "/"), strings.Split(rel, "/")) {
			return true
		}
	}
	return false
}

// folder reports whether a pattern means everything below this folder.
func (g globs) folder(rel string) bool { return g.match(rel+"/x") && g.match(rel+"/x/x") }

func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(parts) + 1 {
				if matchParts(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); err != nil || !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}
