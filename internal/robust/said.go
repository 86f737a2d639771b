package robust

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// Said is what a command printed, and its exit code; -1 when a signal ended it.
type Said struct {
	Out, Err string
	Code     int
}

// Type runs a command as a person types it in the work folder.
func (p *Place) Type(ctx context.Context, args ...string) Said {
	p.t.Helper()
	return p.Hear(p.Command(ctx, args...))
}

// Hear runs any command and listens.
func (p *Place) Hear(cmd *exec.Cmd) Said {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		p.t.Fatal(err) // it could not even be started
	}
	return Said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// Prompts are those that were sent, in the order of their lives.
func (p *Place) Prompts() []string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.Options.State, "*/runs/*/*/prompt.md"))
	must(p.t, err)
	var out []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		must(p.t, err)
		out = append(out, string(data))
	}
	return out
}
