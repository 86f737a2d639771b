// Package watcher says which paths of a folder may have changed.
//
// CONTRACT (to be completed by the owner of this package).
package watcher

import "time"

// Options of a Watcher.
type Options struct {
	// Skip reports whether a path (relative, slashes) is of no interest. It is
	// asked before a folder is watched or listed.
	Skip     func(rel string, dir bool) bool
	Debounce time.Duration // how long a batch waits for more (50 ms)
	Ceiling  time.Duration // how long it can be postponed at most (500 ms)
	Poll     time.Duration // the slow poll (5 min with events, 5 s for folders without)
	Progress func(folders, files int)
}

// Batch is a set of paths that may have changed, appeared or gone.
type Batch struct {
	Paths  []string // relative, slashes, sorted, each once; files only
	Rescan bool     // events were lost: Paths holds what differs after a rescan
	First  bool     // the first scan: every file
	Gone   bool     // the watched folder itself is gone
}
