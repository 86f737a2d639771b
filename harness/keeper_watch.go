package harness

import (
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch puts a value into each channel, unless it has one, whenever something
// may have changed at path. Where the system gives no watch (they are limited)
// it does so every second: being late is better than being deaf.
func watch(path string, wake ...chan struct{}) (stop func()) {
	quit := make(chan struct{})
	done := make(chan struct{})
	events, errs, tick, end := newWatch(path)
	go func() {
		defer close(done)
		defer end()
		for {
			select {
			case <-events:
			case <-errs: // an overflow: something did change
			case <-tick:
			case <-quit:
				return
			}
			for _, c := range wake {
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func newWatch(path string) (<-chan fsnotify.Event, <-chan error, <-chan time.Time, func()) {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.Add(path); err == nil {
			return w.Events, w.Errors, nil, func() { w.Close() }
		}
		w.Close()
	}
	t := time.NewTicker(time.Second)
	return nil, nil, t.C, t.Stop
}
