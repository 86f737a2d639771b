package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// KeepObject stores contents under their hash in the state folder of a work
// folder, durable, and returns the hash. What is there already is young again.
func KeepObject(state string, data []byte) (hash string, err error) {
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	dir := filepath.Join(state, objectsFolder)
	name, now := filepath.Join(dir, hash), time.Now()
	if os.Chtimes(name, now, now) == nil {
		return hash, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	temp := name + ".new"
	if err := writeSynced(temp, data); err != nil {
		return "", err
	}
	if err := os.Rename(temp, name); err != nil {
		return "", err
	}
	return hash, syncDir(dir)
}

// Object reads contents by their hash. Files that were spoilt are an error.
func Object(state, hash string) ([]byte, error) {
	if hash != filepath.Base(hash) || !filepath.IsLocal(hash) {
		return nil, fmt.Errorf("object %q: no hash", hash)
	}
	data, err := os.ReadFile(filepath.Join(state, objectsFolder, hash))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("object %s does not hold what it held", hash)
	}
	return data, nil
}
