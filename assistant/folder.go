package assistant

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deckhand/change"
	"deckhand/notes"
)

// folder is the work folder as the assistant may see it: its notes, none of dot
// folders, of what is ignored, of what deckhand writes, and none through links.
// It is used by one goroutine at a time.
type folder struct {
	root  *os.Root
	o     Options
	seen  map[string]stat
	names *notes.Index  // what a link may mean
	index *notes.Search // what they say; nil until it is asked for

	// only are the files that may be read; nil: all. It is set for each prompt.
	only map[string]bool
}

// stat tells whether a file may have changed, and what it is about.
type stat struct {
	mod   time.Time
	size  int64
	heads []string // its first headings; known when it is indexed
}

const (
	noteSize  = 4 << 20 // bytes of the largest note that is read
	headsMost = 8       // headings of a note in the map
)

func openFolder(o Options) (*folder, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, o: o, seen: map[string]stat{}, names: notes.NewIndex()}, nil
}

func (f *folder) close() { f.root.Close() }

// refresh looks at the folder again. What did not change is not read.
func (f *folder) refresh() error {
	there := map[string]bool{}
	err := fs.WalkDir(f.root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if rel == "." {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") || f.leftOut(rel, d.IsDir()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || !d.Type().IsRegular() || !isNote(rel) {
			return nil // a folder that cannot be read hides what is in it, nothing else
		}
		info, err := d.Info()
		if err != nil || info.Size() > noteSize {
			return nil
		}
		there[rel] = true
		f.look(rel, info)
		return nil
	})
	for rel := range f.seen {
		if !there[rel] {
			f.drop(rel)
		}
	}
	return err
}

func (f *folder) leftOut(rel string, dir bool) bool {
	if f.o.Output != "" && (rel == f.o.Output || strings.HasPrefix(rel, f.o.Output+"/")) {
		return true
	}
	return f.o.Skip != nil && f.o.Skip(rel, dir)
}

func isNote(rel string) bool {
	ext := strings.ToLower(path.Ext(rel))
	return ext == ".md" || ext == ".markdown"
}

func (f *folder) look(rel string, info fs.FileInfo) {
	old, known := f.seen[rel]
	if known && old.mod.Equal(info.ModTime()) && old.size == info.Size() {
		return
	}
	f.names.Put(rel)
	s := stat{mod: info.ModTime(), size: info.Size()}
	f.seen[rel] = s
	if f.index != nil {
		f.read(rel)
	}
}

func (f *folder) drop(rel string) {
	delete(f.seen, rel)
	f.names.Drop(rel)
	if f.index != nil {
		f.index.Drop(rel)
	}
}

// read puts a note into the index.
func (f *folder) read(rel string) {
	text, err := f.bytes(rel)
	if err != nil {
		f.index.Drop(rel)
		return
	}
	f.index.Put(rel, text)
	s := f.seen[rel]
	s.heads = nil
	for _, h := range notes.Scan(text).Headings {
		if h.Level <= 2 && len(s.heads) < headsMost {
			s.heads = append(s.heads, h.Text)
		}
	}
	f.seen[rel] = s
}

// indexed reads what was not read yet, and gives the index.
func (f *folder) indexed() *notes.Search {
	if f.index == nil {
		f.index = notes.NewSearch()
		for _, rel := range f.files() {
			f.read(rel)
		}
	}
	return f.index
}

// files lists the notes by name.
func (f *folder) files() []string {
	all := make([]string, 0, len(f.seen))
	for rel := range f.seen {
		if f.may(rel) {
			all = append(all, rel)
		}
	}
	slices.Sort(all)
	return all
}

// may reports whether a file may be read in this turn.
func (f *folder) may(rel string) bool {
	switch f.o.Read {
	case ReadNone:
		return false
	case ReadLinked:
		return f.only[rel]
	}
	return true
}

// text is what a note says. An error is for the model: it says what to do.
func (f *folder) text(rel string) (string, error) {
	if _, known := f.seen[rel]; !known {
		if err := f.refresh(); err != nil {
			return "", err
		}
	}
	if _, known := f.seen[rel]; !known {
		return "", fmt.Errorf("no document is called %q: list_files says how they are called: %w", rel, fs.ErrNotExist)
	}
	if !f.may(rel) {
		return "", fmt.Errorf("%s may not be read: the configuration limits what the assistant sees", rel)
	}
	text, err := f.bytes(rel)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", fmt.Errorf("%s is not written in UTF-8: it can neither be read nor changed", rel)
	}
	return string(text), nil
}

// planned is the folder as changes are planned on it.
func (f *folder) planned() change.Folder {
	c := f.o.Folder
	c.Read = f.contents
	c.Files = f.files
	if f.o.Output != "" {
		c.Closed = append(slices.Clone(c.Closed), f.o.Output)
	}
	return c
}

// contents is a change.Read: what is no note for the assistant can be there all
// the same, and then nothing is made in its place.
func (f *folder) contents(rel string) (string, error) {
	text, err := f.text(rel)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if !fs.ValidPath(rel) {
		return "", fmt.Errorf("%q is no path of a document", rel)
	}
	if _, err := f.root.Lstat(rel); err == nil {
		return "", fmt.Errorf("%s is there, and may not be read", rel)
	}
	return "", fs.ErrNotExist
}

// bytes reads a file, if it is one: a pipe in its place would never end.
func (f *folder) bytes(rel string) ([]byte, error) {
	info, err := f.root.Lstat(rel)
	switch {
	case err != nil:
		return nil, bare(rel, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", rel)
	}
	file, err := f.root.Open(rel)
	if err != nil {
		return nil, bare(rel, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, noteSize+1))
	if err == nil && len(text) > noteSize {
		err = errors.New("too large")
	}
	if err != nil {
		return nil, bare(rel, err)
	}
	return text, nil
}

// bare is an error that names a file as the work folder does.
func bare(rel string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", rel, err)
}
