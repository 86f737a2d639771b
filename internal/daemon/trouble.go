package daemon

import "time"

// pause is how long an effect that failed for a reason outside (disk, lock)
// waits before it is tried again, twice as long each time it goes on failing;
// longest is the longest it comes to wait.
const (
	pause   = time.Second
	longest = time.Minute
)

// enough is how often something is tried when nobody is there to wait for it
// (Once).
const enough = 3

// trouble is an effect that fails: why, and when it is tried again. The zero
// value is none.
type trouble struct {
	text  string
	again time.Time // zero: it is being tried, or waits for no time
	tries int
}

// failed notes a failure and reports whether its reason is a new one, to be said.
func (t *trouble) failed(now time.Time, err error) (news bool) {
	news = t.text != err.Error()
	t.text = err.Error()
	wait := min(pause<<min(t.tries, 10), longest)
	t.again = now.Add(wait)
	t.tries++
	return news
}

// String is what a person reads: the reason, and that nobody has to do more than
// see to it.
func (t *trouble) String() string {
	if t.text == "" {
		return ""
	}
	return t.text + "; it is tried again by itself"
}

// due reports whether it is time to try again, and if so takes the time away.
func (t *trouble) due(now time.Time) bool {
	if t.again.IsZero() || now.Before(t.again) {
		return false
	}
	t.again = time.Time{}
	return true
}

// waits reports whether it is worth waiting for the next try.
func (t *trouble) waits() bool { return !t.again.IsZero() && t.tries < enough }
