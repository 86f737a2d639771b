// Package assistant is the built-in agent: a child command that works on the
// notes and writes none of them.
//
// It speaks the RPC of pi over its standard streams, and the extension that
// docs/propose.md describes: what it would change it proposes, and then it waits
// for what the person decides. So a card's life, the capture, recovery, replay
// and the chat are those of any agent.
//
// It is not for writing files, for deciding, and for knowing about daemons and
// screens. It reads the work folder it stands in, asks any OpenAI-compatible
// model, and keeps its conversation in the session file it is given, nowhere
// else. What a model says it wants is checked by code: a change is computed by
// package change from the bytes on disk, and whether work is done is found out
// by looking, not by asking.
//
// # A turn
//
//	prompt ─► context within a budget ─► model ─► an answer: the turn is over
//	                                      ▲  │
//	                       what it gave ──┘  └─► tools: read, propose, plan
//
// at most ten rounds, the last one without tools, so that a turn ends in an
// answer. Tools never fail the loop: what is wrong with a call is text that the
// model reads.
//
// # What the model is told
//
// First what never changes, then what rarely does, then the conversation, and
// last what belongs to the turn alone; providers keep what a request begins
// with. What comes from files, from the record of what was done, and from the
// model itself stands in fences with a word that nobody who wrote it can know,
// and is called data.
package assistant

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"deckhand/change"
)

// Version is what --version prints: the generation of pi whose RPC it speaks.
const Version = "1.6.0"

// What Options.Read may be.
const (
	ReadAll    = "all"    // every note of the work folder
	ReadLinked = "linked" // the board or chat, and what it links to
	ReadNone   = "none"   // what stands in the prompt
)

// Options are what the machine's configuration says.
type Options struct {
	BaseURL string // of the API, with /v1 where there is one
	Model   string
	Key     Key
	Read    string // ReadAll, ReadLinked or ReadNone
	Price   *Price // nil: what it costs is not known

	Dir    string                             // the work folder
	Folder change.Folder                      // Closed and Board
	Skip   func(rel string, folder bool) bool // what is left out; nil: nothing
	Output string                             // the folder deckhand writes to: nothing there is material
}

// Price is what a million tokens cost, in USD.
type Price struct{ Input, Cached, Output float64 }

// Main runs the assistant until its input is closed; args are those behind the
// command's name, load says what is configured. It returns the exit code.
func Main(args []string, in io.Reader, out, errs io.Writer, load func() (Options, error)) int {
	fail := func(err error) int {
		fmt.Fprintln(errs, "Error: "+err.Error())
		return 1
	}
	o, err := parse(args, errs)
	if err != nil {
		return fail(err)
	}
	c, err := load()
	if err == nil {
		err = c.Key.Check()
	}
	if err != nil {
		return fail(err)
	}
	if o.version {
		fmt.Fprintln(out, Version+" (deckhand's assistant)")
		return 0
	}
	s, err := openSession(o.session)
	if err != nil {
		return fail(err)
	}
	defer s.close()
	f, err := openFolder(c)
	if err != nil {
		return fail(err)
	}
	defer f.close()
	a := &agent{o: c, session: s, folder: f, model: &model{o: c, wait: wait}}
	code, err := a.serve(in, out)
	if err != nil {
		return fail(err)
	}
	return code
}

// wait pauses, unless ctx ends first.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

type options struct {
	version bool
	session string
}

// parse takes the arguments that the driver of pi starts an agent with.
func parse(args []string, errs io.Writer) (options, error) {
	var o options
	var mode, model string
	var off bool
	f := flag.NewFlagSet("assistant", flag.ContinueOnError)
	f.SetOutput(errs)
	f.BoolVar(&o.version, "version", false, "print the version")
	f.StringVar(&o.session, "session", "", "session file")
	f.StringVar(&mode, "mode", "", "rpc")
	f.StringVar(&model, "model", "", "ignored: config.yaml says it")
	for _, name := range []string{"ne", "ns", "np", "no-themes"} {
		f.BoolVar(&off, name, false, "ignored")
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.version:
	case mode != "rpc":
		return o, errors.New("only --mode rpc")
	case o.session == "":
		return o, errors.New("no --session")
	}
	return o, nil
}
