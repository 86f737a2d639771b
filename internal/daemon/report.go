package daemon

import (
	"time"
)

// report brings what people see up to date after a decision: Needs me, the
// headers of chats, and the clients that listen.
func (d *daemon) report(now time.Time) {
	d.writeNeeds(now)
	for _, r := range d.runs {
		if r.talk != nil && r.chatDue.IsZero() && !r.chatBusy && !r.chatGone && r.props != (chatShape{}) && d.shape(r) != r.props {
			d.writeChat(r, false)
		}
	}
	if d.clients.any() {
		d.clients.status(d.status(now))
	}
}
