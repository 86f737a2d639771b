package mirror

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// shares is a folder on a file system of its own that shares bytes.
func shares(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	mkfs, err := exec.LookPath("mkfs.xfs")
	args := []string{"-q", "-m", "reflink=1"}
	if err != nil {
		if mkfs, err = exec.LookPath("mkfs.btrfs"); err != nil {
			t.Skip("needs mkfs.xfs (xfsprogs) or mkfs.btrfs (btrfs-progs)")
		}
		args = []string{"-q"}
	}
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 400<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs, append(args, image)...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v\n%s", mkfs, err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, at).CombinedOutput(); err != nil {
		t.Skipf("mount: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	return at
}
