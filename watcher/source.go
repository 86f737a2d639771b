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

// advice says what a person can do about a folder that cannot be watched.
func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC): // not the disk: the limit of the user
		return "raise fs.inotify.max_user_watches"
	case errors.Is(err, syscall.EMFILE):
		return "raise fs.inotify.max_user_instances"
	case err == nil:
		return ""
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return strings.ToLower(err.Error())
}
