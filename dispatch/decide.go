package dispatch

import "slices"

// The boxes of a proposal's page are those of its files, in their order, and then
// "apply ticked" and "reject". Only one of these two decides.

// decided looks at what people ticked on the pages of proposals.
func (k *keep) decided(r *Run) bool {
	if r.Phase != PhaseWaiting || k.w.Set.Held.Text != "" {
		return false // of a folder that is not ours nothing is written
	}
	for _, p := range r.Undecided() {
		for _, s := range k.w.Made {
			if s.Offer != p.Offer {
				continue
			}
			files, decides, why := p.ticked(s)
			switch {
			case why != "":
				k.along(r, why+where(s))
			case !decides:
			case !k.w.Set.Once && !k.due(s.Since.Add(k.w.Set.Settle)):
			default:
				k.do(Action{Do: DoDecide, Run: r.ID, By: s.By, Offer: p.Offer, Files: files, Text: cutRunes(s.Text, noteMax)})
				return true
			}
		}
	}
	return false
}

// ticked is what a person's ticks on its page mean: the files to be applied, none
// when it is rejected. Why says why they decide nothing.
func (p *Proposal) ticked(s Made) (files []string, decides bool, why string) {
	n := len(p.Changes)
	apply, reject := slices.Contains(s.Ticked, n), slices.Contains(s.Ticked, n+1)
	for i, c := range p.Changes {
		if slices.Contains(s.Ticked, i) {
			files = append(files, c.File)
		}
	}
	switch {
	case !apply && !reject:
		return nil, false, ""
	case s.Changed:
		return nil, false, "what is proposed was changed: nothing is decided by that box"
	case apply && reject:
		return nil, false, "both apply and reject are ticked: leave one"
	case apply && len(files) == 0:
		return nil, false, "no file is ticked: tick those to apply, or reject"
	case reject:
		return nil, true, ""
	}
	return files, true, ""
}
