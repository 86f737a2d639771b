package dispatch

// Life is what the disk and the kernel say of the latest life of a run.
type Life struct {
	N      int  // 0: there is none
	HasOut bool // its capture was created: an agent may have run
	Held   bool // its keeper holds the lock
	Exit   bool // exit.json is there: the capture is complete
}

// Step is what a start does with a run that was open.
type Step string

// The steps.
const (
	StepNone      Step = "none"      // Reconcile does the rest
	StepForget    Step = "forget"    // nothing ran and nothing is claimed: release
	StepStart     Step = "start"     // nothing ran: Reconcile starts it when the rules still hold, else takes the claim back
	StepWait      Step = "wait"      // a keeper is just starting: wait for a capture or a free lock
	StepAttach    Step = "attach"    // decode the capture and go on
	StepStop      Step = "stop"      // attach, and go on stopping
	StepRead      Step = "read"      // decode what is left of the capture; it ends by itself
	StepInterrupt Step = "interrupt" // the keeper died: sweep, and say so
)

// Recover is the table: what to do with a run at a start, from its log, its
// latest life, and whether its claim stands on a board. Rows about the card
// itself (ticked, moved, gone) are Reconcile's, as if it had happened now.
//
//	log's last          has out  lock  exit  claim    then
//	released            any      any   any   any      nothing
//	over                any      free  any   any      nothing
//	any                 no       held  –     any      wait
//	stopping            yes      held  –     any      go on stopping
//	any other           yes      held  –     any      attach
//	claimed, no life    no       free  –     no       forget the claim
//	claimed, any other  no       free  –     any      start, if the rules still hold
//	any                 yes      free  yes   any      read the rest
//	finished            yes      free  no    any      read the rest: its turn was over
//	any other           yes      free  no    any      interrupted
//	any other           no       free  –     any      interrupted: its capture is gone
func Recover(r *Run, life Life, claimOnBoard bool) Step {
	switch {
	case r.Phase == PhaseReleased, r.Phase == PhaseOver && !life.Held:
		return StepNone
	case life.Held:
		return heldLife(r, life)
	case r.Phase != PhaseClaimed:
		return freeLife(r, life)
	case life.HasOut && r.Life < life.N: // its start was not logged any more
		return freeLife(r, life)
	case r.Life == 0 && !claimOnBoard:
		return StepForget
	}
	return StepStart
}

func heldLife(r *Run, life Life) Step {
	switch {
	case !life.HasOut:
		return StepWait
	case r.Phase == PhaseStopping:
		return StepStop
	}
	return StepAttach
}

func freeLife(r *Run, life Life) Step {
	if life.HasOut && (life.Exit || r.Phase == PhaseEnding) {
		return StepRead
	}
	return StepInterrupt
}
