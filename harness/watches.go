package harness

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watches tell any number of waiters that something may have changed where each
// of them waits. They share one watch of the system, of which a user has few
// (128 on many machines) for all programs together; it is there for as long as
// somebody waits. The zero value is ready.
type Watches struct {
	mu      sync.Mutex
	system  *fsnotify.Watcher // guarded by mu: nil while nobody waits
	waiters []*waiter         // guarded by mu
}

// waiter is who waits for a folder, or a file.
type waiter struct {
	path string
	wake []chan struct{}
}

// ring puts a value into each channel, unless it has one.
func (w *waiter) ring() {
	for _, c := range w.wake {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// watch puts a value into each channel, unless it has one, whenever something
// may have changed at path. Where the system gives no watch (they are limited)
// it does so every second: being late is better than being deaf.
func (w *Watches) watch(path string, wake ...chan struct{}) (stop func()) {
	one := &waiter{filepath.Clean(path), wake}
	if w.add(one) == nil {
		return func() { w.drop(one) }
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				one.ring()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func (w *Watches) add(one *waiter) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	system := w.system
	if system == nil {
		var err error
		if system, err = fsnotify.NewWatcher(); err != nil {
			return err
		}
	}
	if err := system.Add(one.path); err != nil {
		if w.system == nil {
			system.Close()
		}
		return err
	}
	w.waiters = append(w.waiters, one)
	if w.system == nil {
		w.system = system
		go w.listen(system)
	}
	return nil
}

// drop lets go of a waiter, and with the last one of the system's watch.
func (w *Watches) drop(one *waiter) {
	w.mu.Lock()
	w.waiters = slices.DeleteFunc(w.waiters, func(o *waiter) bool { return o == one })
	system := w.system
	if len(w.waiters) == 0 {
		w.system = nil
	} else if !slices.ContainsFunc(w.waiters, func(o *waiter) bool { return o.path == one.path }) {
		_ = system.Remove(one.path) // gone with its folder: as wanted
	}
	idle := w.system == nil
	w.mu.Unlock()
	if idle {
		system.Close() // takes the kernel a while
	}
}

// listen ends when the system's watch is closed.
func (w *Watches) listen(system *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			dir := filepath.Dir(e.Name)
			w.ring(func(o *waiter) bool { return o.path == dir || o.path == e.Name })
		case _, ok := <-system.Errors: // an overflow: something did change
			if !ok {
				return
			}
			w.ring(func(*waiter) bool { return true })
		}
	}
}

func (w *Watches) ring(who func(*waiter) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.waiters {
		if who(o) {
			o.ring()
		}
	}
}
