package store

import (
	"io"

	"golang.org/x/sys/unix"
)

// rawFile is a descriptor that nothing waits on: of ten thousand files each
// call counts.
type rawFile int

func (f rawFile) Read(p []byte) (n int, err error) {
	err = retry(func() (err error) {
		n, err = unix.Read(int(f), p)
		return err
	})
	if n == 0 && err == nil {
		err = io.EOF
	}
	return max(n, 0), err
}

func (f rawFile) Close() error { return unix.Close(int(f)) }

// open opens a file below the work folder in one call; where that is not to be
// had, folder by folder.
func (g *Glancer) open(rel string) (io.ReadCloser, error) {
	if g.dir == nil {
		dir, err := g.store.root.Open(".")
		if err != nil {
			return nil, err
		}
		g.dir = dir
	}
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat2(fdOf(g.dir), rel, &how)
		return err
	})
	if err != nil {
		return g.store.root.Open(rel)
	}
	return rawFile(fd), nil
}
