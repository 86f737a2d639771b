// Package testkit is what tests of several packages share: a scripted model
// server, the pinned real programs, and folders to work in.
//
// It is for tests only; nothing in it may be needed by the program.
package testkit
