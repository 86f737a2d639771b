package notes

import "strings"

// Index knows the names of the work folder's files: relative paths with
// slashes, notes and others alike, as they are on disk. It is used by one
// goroutine at a time.
type Index struct {
	byName map[string][]string // folded last component → paths, in no order
	at     map[string]int32    // path → where it stands in its byName list
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{byName: map[string][]string{}, at: map[string]int32{}}
}

// Len is the number of paths in the index.
func (ix *Index) Len() int { return len(ix.at) }

// Put adds a path; adding it again changes nothing. Paths that no link may
// lead to are left out: absolute ones, ones with an empty, "." or ".."
// component, and everything in or named like a dot folder.
func (ix *Index) Put(path string) {
	if _, known := ix.at[path]; known || !linkable(path) {
		return
	}
	key := fold(lastOf(path))
	ix.at[path] = int32(len(ix.byName[key]))
	ix.byName[key] = append(ix.byName[key], path)
}

// Drop removes a path; one that is not there is no error.
func (ix *Index) Drop(path string) {
	at, known := ix.at[path]
	if !known {
		return
	}
	delete(ix.at, path)
	key := fold(lastOf(path))
	list := ix.byName[key]
	last := len(list) - 1
	if last == 0 {
		delete(ix.byName, key)
		return
	}
	if moved := list[last]; moved != path {
		list[at], ix.at[moved] = moved, at
	}
	list[last] = ""
	ix.byName[key] = list[:last]
}

func lastOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// linkable reports whether each component is a plain name. A link is a
// permission to read, and dot folders hold what nobody means to show.
func linkable(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
	}
	return true
}
