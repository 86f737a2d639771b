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

// Recover is the table of runs.md: what to do with a run at a start, from its
// log, its latest life, and whether its claim stands on a board. Rows about the
// card itself (ticked, moved, gone) are Reconcile's, as if it had happened now.
func Recover(r *Run, life Life, claimOnBoard bool) Step {
	switch {
	case r.Phase == PhaseReleased, r.Phase == PhaseOver && !life.Held:
		return StepNone
	case life.Held && !life.HasOut:
		return StepWait
	case life.Held && r.Phase == PhaseStopping:
		return StepStop
	case life.Held:
		return StepAttach
	case r.Phase == PhaseClaimed && r.Life < life.N && life.HasOut, r.Phase != PhaseClaimed && life.HasOut:
		return finishedLife(life)
	case r.Phase == PhaseClaimed && claimOnBoard:
		return StepStart
	case r.Phase == PhaseClaimed && r.Life == 0:
		return StepForget
	case r.Phase == PhaseClaimed:
		return StepStart
	}
	return StepInterrupt // started, by its log, and its capture is gone
}

func finishedLife(life Life) Step {
	if life.Exit {
		return StepRead
	}
	return StepInterrupt
}
