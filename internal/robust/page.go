package robust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// pageName is the page in the repository.
const pageName = "docs/reliability.md"

// findUp looks for a file of the repository from the folder of a package.
func findUp(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no %s in any folder above", name)
		}
		dir = filepath.Dir(dir)
	}
}

// publish puts the figures between the marks of their section. Other packages'
// tests may do the same at this moment.
func (s *Suite) publish() error {
	path, err := findUp(pageName)
	if err != nil {
		return err
	}
	lock, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer lock.Close() // and with it the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", filepath.Dir(path), err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	s.print(&table)
	machine := fmt.Sprintf("\n%s/%s, %d cores, %s, %s.\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), time.Now().Format("2 January 2006"))
	page, err = insert(page, s.Section, append(table.Bytes(), machine...))
	if err != nil {
		return err
	}
	return os.WriteFile(path, page, 0o644)
}

// insert replaces what stands between the marks of a section.
func insert(page []byte, section string, text []byte) ([]byte, error) {
	mark, end := fmt.Appendf(nil, "<!-- figures: %s -->\n", section), []byte("<!-- end -->")
	before, rest, ok := bytes.Cut(page, mark)
	if !ok {
		return nil, fmt.Errorf("%s has no place for the figures of %s", pageName, section)
	}
	_, after, ok := bytes.Cut(rest, end)
	if !ok {
		return nil, fmt.Errorf("%s: the figures of %s have no end", pageName, section)
	}
	return bytes.Join([][]byte{before, mark, text, []byte("\n"), end, after}, nil), nil
}
