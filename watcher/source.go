package watcher

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// errNotDir: a file stands where a folder was.
const errNotDir = syscall.ENOTDIR

// source is where events come from: fsnotify, or, when nothing can be
// watched, nothing at all.
type source struct {
	events <-chan fsnotify.Event
	errors <-chan error
	add    func(dir string) error
	remove func(dir string)
	close  func() error
}

// errNoEvents is the reason for polling where watching is possible and useless.
var errNoEvents = errors.New("this file system tells nothing")

// newSource opens a source for root. That there is none is no error: then all
// folders are polled.
func newSource(root string) source {
	if remote(root) {
		return blindSource(errNoEvents)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return blindSource(err)
	}
	return source{
		events: w.Events, errors: w.Errors, add: w.Add, close: w.Close,
		remove: func(dir string) { _ = w.Remove(dir) }, // not watched any more: as wanted
	}
}

func blindSource(why error) source {
	return source{
		add:    func(string) error { return why },
		remove: func(string) {},
		close:  func() error { return nil },
	}
}

// Limit is a setting of the system that bounds what a user's programs can watch
// together.
type Limit struct {
	Name string // as sysctl has it
	Most int
}

// Limits are those that bind this process: first that on watched folders. Where
// the system has none, there are none.
func Limits() (all []Limit) {
	for _, limit := range []func() (Limit, bool){watchLimit, instanceLimit} {
		if l, ok := limit(); ok {
			all = append(all, l)
		}
	}
	return all
}

// advice says what a person can do about a folder that cannot be watched.
func advice(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, syscall.ENOSPC) { // not the disk: the limit of the user
		if limit, ok := watchLimit(); ok {
			return "raise " + limit.Name
		}
	}
	if errors.Is(err, syscall.EMFILE) {
		if limit, ok := instanceLimit(); ok {
			return "raise " + limit.Name + " and start deckhand again"
		}
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return strings.ToLower(err.Error())
}
