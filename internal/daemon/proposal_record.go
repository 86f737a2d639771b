package daemon

import (
	"strings"

	"deckhand/dispatch"
)

// recordMost is how many of a run's proposals its agent is told of.
const recordMost = 20

// proposalRecord returns how to say what became of a run's proposals, for its
// next prompt. Those that nobody has decided are compared with the files, outside
// the loop: work that is done must not be done again.
func (d *daemon) proposalRecord(r *run) func() []string {
	folder := d.notesAsChanged()
	all := r.Proposals[max(0, len(r.Proposals)-recordMost):]
	return func() []string {
		var out []string
		for i := range all {
			p := &all[i]
			line := "- " + p.Since.Local().Format("2 Jan 15:04") + ", " + oneLine(strings.Join(p.Names(), ", ")) + ": " + oneLine(outcome(p))
			if p.Fate == dispatch.FateLost {
				look := &applying{ctx: d.ctx, store: d.store, state: d.f.state, folder: folder, changes: p.Changes}
				line += "; " + strings.Join(look.standing(), ", ")
			}
			out = append(out, line)
		}
		return out
	}
}

// standing says of each file of a proposal how it is now.
func (j *applying) standing() []string {
	changes, err := j.load()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, c := range changes {
		at, err := j.stand(c)
		if err != nil {
			out = append(out, refusal(c.File, err).Error())
			continue
		}
		out = append(out, c.Path()+[...]string{
			" is as it was", " is already as it was proposed", " is moved, with its old contents", " is neither what it was nor what was proposed",
		}[at])
	}
	return out
}
