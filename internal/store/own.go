package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Sizes of the register: enough for every echo that can be on its way.
const (
	ownFiles  = 4096
	ownHashes = 8
)

// register remembers what we wrote, so that its echo is not taken for an edit.
type register struct {
	mu    sync.Mutex
	files map[string]*written // guarded by mu: by place.key
	order []string            // guarded by mu: oldest first
}

type written struct {
	hashes []string
	last   unix.Stat_t // of our last write
}

func newRegister() *register { return &register{files: map[string]*written{}} }

func (r *register) add(key, hash string, st unix.Stat_t) {
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
	if w.hashes = append(w.hashes, hash); len(w.hashes) > ownHashes {
		w.hashes = slices.Delete(w.hashes, 0, 1)
	}
	w.last = st
}

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
