package store

import (
	"slices"
	"testing"
	"time"
)

type stopwatch []time.Duration

func (w *stopwatch) time(b *testing.B, do func() error) {
	start := time.Now()
	err := do()
	*w = append(*w, time.Since(start))
	if err != nil {
		b.Fatal(err)
	}
}

func (w stopwatch) median() time.Duration {
	slices.Sort(w)
	return w[len(w)/2]
}
