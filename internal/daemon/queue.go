package daemon

import "sync"

// queues run effects outside the loop: in order for each name (a board, a
// chat), side by side for different names. A slow disk delays one board, not
// the program. It belongs to the loop goroutine; effects come back through post.
type queues struct {
	post func(func())
	wait map[string][]effect
	n    int            // effects that are not done
	wg   sync.WaitGroup // the goroutines that do them
}

// effect is work outside the loop and what the loop does with its result.
type effect struct {
	work func() any
	done func(result any)
}

func newQueues(post func(func())) *queues {
	return &queues{post: post, wait: map[string][]effect{}}
}

// add puts an effect behind the others of that name.
func (q *queues) add(name string, work func() any, done func(any)) {
	q.n++
	line, busy := q.wait[name]
	q.wait[name] = append(line, effect{work, done})
	if !busy {
		q.next(name)
	}
}

// idle reports whether nothing is under way.
func (q *queues) idle() bool { return q.n == 0 }

func (q *queues) next(name string) {
	line := q.wait[name]
	if len(line) == 0 {
		delete(q.wait, name)
		return
	}
	e := line[0]
	q.wg.Go(func() {
		result := e.work()
		q.post(func() {
			q.n--
			q.wait[name] = q.wait[name][1:]
			e.done(result)
			q.next(name)
		})
	})
}
