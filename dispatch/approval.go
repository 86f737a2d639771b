package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"
)

// Scopes of a permission: how far it reaches.
const (
	ScopeOnce    = "once"
	ScopeSession = "session" // the same again in this run
	ScopeProject = "project" // the same again in this project folder
	ScopeAlways  = "always"  // the same again in every project of the work folder
)

// Approval is a permission that a person gave for more than once. It covers the
// same question of the same agent, to the letter: another argument, another
// reason to ask or another tool is asked about again.
type Approval struct {
	ID      string    `json:"id"`
	Scope   string    `json:"scope"`
	Run     string    `json:"run"` // in which it was given
	Agent   string    `json:"agent"`
	Folder  string    `json:"folder"` // real path of the project
	Project string    `json:"project"`
	Title   string    `json:"title"`
	Message string    `json:"message"`
	Digest  string    `json:"digest"` // of the question
	Given   time.Time `json:"given"`
	By      string    `json:"by"`
	Used    int       `json:"used"`
	Last    time.Time `json:"last,omitzero"` // when it was used last
}

// Digest names a question: what is asked and the whole of what it is about. The
// project's name in it does not count, so that the same can be meant elsewhere.
func Digest(r *Run, a Ask) string {
	title := strings.Replace(a.Title, " in "+path.Base(r.Folder)+"?", " in ?", 1)
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Agent, a.Kind, title, a.Message}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Scopes are how far a yes to an ask can reach: further than once only where all
// that is allowed stands there to be read.
func Scopes(a Ask) []string {
	if a.Kind != "confirm" || a.Message == "" || !whole(a.Title) || !whole(a.Message) {
		return []string{ScopeOnce}
	}
	return []string{ScopeOnce, ScopeSession, ScopeProject, ScopeAlways}
}

// Covers reports whether the permission was given for an ask of a run.
func (p Approval) Covers(r *Run, a Ask) bool {
	if p.Digest != Digest(r, a) || len(Scopes(a)) == 1 {
		return false
	}
	switch p.Scope {
	case ScopeSession:
		return p.Run == r.ID
	case ScopeProject:
		return p.Folder == r.Folder
	}
	return p.Scope == ScopeAlways
}

// approved answers an ask that a person has answered for more than once.
func (k *keep) approved(r *Run) bool {
	for _, a := range r.Asks {
		i := slices.IndexFunc(k.w.Set.Approvals, func(p Approval) bool { return p.Covers(r, a) })
		if i < 0 {
			continue
		}
		p, yes := k.w.Set.Approvals[i], true
		k.do(Action{Do: DoAnswer, Run: r.ID, Ask: a.ID, By: ByApproval, Approval: p.ID, Answer: &Answer{Confirmed: &yes, Scope: p.Scope}})
		return true
	}
	return false
}
