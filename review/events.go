package review

import (
	"time"

	"deckhand/internal/control"
)

// An event is something that happened. Its type is one of the following.
type event interface{ when() time.Time }

// at is when an event happened.
type at time.Time

func (a at) when() time.Time { return time.Time(a) }

type (
	// keyed is a key: a character, or a name like "enter", "alt+enter", "ctrl+e".
	keyed struct {
		at
		key string
	}
	// pasted is text that came in one piece.
	pasted struct {
		at
		text string
	}
	// moused is a press of the left button, or a turn of the wheel.
	moused struct {
		at
		x, y  int
		wheel int // rows; 0: a press
	}
	// resized is the size of the screen.
	resized struct {
		at
		w, h int
	}
	// ticked says only what time it is.
	ticked struct{ at }
	// linked says that the connection is up or down.
	linked struct {
		at
		up  bool
		err string
	}
	// told is an event of the daemon.
	told struct {
		at
		control.Event
	}
	// edited is what came back from the editor.
	edited struct {
		at
		text string
		err  error
	}

	// The answers to what was asked for.
	gotLog struct {
		at
		key string
		log control.Log
		err error
	}
	gotChat struct {
		at
		key  string
		chat control.Chat
		err  error
	}
	gotPrompt struct {
		at
		key    string
		prompt control.Prompt
		err    error
	}
	gotDiff struct {
		at
		key  string
		diff control.Diff
		err  error
	}
	gotWhy struct {
		at
		key string
		why control.Why
		err error
	}
	gotBoards struct {
		at
		boards []control.Board
		err    error
	}
	// did is the answer to a command.
	did struct {
		at
		id     string
		result control.Result
		err    error
	}
)

// An effect is something to be done. Its type is one of the following.
type effect interface{ effect() }

type (
	askLog struct {
		key, run string
		since    int64
	}
	askChat   struct{ key, run string }
	askPrompt struct{ key, card string }
	askWhy    struct{ key, card string }
	askDiff   struct{ key, of string }
	askBoards struct{}
	do        struct{ cmd control.Command }
	// editText lets the person write in an editor of their own.
	editText struct{ text string }
	// openFile shows them a file of the work folder there.
	openFile struct {
		path string
		line int
	}
	// startDaemon starts one: none answers.
	startDaemon struct{}
	quit        struct{}
)

func (askLog) effect()      {}
func (askChat) effect()     {}
func (askPrompt) effect()   {}
func (askWhy) effect()      {}
func (askDiff) effect()     {}
func (askBoards) effect()   {}
func (do) effect()          {}
func (editText) effect()    {}
func (openFile) effect()    {}
func (startDaemon) effect() {}
func (quit) effect()        {}
