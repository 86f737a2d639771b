package notes

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What Found and Piece say when there is nothing to read.
const (
	NotFound = "note not found"
	Outside  = "outside the work folder"
	Hidden   = "in a dot folder: never copied"
)

// maxOthers bounds how many files of an ambiguous name are listed: a folder
// can hold one index.md in each of its ten thousand folders.
const maxOthers = 20

// Found is the file a link leads to, or why there is none.
type Found struct {
	Path    string   // as the index has it, so as it is on disk
	Others  []string // further files the target could mean, best first, at most 20
	More    int      // how many there are beyond Others
	Problem string   // NotFound, Outside or Hidden; empty when Path is set
}

// Find resolves l as written in the file from. A Markdown link is relative to
// its file, as every other reader takes it, before it is looked for by name.
func (ix *Index) Find(from string, l Link) Found {
	if l.Target != "" && !l.wiki() && l.Target[0] != '/' {
		if found := ix.Resolve(from, "./"+l.Target); found.Problem == "" || found.Problem == Outside {
			return found
		}
	}
	return ix.Resolve(from, l.Target)
}

// Resolve finds the file that target means in the file from (both relative,
// with slashes), in this order:
//
//	"./x", "../x"   exactly there, seen from the folder of from
//	"/x"            exactly there, seen from the work folder
//	"x", "a/x"      exactly there, seen from the work folder; else files whose
//	                path ends so on a folder border, those in or below the
//	                folder of from first, then the shortest path, then by name
//
// Names compare without case and Unicode form; where that leaves several, the
// one spelled like the target wins. ".md" and ".markdown" may be left out. A
// name that really holds "%20" wins over the decoded one. An empty target is
// from itself.
func (ix *Index) Resolve(from, target string) Found {
	if target == "" {
		return Found{Path: from}
	}
	found := ix.resolve(from, target)
	if found.Problem != NotFound {
		return found
	}
	if decoded, ok := unpercent(target); ok {
		return ix.resolve(from, decoded)
	}
	return found
}

func (ix *Index) resolve(from, target string) Found {
	w := wanted{dir: path.Dir(from)}
	switch {
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		w.name, w.exact = path.Join(w.dir, target), true
	case strings.HasPrefix(target, "/"):
		w.name, w.exact = path.Clean(strings.TrimLeft(target, "/")), true
	default:
		w.name = path.Clean(target)
	}
	switch {
	case w.name == "..", strings.HasPrefix(w.name, "../"):
		return Found{Problem: Outside}
	case w.name == ".", strings.HasSuffix(target, "/"):
		return Found{Problem: NotFound}
	case !linkable(w.name):
		return Found{Problem: Hidden}
	}
	for _, endings := range endingsOf(w.name) {
		var hits []hit
		for _, ending := range endings {
			hits = ix.candidates(hits, w, w.name+ending)
		}
		if len(hits) > 0 {
			return choose(hits, w)
		}
	}
	return Found{Problem: NotFound}
}

// wanted is a target as a clean path.
type wanted struct {
	dir   string // the folder of the file the link stands in
	name  string
	exact bool // name is the whole path, not the end of one
}

// endingsOf lists what may have been left out of a target, most likely first.
// "shot.png" is that file before it is the note "shot.png.md"; "Spec" is a
// note before it is a file without an extension.
func endingsOf(name string) [2][]string {
	literal, note := []string{""}, []string{".md", ".markdown"}
	if path.Ext(name) != "" {
		return [2][]string{literal, note}
	}
	return [2][]string{note, literal}
}

// hit is a file a target could mean, with what ranks it.
type hit struct {
	path     string
	where    int // 0 exactly there, 1 in or below the linking folder, 2 elsewhere
	length   int // characters
	spelling int // 0 the same bytes, 1 the same in NFC, 2 but for case
}

func (ix *Index) candidates(hits []hit, w wanted, name string) []hit {
	folded, bare := fold(name), !strings.Contains(name, "/")
	for _, p := range ix.byName[lastOf(folded)] {
		h := hit{path: p, where: 2}
		switch {
		case len(p) == len(name) && p == name, sameFolded(p, folded):
			h.where = 0
		case w.exact, !bare && !strings.HasSuffix(fold(p), "/"+folded):
			continue
		case w.dir == ".", strings.HasPrefix(p, w.dir+"/"):
			h.where = 1
		}
		h.length = utf8.RuneCountInString(norm.NFC.String(p))
		h.spelling = spelling(p, name)
		hits = append(hits, h)
	}
	return hits
}

// sameFolded spares folding a path that has another number of folders.
func sameFolded(p, folded string) bool {
	return strings.Count(p, "/") == strings.Count(folded, "/") && fold(p) == folded
}

func spelling(p, name string) int {
	switch {
	case strings.HasSuffix(p, name):
		return 0
	case strings.HasSuffix(norm.NFC.String(p), norm.NFC.String(name)):
		return 1
	}
	return 2
}

func choose(hits []hit, w wanted) Found {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(
			cmp.Compare(a.where, b.where),
			cmp.Compare(a.length, b.length),
			cmp.Compare(a.spelling, b.spelling),
			cmp.Compare(a.path, b.path))
	})
	found := Found{Path: hits[0].path}
	qualified := w.exact || strings.Contains(w.name, "/")
	if qualified && hits[0].where == 0 && hits[0].spelling < 2 {
		return found // whoever writes the whole path means that file
	}
	rest := hits[1:]
	found.More = max(0, len(rest)-maxOthers)
	for _, h := range rest[:len(rest)-found.More] {
		found.Others = append(found.Others, h.path)
	}
	return found
}
