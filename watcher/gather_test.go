package watcher

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs a test against gather with a clock of its own.
func inBubble(t *testing.T, test func(t *testing.T, in chan<- found, out <-chan Batch)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in, out := make(chan found), make(chan Batch)
		done := make(chan struct{})
		go func() {
			defer close(done)
			gather(ctx, in, out, 50*time.Millisecond, 500*time.Millisecond)
		}()
		test(t, in, out)
		cancel()
		<-done
	})
}

func paths(p ...string) found { return found{paths: p} }

func TestBatchWaitsForMore(t *testing.T) {
	inBubble(t, func(t *testing.T, in chan<- found, out <-chan Batch) {
		start := time.Now()
		in <- paths("b.md", "a.md")
		time.Sleep(40 * time.Millisecond)
		in <- paths("a.md", "c.md")
		b := <-out
		if d := time.Since(start); d != 90*time.Millisecond {
			t.Errorf("came after %v, want 50 ms after the last change", d)
		}
		if !slices.Equal(b.Paths, []string{"a.md", "b.md", "c.md"}) || b.First || b.Rescan || b.Gone {
			t.Errorf("got %+v", b)
		}
	})
}

func TestNoisyFolderCannotPostpone(t *testing.T) {
	inBubble(t, func(t *testing.T, in chan<- found, out <-chan Batch) {
		start := time.Now()
		stop := make(chan struct{})
		go func() {
			for i := 0; ; i++ {
				select {
				case in <- paths(fmt.Sprint(i)):
				case <-stop:
					return
				}
				time.Sleep(30 * time.Millisecond)
			}
		}()
		b := <-out
		close(stop)
		if d := time.Since(start); d != 500*time.Millisecond || len(b.Paths) != 17 {
			t.Errorf("%d paths after %v, want what came in 500 ms", len(b.Paths), d)
		}
		time.Sleep(time.Second)
	})
}

func TestBusyReceiver(t *testing.T) {
	inBubble(t, func(t *testing.T, in chan<- found, out <-chan Batch) {
		in <- paths("a.md")
		time.Sleep(time.Second)
		in <- found{paths: []string{"b.md"}, rescan: true}
		in <- found{links: []string{"l"}}
		synctest.Wait()
		b := <-out
		if !slices.Equal(b.Paths, []string{"a.md", "b.md"}) || !slices.Equal(b.Links, []string{"l"}) || !b.Rescan {
			t.Errorf("got %+v", b)
		}
		time.Sleep(time.Second)
		select {
		case b := <-out:
			t.Errorf("an empty batch: %+v", b)
		default:
		}
	})
}

func TestFirstScanWaitsForNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, in chan<- found, out <-chan Batch) {
		start := time.Now()
		in <- found{first: true}
		if b := <-out; !b.First || time.Since(start) != 0 {
			t.Errorf("%+v after %v", b, time.Since(start))
		}
	})
}

// What is said of the folder itself is what came last.
func TestGoneAndBack(t *testing.T) {
	for _, c := range []struct {
		first, second found
		gone, back    bool
		other         bool
	}{
		{found{gone: true}, found{back: true}, false, true, false},
		{found{back: true}, found{gone: true}, true, false, false},
		{found{gone: true}, paths("a.md"), true, false, false},
		{found{gone: true}, found{other: true}, true, false, true},
		{found{other: true}, found{back: true}, false, true, false},
	} {
		inBubble(t, func(t *testing.T, in chan<- found, out <-chan Batch) {
			in <- c.first
			in <- c.second
			if b := <-out; b.Gone != c.gone || b.Back != c.back || b.Other != c.other {
				t.Errorf("%+v then %+v: %+v", c.first, c.second, b)
			}
		})
	}
}
