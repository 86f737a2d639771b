package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// markOf tells contents apart where they cannot have been chosen to be alike:
// two checksums of other polynomials and the length. It costs a tenth of a
// hash, which a swap would have to wait for.
func markOf(data []byte) string {
	a := crc32.ChecksumIEEE(data)
	b := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf("%08x%08x-%d", a, b, len(data))
}

// Sizes of the register: enough for every echo that can be on its way.
const (
	ownFiles  = 4096
	ownHashes = 16
)

// register remembers what we wrote, so that its echo is not taken for an edit.
type register struct {
	mu    sync.Mutex
	files map[string]*written // guarded by mu: by place.key
	order []string            // guarded by mu: oldest first
}

type written struct {
	hashes []string    // and marks
	last   unix.Stat_t // of our last write
}

func newRegister() *register { return &register{files: map[string]*written{}} }

func (r *register) add(key, hash, mark string, st unix.Stat_t) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.files[key]
	if w == nil {
		w = &written{}
		r.files[key] = w
		if r.order = append(r.order, key); len(r.order) > ownFiles {
			delete(r.files, r.order[0])
			r.order = r.order[1:]
		}
	}
	if w.hashes = append(w.hashes, hash, mark); len(w.hashes) > ownHashes {
		w.hashes = slices.Delete(w.hashes, 0, 2)
	}
	w.last = st
}

// has takes a hash or a mark.
func (r *register) has(key, hash string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.files[key]
	return w != nil && slices.Contains(w.hashes, hash)
}

// untouched reports that nobody wrote since our last write. The change time is
// left out: the swap itself moves it.
func (r *register) untouched(key string, st *unix.Stat_t) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.files[key]
	return w != nil && w.last.Ino == st.Ino && w.last.Size == st.Size && w.last.Mtim == st.Mtim
}

// Own reports whether contents with this hash (sha256, hex) were written to
// rel by us not long ago.
func (s *Store) Own(rel, hash string) bool {
	p, err := s.locate(rel)
	if err != nil {
		return false
	}
	defer p.close()
	return s.own.has(p.key, hash)
}
