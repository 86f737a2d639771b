package daemon

import (
	"testing"
	"time"
)

// stopped is a daemon with one run that is over, and no loop.
func stopped(t *testing.T) *daemon {
	t.Helper()
	p := newPlace(t, fast, boardOf("- [ ] Ship it @pi\n"))
	p.once()
	f, err := openFolder(p.o.Dir, p.o.State)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDaemon(bounded(t), p.o, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// A start that has to wait for the chat is looked at again when the chat is
// written, also when that was its header alone and nothing else happens.
func TestWrittenChatIsAReasonToLook(t *testing.T) {
	d := stopped(t)
	r := d.sorted()[0]
	r.talk, r.props, d.dirty = &talk{life: r.Life}, chatShape{open: "another"}, false
	d.writeChat(r, false)
	if !r.chatBusy || d.chatDone(r) {
		t.Fatal("the header is not being written")
	}
	(<-d.inbox)()
	if !d.chatDone(r) || !d.dirty {
		t.Errorf("written: %v, and looked at again: %v", d.chatDone(r), d.dirty)
	}
}

// What waits only for its turn to be written is written at once when a life is
// to start after it.
func TestStartDoesNotWaitForTheChatsTurn(t *testing.T) {
	d := stopped(t)
	d.ready = true
	r := d.sorted()[0]
	r.talk = &talk{life: r.Life, role: "pi"}
	r.talk.text.WriteString("One more thing.")
	r.talk.seq = r.ChatSeq + 1
	r.talk.cut()
	d.chatLater(r, false, true)
	if d.chatDone(r) || !r.chatBusy {
		t.Fatalf("it waits until %v", r.chatDue)
	}
	(<-d.inbox)()
	if !d.chatDone(r) {
		t.Error("it still waits")
	}
}

// A page that was due when another machine took the folder over is not waited
// for: a time that has passed is a loop that never sleeps.
func TestPageOfAnotherMachineIsNotDue(t *testing.T) {
	d := stopped(t)
	d.ready = true
	now := time.Now()
	d.page.due = now.Add(-time.Second)
	d.f.copied = true
	d.report(now)
	if wake := d.nextWake(); !wake.After(now) {
		t.Errorf("it wakes at %v, %v ago", wake, now.Sub(wake))
	}
}
