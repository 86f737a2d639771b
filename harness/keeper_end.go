package harness

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func isToken(entry string) bool { return strings.HasPrefix(entry, TokenVar+"=") }

// End asks the keeper to end the agent without a row in in.jsonl, for a disk
// that is full. A life without a keeper has ended.
func (l Life) End() error {
	err := signalKeeper(l, unix.SIGTERM)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// pid is the keeper's, as it wrote it into the lock; 0 when it did not yet.
func (l Life) pid() int {
	data, err := os.ReadFile(filepath.Join(l.Path, lockFile))
	if err != nil || !bytes.HasSuffix(data, []byte{'\n'}) {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		return 0
	}
	return pid
}
