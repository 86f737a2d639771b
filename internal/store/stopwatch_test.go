package store

import (
	"cmp"
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

func (w stopwatch) median() time.Duration { return medianOf(slices.Clone(w)) }

// beside is the median of the ratios of pairs that ran one after the other: a
// machine that gets busy gets busy for both.
func (w stopwatch) beside(other stopwatch) float64 {
	ratios := make([]float64, len(w))
	for i := range w {
		ratios[i] = float64(w[i]) / float64(other[i])
	}
	return medianOf(ratios)
}

func medianOf[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}
