package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestObjects(t *testing.T) {
	state := t.TempDir()
	for _, data := range []string{"", "one\n", "one\n"} {
		hash, err := KeepObject(state, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Object(state, hash); err != nil || string(got) != data {
			t.Errorf("%q: %q, %v", data, got, err)
		}
		if err := os.WriteFile(filepath.Join(state, objectsFolder, hash), []byte("spoilt"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Object(state, hash); err == nil {
			t.Errorf("%q: spoilt, and read as %q", data, got)
		}
		if err := os.WriteFile(filepath.Join(state, objectsFolder, hash), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Object(state, "../runs"); err == nil {
		t.Error("a path is read")
	}
	if _, err := Object(state, "0123"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not there: %v", err)
	}
}
