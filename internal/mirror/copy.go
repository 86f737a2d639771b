package mirror

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// errChanged is of a file that is no file any more.
var errChanged = errors.New("it is no regular file")

// copier copies files, by sharing their bytes where the file system can.
type copier struct {
	from, notes, base *os.Root
	share             bool
}

// newCopier finds out whether bytes can be shared, by the first file that has any.
func newCopier(s Spec, files []file) (*copier, error) {
	c := &copier{}
	var total int64
	for _, f := range files {
		total += f.Size
	}
	var errs [3]error
	c.from, errs[0] = os.OpenRoot(s.From)
	c.notes, errs[1] = os.OpenRoot(filepath.Join(s.To, notesDir))
	c.base, errs[2] = os.OpenRoot(filepath.Join(s.To, baseDir))
	if err := errors.Join(errs[:]...); err != nil {
		c.close()
		return nil, err
	}
	for _, f := range files {
		if f.Size > 0 {
			c.share = c.try(f) == nil
			break
		}
	}
	if !c.share && s.Max > 0 && total > s.Max {
		c.close()
		return nil, &TooLargeError{Size: total, Max: s.Max}
	}
	return c, nil
}

func (c *copier) close() {
	for _, r := range []*os.Root{c.from, c.notes, c.base} {
		if r != nil {
			r.Close()
		}
	}
}

// try shares a file's bytes once, and takes it back.
func (c *copier) try(f file) error {
	from, err := c.open(f.Path)
	if err != nil {
		return err
	}
	defer from.Close()
	const name = "try"
	to, err := c.base.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(clone(to, from), to.Close(), c.base.Remove(name))
}

// open opens a file of the notes that is still one. A pipe that took its place
// must not be waited for.
func (c *copier) open(rel string) (*os.File, error) {
	info, err := c.from.Lstat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errChanged
	}
	return c.from.OpenFile(rel, os.O_RDONLY|nonblock, 0)
}

// copy copies one file, and its bytes as they are now into base when they can
// be proposed. Both are made of one reading: the notes can change meanwhile.
func (c *copier) copy(f *file) error {
	from, err := c.open(f.Path)
	if err != nil {
		return err
	}
	defer from.Close()
	if c.share {
		return c.shared(f, from)
	}
	var buf bytes.Buffer
	if _, err := io.Copy(&buf, io.LimitReader(from, largest+1)); err != nil {
		return err
	}
	if f.Base = proposable(buf.Bytes()); f.Base {
		if err := put(c.base, f.Path, bytes.NewReader(buf.Bytes()), nil); err != nil {
			return err
		}
	}
	return put(c.notes, f.Path, io.MultiReader(&buf, from), f)
}

// shared copies by sharing: base first, and what the agent sees from there.
func (c *copier) shared(f *file, from *os.File) error {
	if err := put(c.base, f.Path, from, nil); err != nil {
		return err
	}
	mine, err := c.base.Open(f.Path)
	if err != nil {
		return err
	}
	defer mine.Close()
	if err := put(c.notes, f.Path, mine, f); err != nil {
		return err
	}
	head := make([]byte, min(f.Size, largest+1))
	if _, err := mine.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if f.Base = proposable(head); f.Base {
		return nil
	}
	return c.base.Remove(f.Path)
}

// put makes a file of what is read; size and time go into f. A whole file is
// shared, if it can be.
func put(root *os.Root, rel string, from io.Reader, f *file) error {
	if dir := filepath.Dir(rel); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	to, err := root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	whole, ok := from.(*os.File)
	if !ok || clone(to, whole) != nil {
		_, err = io.Copy(to, from)
	}
	info, err2 := to.Stat()
	if err := errors.Join(err, err2, to.Close()); err != nil {
		return err
	}
	if f != nil {
		f.Size, f.Time = info.Size(), info.ModTime()
	}
	return nil
}

// proposable reports whether a file with these bytes can stand in a proposal.
func proposable(data []byte) bool {
	return len(data) <= largest && bytes.IndexByte(data, 0) < 0 && utf8.Valid(data)
}
