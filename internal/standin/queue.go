package standin

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

func (t *turn) deaf() bool { return t != nil && t.has("deaf") }

func (t *turn) abort() { t.once.Do(func() { close(t.stop) }) }

func (t *turn) answer(r pi.Request) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.answers[r.ID]; ok {
		delete(t.answers, r.ID)
		c <- r
	}
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

// take removes the next queued message.
func (t *turn) take() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range []*[]string{&t.steering, &t.followUp} {
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

// showQueue says what is queued; mu is held.
func (t *turn) showQueue() {
	s, f := append([]string{}, t.steering...), append([]string{}, t.followUp...)
	t.a.emit(pi.Event{Type: "queue_update", Steering: &s, FollowUp: &f})
}
