package store

import (
	"os"

	"golang.org/x/sys/unix"
)

func exchange(dir int, a, b string) error {
	return unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP)
}

func renameNew(dir int, from string, toDir int, to string) error {
	return unix.RenameatxNp(dir, from, toDir, to, unix.RENAME_EXCL)
}

func openUnnamed(int, uint32) (int, error) { return -1, unix.ENOTSUP }

func linkUnnamed(int, int, string) error { return unix.ENOTSUP }

// setLease: macOS has none.
func setLease(int, lease) error { return unix.ENOTSUP }

func ctime(st *unix.Stat_t) (sec, nsec int64) { return st.Ctim.Unix() }
func mtime(st *unix.Stat_t) (sec, nsec int64) { return st.Mtim.Unix() }

func dataSync(f *os.File) error { return f.Sync() }
