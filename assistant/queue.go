package assistant

import "deckhand/harness/pi"

// The methods below are called by the process, also when nothing runs.

func (t *turn) ended() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.done
}

// settled says whether the turn has said its last word, or is about to.
func (t *turn) settled() bool {
	if t == nil {
		return false
	}
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

func (t *turn) abort() {
	t.mu.Lock()
	t.aborted = true
	t.mu.Unlock()
	t.cancel()
}

func (t *turn) isAborted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.aborted
}

// decide hands a decision to the tool that waits for it, if there is one.
func (t *turn) decide(d decision) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.decisions[d.ID]
	if ok {
		delete(t.decisions, d.ID)
		c <- d
	}
	return ok
}

// expect makes a proposal one whose decision is waited for.
func (t *turn) expect(id string) <-chan decision {
	c := make(chan decision, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decisions[id] = c
	return c
}

func (t *turn) enqueue(r pi.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Type == pi.Steer {
		t.steering = append(t.steering, r.Message)
	} else {
		t.followUp = append(t.followUp, r.Message)
	}
	t.showQueue()
}

// take removes the next message that waits; one that is to follow the answer
// only at its end.
func (t *turn) take(atEnd bool) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	queues := []*[]string{&t.steering}
	if atEnd {
		queues = append(queues, &t.followUp)
	}
	for _, q := range queues {
		if len(*q) > 0 {
			text := (*q)[0]
			*q = (*q)[1:]
			t.showQueue()
			return text, true
		}
	}
	return "", false
}

func (t *turn) clear() (steering, followUp []string) {
	steering, followUp = []string{}, []string{}
	if t == nil {
		return steering, followUp
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	steering, followUp = append(steering, t.steering...), append(followUp, t.followUp...)
	t.steering, t.followUp = nil, nil
	t.showQueue()
	return steering, followUp
}

func (t *turn) pending() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.steering) + len(t.followUp)
}

// showQueue says what waits; mu is held.
func (t *turn) showQueue() {
	s, f := append([]string{}, t.steering...), append([]string{}, t.followUp...)
	t.a.emit(pi.Event{Type: "queue_update", Steering: &s, FollowUp: &f})
}
