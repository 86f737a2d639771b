package daemon

import (
	"crypto/rand"
	"io"
	"time"

	"github.com/oklog/ulid/v2"
)

// ids makes identifiers that rise, also over a clock that was set back and
// over restarts (seen tells the newest of before). It belongs to the loop.
type ids struct {
	last    ulid.ULID
	entropy io.Reader
}

// seen takes note of an identifier made earlier.
func (g *ids) seen(id string) {
	if u, err := ulid.ParseStrict(id); err == nil && u.Compare(g.last) > 0 {
		g.last = u
	}
}

// next is a new identifier, greater than every other.
func (g *ids) next(now time.Time) string {
	if g.entropy == nil {
		g.entropy = rand.Reader
	}
	id := ulid.MustNew(ulid.Timestamp(now), g.entropy)
	if id.Compare(g.last) <= 0 {
		id = g.last
		for i := len(id) - 1; i >= 0; i-- {
			id[i]++
			if id[i] != 0 {
				break
			}
		}
	}
	g.last = id
	return id.String()
}
