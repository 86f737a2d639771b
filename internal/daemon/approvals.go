package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"deckhand/dispatch"
	"deckhand/internal/control"
)

// approvalsFile holds the permissions that were given for more than once. They
// are the machine's: no note can give one.
const approvalsFile = "approvals.json"

const (
	approvalsMost = 16 << 20 // bytes of the file that are read
	approvalsKept = 1000     // permissions; more are not given before some are taken back
)

// approvals are the permissions in force. Those of a file that cannot be read are
// none, and the file is left as it is.
type approvals struct {
	all   []dispatch.Approval
	fault string // why the file cannot be read
}

// loadApprovals reads them.
func (m *model) loadApprovals() {
	data, err := readOptional(m.f.path(approvalsFile), approvalsMost)
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &m.approvals.all)
	}
	if err != nil {
		m.approvals = approvals{fault: oneLine(err.Error())}
	}
}

// approvalFault names what is wrong with the file of the permissions.
func (m *model) approvalFault() (control.Problem, bool) {
	return control.Problem{
		Where: tilde(m.f.path(approvalsFile)), Text: "nothing is allowed for more than once: " + m.approvals.fault,
		Hint: "mend it, or delete it: each question is asked again then",
	}, m.approvals.fault != ""
}

// permission is the one that a yes to an ask gives; false: it reaches no further
// than once.
func (d *daemon) permission(r *run, ask dispatch.Ask, a dispatch.Answer, by string) (p dispatch.Approval, ok bool) {
	if a.Confirmed == nil || !*a.Confirmed || a.Scope == "" || a.Scope == dispatch.ScopeOnce {
		return p, false
	}
	now := time.Now()
	return dispatch.Approval{
		ID: strings.ToLower(d.ids.next(now)), Scope: a.Scope, Run: r.ID, Agent: r.Agent, Folder: r.Folder, Project: r.Project,
		Title: ask.Title, Message: ask.Message, Digest: dispatch.Digest(r.Run, ask), Given: now, By: by,
	}, true
}

// mayGrant says why no permission can be kept beside those that there are.
func (d *daemon) mayGrant() error {
	switch d.pruneApprovals(); {
	case d.approvals.fault != "":
		return refused(control.CodeError, "allow it once", "%s: %s", tilde(d.f.path(approvalsFile)), d.approvals.fault)
	case len(d.approvals.all) >= approvalsKept:
		return refused(control.CodeError, "deckhand approvals revoke ID", "%d permissions are kept, and no more", approvalsKept)
	}
	return nil
}

// pruneApprovals drops those of runs that do not come back.
func (d *daemon) pruneApprovals() {
	d.approvals.all = slices.DeleteFunc(slices.Clone(d.approvals.all), func(p dispatch.Approval) bool {
		r := d.runs[p.Run]
		return p.Scope == dispatch.ScopeSession && (r == nil || r.Outcome == dispatch.Accept && !r.Live())
	})
}

// keepApprovals puts others in the place of those that there are.
func (d *daemon) keepApprovals(all []dispatch.Approval) error {
	if err := writeJSON(d.f.path(approvalsFile), all); err != nil {
		return err
	}
	d.approvals.all, d.dirty = all, true
	return nil
}

// takeBackApproval undoes one whose answer does not count.
func (d *daemon) takeBackApproval(id string) {
	all := slices.DeleteFunc(slices.Clone(d.approvals.all), func(p dispatch.Approval) bool { return p.ID == id })
	if err := d.keepApprovals(all); err != nil {
		d.approvals.all = all // in force until the next start at most
		d.say("%s: %v", approvalsFile, err)
	}
}

// covered reports whether an ask is answered by a permission: nobody is told of it.
func (m *model) covered(r *run, ask string) bool {
	a := r.AskByID(ask)
	return a != nil && slices.ContainsFunc(m.approvals.all, func(p dispatch.Approval) bool { return p.Covers(r.Run, *a) })
}

// usedApproval counts that a permission answered an ask. The log has it; the
// count is for the list.
func (d *daemon) usedApproval(id string) {
	all := slices.Clone(d.approvals.all)
	i := slices.IndexFunc(all, func(p dispatch.Approval) bool { return p.ID == id })
	if i < 0 {
		return
	}
	all[i].Used++
	all[i].Last = time.Now()
	if err := d.keepApprovals(all); err != nil {
		d.say("%s: %v", approvalsFile, err)
	}
}

// doRevoke takes a permission back: the next ask it would have answered waits for
// a person.
func (d *daemon) doRevoke(c control.Command) (res control.Result, err error) {
	id := strings.ToLower(strings.TrimSpace(c.Text))
	var left, gone []dispatch.Approval
	for _, p := range d.approvals.all {
		if id != "" && strings.HasPrefix(p.ID, id) {
			gone = append(gone, p)
		} else {
			left = append(left, p)
		}
	}
	switch {
	case len(gone) == 0:
		return res, refused(control.CodeError, "deckhand approvals", "no permission has the id %q", id)
	case len(gone) > 1:
		e := &control.Error{Text: fmt.Sprintf("%d permissions begin with %q", len(gone), id), Code: control.CodeError}
		for _, p := range gone {
			e.Matches = append(e.Matches, p.ID+" "+oneLine(p.Message))
		}
		return res, e
	}
	if err := d.keepApprovals(left); err != nil {
		return res, err
	}
	return control.Result{Text: "revoked: " + short(oneLine(gone[0].Message), 200)}, nil
}

func (m *model) approvalViews() []control.Approval {
	out := []control.Approval{}
	for _, p := range m.approvals.all {
		v := control.Approval{
			ID: p.ID, Scope: p.Scope, Agent: p.Agent, Project: p.Project, Folder: p.Folder, Run: p.Run,
			Title: p.Title, Message: p.Message, Given: p.Given, By: p.By, Used: p.Used,
		}
		if !p.Last.IsZero() {
			v.Last = &p.Last
		}
		out = append(out, v)
	}
	return out
}
