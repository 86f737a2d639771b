package testkit

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sumOf counts files, folders, bytes and boards below dir and hashes names and contents.
func sumOf(t *testing.T, dir string) (files, folders, size, boards int, hash [32]byte) {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			folders++
			return err
		}
		src, err := os.ReadFile(path)
		files, size = files+1, size+len(src)
		if bytes.HasPrefix(src, []byte("---\nkanban-plugin")) {
			boards++
		}
		h.Write([]byte(strings.TrimPrefix(path, dir)))
		h.Write(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, folders, size, boards, [32]byte(h.Sum(nil))
}

func TestVault(t *testing.T) {
	dirs := [3]string{t.TempDir(), t.TempDir(), t.TempDir()}
	var hashes [3][32]byte
	for i, seed := range []uint64{1, 1, 2} {
		if err := Vault(dirs[i], 401, seed); err != nil {
			t.Fatal(err)
		}
		files, folders, size, boards, hash := sumOf(t, dirs[i])
		if files != 401 || folders != 1+37+41 || boards != 3 {
			t.Errorf("seed %d: %d files, %d folders, %d boards", seed, files, folders, boards)
		}
		if mean := size / files; mean < 7<<10 || mean > 11<<10 { // (30-1)/ln 30 KB is 8.5
			t.Errorf("seed %d: %d bytes a note", seed, mean)
		}
		hashes[i] = hash
	}
	if hashes[0] != hashes[1] || hashes[0] == hashes[2] {
		t.Errorf("same seed gives the same vault: %v, another one another: %v", hashes[0] == hashes[1], hashes[0] != hashes[2])
	}
}

func TestVaultWithoutFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Vault(file, 1, 1); err == nil {
		t.Error("a vault was written below a file")
	}
}
