// Package bench measures what the README promises about speed and size: the
// program as a person runs it, built and started, beside the least that any
// program would have to do.
//
//	go test ./internal/bench -run '^$' -bench . -benchtime 1x
//
// prints every number and, at the end, one table in Markdown. Most numbers are
// ratios of two things that were done in turn in the same run, so that a slow or
// busy machine is slow for both; the medians of both are compared. -long adds
// what takes minutes (100,000 notes, ten idle minutes), -samples sets how many
// cards are saved. docs/performance.md says what each row means and how far it
// can be trusted.
//
// Not for: passing or failing by a clock. What fails here is a count that is the
// same on every machine: a file that is watched, a wake-up without a reason, a
// binary that is too large. What one package does alone is measured in that
// package.
package bench
