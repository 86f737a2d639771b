package robust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// NeedRoot skips a test that only root can do, or that needs a program which is
// not there.
func NeedRoot(t testing.TB, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs ", name)
		}
	}
}

// run runs a program that has to succeed.
func run(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

// Image is a disk of its own: an ext4 file system in a file, that can lose
// power. What was not synced is not there afterwards.
type Image struct {
	Dir  string // where it is mounted
	file string
	t    testing.TB
}

// NewImage makes one of 32 MB and mounts it. It skips where that cannot be.
func NewImage(t testing.TB) *Image {
	t.Helper()
	NeedRoot(t, "mkfs.ext4", "e2fsck", "mount", "umount")
	sweepImages()
	at, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", imagePrefix, os.Getpid()))
	must(t, err)
	i := &Image{Dir: filepath.Join(at, "mnt"), file: filepath.Join(at, "image"), t: t}
	t.Cleanup(func() {
		_ = unix.Unmount(i.Dir, unix.MNT_DETACH) // not mounted: fine
		if err := os.RemoveAll(at); err != nil {
			t.Error(err)
		}
	})
	must(t, os.Mkdir(i.Dir, 0o700))
	must(t, os.WriteFile(i.file, nil, 0o600))
	must(t, os.Truncate(i.file, 32<<20))
	run(t, "mkfs.ext4", "-q", i.file)
	i.mount()
	return i
}

// imagePrefix begins the name of an image's folder; the process of its test follows.
const imagePrefix = "dh-disk-"

// sweepImages unmounts and removes what tests left that were killed, by their
// timeout for one. What cannot be removed is somebody else's matter.
func sweepImages() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), imagePrefix+"*"))
	for _, at := range left {
		var pid int
		_, err := fmt.Sscanf(filepath.Base(at), imagePrefix+"%d-", &pid)
		if err != nil || unix.Kill(pid, 0) == nil {
			continue
		}
		_ = unix.Unmount(filepath.Join(at, "mnt"), unix.MNT_DETACH)
		_ = os.RemoveAll(at)
	}
}

func (i *Image) mount() {
	i.t.Helper()
	run(i.t, "mount", "-o", "loop", i.file, i.Dir)
}

// Sync puts everything on the disk, as time does.
func (i *Image) Sync() {
	i.t.Helper()
	dir, err := os.Open(i.Dir)
	must(i.t, err)
	defer dir.Close()
	must(i.t, unix.Syncfs(int(dir.Fd())))
}

// Cut takes the power: from now on nothing reaches the disk, not even what the
// file system had noted already. Any goroutine may.
func (i *Image) Cut() error {
	dir, err := os.Open(i.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	flag := uint32(2) // EXT4_GOING_FLAGS_NOLOGFLUSH
	const shutdown = 0x8004587d
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, dir.Fd(), shutdown, uintptr(unsafe.Pointer(&flag))); errno != 0 {
		return fmt.Errorf("shutdown: %w", errno)
	}
	return nil
}

// Back gives the power back: the file system makes itself whole by its journal,
// and has to find itself sound. release ends those who use it: one that was just
// being started may appear only later.
func (i *Image) Back(release func()) {
	i.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		release()
		err := unix.Unmount(i.Dir, 0)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(end) {
			i.t.Fatalf("umount %s: %v", i.Dir, err)
		}
	}
	i.mount()
	run(i.t, "umount", i.Dir)
	run(i.t, "e2fsck", "-f", "-n", i.file)
	i.mount()
}

// Mount mounts at a folder, with the arguments of mount(8) but the last, until
// the test is over.
func Mount(t testing.TB, at string, argv ...string) {
	t.Helper()
	run(t, append(append([]string{"mount"}, argv...), at)...)
	t.Cleanup(func() { must(t, unix.Unmount(at, unix.MNT_DETACH)) })
}

// NewPlaceOn makes a place whose notes and state are on a disk of their own.
// Its projects, and with them the agents' record, are elsewhere.
func NewPlaceOn(t testing.TB, disk, settings string, projects ...string) *Place {
	t.Helper()
	root, err := os.MkdirTemp("", "dh-")
	must(t, err)
	for _, name := range []string{"notes", "state"} {
		must(t, os.MkdirAll(filepath.Join(disk, name), 0o700))
		must(t, os.Symlink(filepath.Join(disk, name), filepath.Join(root, name)))
	}
	return NewPlaceIn(t, root, settings, projects...)
}

// Leftovers are the temp files that are still there, in the work folder and in
// the state. What lies in the folder of a run goes with it.
func (p *Place) Leftovers() []string {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.Options.State, "*", ".new-*"))
	must(p.t, err)
	work, err := filepath.EvalSymlinks(p.Work)
	must(p.t, err)
	must(p.t, filepath.WalkDir(work, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".deckhand-") {
			names = append(names, path)
		}
		return err
	}))
	return names
}
