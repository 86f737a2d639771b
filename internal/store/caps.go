package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Caps says what the file system of a folder can do.
type Caps struct {
	Leases   bool // reads never see half a save, late writers are known
	Exchange bool // a save by rename in the moment of the swap is kept
}

// Capabilities tries it out with two temp files in dir, an absolute path.
func Capabilities(dir string) (Caps, error) {
	at, err := os.Open(dir)
	if err != nil {
		return Caps{}, err
	}
	defer at.Close()
	d := &disk{}
	var names [2]string
	for i := range names {
		names[i] = tempName()
		f, err := d.create(at, names[i], 0o600)
		if err != nil {
			return Caps{}, fmt.Errorf("%s: %w", dir, err)
		}
		f.Close()
		defer func() { _ = unix.Unlinkat(fdOf(at), names[i], 0) }()
	}
	f, err := d.open(at, names[0])
	if err != nil {
		return Caps{}, fmt.Errorf("%s: %w", dir, err)
	}
	defer f.Close()
	var c Caps
	if c.Leases = d.lease(f, writeLease) == nil; c.Leases {
		_ = d.lease(f, noLease)
	}
	c.Exchange = exchange(fdOf(at), names[0], names[1]) == nil
	return c, nil
}
