package store

import "io"

// open opens a file below the work folder.
func (g *Glancer) open(rel string) (io.ReadCloser, error) { return g.store.root.Open(rel) }
