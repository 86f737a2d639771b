package change

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Check reports why no agent may change a file of this name: nil when it may.
// It is about the name alone; whether the path leads through a link is for
// whoever opens it.
func (f Folder) Check(file string) error {
	switch {
	case file == "":
		return fmt.Errorf("no file is named")
	case !utf8.ValidString(file), strings.ContainsFunc(file, unicode.IsControl):
		return fmt.Errorf("%q is no name for a note", file)
	case path.IsAbs(file), path.Clean(file) != file, file == "..", strings.HasPrefix(file, "../"):
		return fmt.Errorf("%s: write the path as it is listed, relative to the work folder", file)
	}
	for part := range strings.SplitSeq(file, "/") {
		if part[0] == '.' {
			return fmt.Errorf("%s: what begins with a dot is not changed", file)
		}
	}
	if f.closed(file) {
		return fmt.Errorf("%s: deckhand writes in this folder, nobody else", file)
	}
	if !isNote(file) {
		return fmt.Errorf("%s: only notes are changed, files that end in .md", file)
	}
	return nil
}

// closed compares without case and Unicode form: on some disks it is the same
// folder.
func (f Folder) closed(file string) bool {
	parts := strings.Split(norm.NFC.String(file), "/")
	for _, dir := range f.Closed {
		dir = norm.NFC.String(strings.Trim(dir, "/"))
		n := strings.Count(dir, "/") + 1
		if dir != "" && n < len(parts) && strings.EqualFold(strings.Join(parts[:n], "/"), dir) {
			return true
		}
	}
	return false
}

func isNote(file string) bool {
	ext := path.Ext(file)
	return len(ext) < len(path.Base(file)) && (strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown"))
}
