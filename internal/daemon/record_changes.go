package daemon

import (
	"fmt"
	"slices"
	"strings"

	"deckhand/change"
	"deckhand/dispatch"
	"deckhand/journal"
)

// The journal has an entry for each file of a proposal, each time something
// becomes of it: before the decision, and after.

// journalEntries are what an entry of a log is in the journal.
func (m *model) journalEntries(r *run, e dispatch.Entry) []journal.Entry {
	j, ok := m.journalEntry(r, e)
	out := changeEntries(r.Run, e, j)
	if e.Offer != "" && isProposal(e.Kind) {
		return out
	}
	if ok {
		out = append(out, j)
	}
	return out
}

func isProposal(k dispatch.Kind) bool {
	switch k {
	case dispatch.Proposed, dispatch.Decided, dispatch.RollingBack, dispatch.Applied, dispatch.NotApplied, dispatch.Undo, dispatch.Reverted, dispatch.NotReverted:
		return true
	}
	return false
}

// changeEntries are those of the files; like is what they have in common.
func changeEntries(r *dispatch.Run, e dispatch.Entry, like journal.Entry) []journal.Entry {
	switch e.Kind {
	case dispatch.Ended, dispatch.Interrupted:
		var out []journal.Entry
		for i := range r.Proposals {
			if p := &r.Proposals[i]; p.Fate == dispatch.FateLost && p.Life == e.Life {
				out = append(out, fileEntries(p.Changes, like, "interrupted", "its agent's turn ended before it was decided", len(out))...)
			}
		}
		return out
	}
	p := r.ProposalByID(e.Offer)
	if p == nil {
		return nil
	}
	switch e.Kind {
	case dispatch.Proposed:
		if e.Reason != "" {
			return fileEntries(p.Changes, like, "failed", "refused: "+e.Reason, 0)
		}
		return fileEntries(p.Changes, like, "proposed", p.Reason, 0)
	case dispatch.Decided:
		return fileEntries(others(p), like, "rejected", by(p.Note, e.By), 0)
	case dispatch.Applied:
		return fileEntries(p.Chosen(), like, "applied", by(p.Note, p.By), 0)
	case dispatch.NotApplied:
		return fileEntries(p.Chosen(), like, "failed", e.Reason, 0)
	case dispatch.Reverted:
		return fileEntries(inverse(p.Chosen()), like, "reverted", "", 0)
	case dispatch.NotReverted:
		return fileEntries(p.Chosen(), like, "failed", "not taken back: "+e.Reason, 0)
	}
	return nil
}

// by is a reason with who gave it.
func by(reason, who string) string {
	if reason = oneLine(reason); reason == "" {
		return "by the " + who
	}
	return reason + " (" + who + ")"
}

// others are the changes that were not chosen.
func others(p *dispatch.Proposal) (out []dispatch.Change) {
	chosen := map[string]bool{}
	for _, f := range p.Files {
		chosen[f] = true
	}
	for _, c := range p.Changes {
		if !chosen[c.File] {
			out = append(out, c)
		}
	}
	return out
}

// inverse is what takes changes back, as far as a journal has it.
func inverse(changes []dispatch.Change) (out []dispatch.Change) {
	for _, c := range changes {
		c.Before, c.After = c.After, c.Before
		if c.To != "" {
			c.File, c.To = c.To, c.File
		}
		out = append(out, c)
	}
	return out
}

// fileEntries are entries for changes; their ids go on from a number.
func fileEntries(changes []dispatch.Change, like journal.Entry, status, reason string, from int) []journal.Entry {
	var out []journal.Entry
	for i, c := range changes {
		j := like
		j.Status, j.Object, j.Event = status, c.File, fmt.Sprintf("%s-%d", like.Event, from+i+1)
		if j.Reason = oneLine(strings.TrimSpace(reason)); c.Reason != "" && status == "proposed" {
			j.Reason = strings.TrimPrefix(j.Reason+": "+oneLine(c.Reason), ": ")
		}
		if c.To != "" {
			j.Reason = strings.TrimSuffix("to "+c.To+": "+j.Reason, ": ")
		}
		j.Reason = short(j.Reason, 500)
		j.Before, j.After = digest(c.Before), digest(c.After)
		out = append(out, j)
	}
	return out
}

const digestKind = "sha256-"

func digest(hash string) string {
	if hash == "" {
		return ""
	}
	return digestKind + hash
}

// journalDiffMost bounds the diff of an entry (bytes); the whole of it is asked
// for with `deckhand diff`.
const journalDiffMost = 20_000

// journalDiff is the diff of an entry about a file that was, or is to be, written.
func journalDiff(state string, e journal.Entry) string {
	switch e.Status {
	case "proposed", "applied", "reverted":
	default:
		return ""
	}
	c, err := changeOf(state, dispatch.Change{
		Kind: string(change.Edit), Before: strings.TrimPrefix(e.Before, digestKind), After: strings.TrimPrefix(e.After, digestKind),
	})
	if err != nil {
		return ""
	}
	diff := c.Diff().Unified(diffContext)
	if len(diff) <= journalDiffMost {
		return diff
	}
	at := strings.LastIndexByte(diff[:journalDiffMost], '\n') + 1
	return diff[:at] + fmt.Sprintf("@@ %d more lines @@\n", strings.Count(diff[at:], "\n"))
}

// toldProposal is an entry about a proposal as a line of all that happened.
func toldProposal(e dispatch.Entry) (status, reason string, ok bool) {
	files := strings.Join(e.Files, ", ")
	switch e.Kind {
	case dispatch.Proposed:
		if e.Proposal == nil {
			return "", "", false
		}
		names := make([]string, 0, len(e.Proposal.Changes))
		for _, c := range e.Proposal.Changes {
			names = append(names, c.File)
		}
		if e.Reason != "" {
			return "failed", "a proposal was refused: " + e.Reason, true
		}
		return "proposed", withWords(e.Offer+": "+strings.Join(names, ", "), e.Proposal.Reason), true
	case dispatch.Decided:
		if len(e.Files) > 0 {
			return "", "", false
		}
		return "rejected", by(e.Text, e.By), true
	case dispatch.Applied:
		return "applied", files, true
	case dispatch.NotApplied:
		return "failed", e.Reason, true
	case dispatch.Reverted:
		return "reverted", files, true
	case dispatch.NotReverted:
		return "failed", "not taken back: " + e.Reason, true
	}
	return "", "", false
}

// proposalText is an entry about a proposal as a trace has it.
func proposalText(e dispatch.Entry) string {
	parts := []string{e.Offer}
	if e.Proposal != nil {
		for _, c := range e.Proposal.Changes {
			parts = append(parts, c.Kind+" "+c.Name())
		}
		parts = append(parts, e.Proposal.Reason)
	}
	if len(e.Files) > 0 {
		parts = append(parts, strings.Join(e.Files, ", "))
	}
	if e.Kind == dispatch.Decided && len(e.Files) == 0 {
		parts = append(parts, "rejected")
	}
	if e.By != "" {
		parts = append(parts, "by the "+e.By)
	}
	parts = append(parts, e.Text, e.Reason)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}
