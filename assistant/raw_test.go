package assistant_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"deckhand/change"
)

// raw is the assistant at the end of two pipes, in the words of its protocol.
type raw struct {
	p     *place
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	lines []map[string]any
}

func (p *place) raw() *raw {
	p.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	r := &raw{p: p, cmd: exec.CommandContext(p.Context(), exe, "--mode", "rpc", "--session", p.spec.Session)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = p.spec.Dir, p.environ(), os.Stderr
	in, err := r.cmd.StdinPipe()
	if err != nil {
		p.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	r.in, r.out = in, bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	return r
}

func (r *raw) send(v map[string]any) {
	r.p.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		r.p.Fatal(err)
	}
	if _, err := r.in.Write(append(data, '\n')); err != nil {
		r.p.Fatal(err)
	}
}

func (r *raw) prompt(text string) {
	r.p.Helper()
	r.send(map[string]any{"type": "prompt", "id": "x", "message": text})
}

// until reads to the next line of a type.
func (r *raw) until(kind string) map[string]any {
	r.p.Helper()
	for {
		data, err := r.out.ReadBytes('\n')
		if err != nil {
			r.p.Fatalf("no %s: %v; so far %v", kind, err, r.lines)
		}
		line := map[string]any{}
		if err := json.Unmarshal(data, &line); err != nil {
			r.p.Fatalf("%s: %v", data, err)
		}
		r.lines = append(r.lines, line)
		switch line["type"] {
		case kind:
			return line
		case "agent_settled", "propose": // what is waited for does not come any more
			r.p.Fatalf("no %s, but %s; tools gave %q", kind, line["type"], r.results())
		}
	}
}

// changes are those of a proposal.
func (r *raw) changes(line map[string]any) (out []change.Change) {
	r.p.Helper()
	data, err := json.Marshal(line["changes"])
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil || len(out) == 0 {
		r.p.Fatalf("no changes in %v: %v", line, err)
	}
	return out
}

// apply does what deckhand does with a change that a person applies.
func (p *place) apply(c change.Change) {
	p.Helper()
	at := func(rel string) string { return p.spec.Dir + "/" + rel }
	var err error
	switch c.Kind {
	case change.Delete:
		err = os.Remove(at(c.File))
	case change.Move:
		if err = os.Remove(at(c.File)); err == nil {
			err = os.WriteFile(at(c.To), []byte(c.After), 0o644)
		}
	default:
		err = os.WriteFile(at(c.File), []byte(c.After), 0o644)
	}
	if err != nil {
		p.Fatal(err)
	}
}

// kill ends it as a power cut does.
func (r *raw) kill() {
	r.p.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		r.p.Fatal(err)
	}
	_ = r.cmd.Wait()
}

func (r *raw) end() {
	r.p.Helper()
	r.in.Close()
	_, _ = io.Copy(io.Discard, r.out)
	if err := r.cmd.Wait(); err != nil {
		r.p.Errorf("it ended with %v", err)
	}
}

// results are what tools gave, of the lines so far.
func (r *raw) results() (out []string) {
	for _, l := range r.lines {
		if l["type"] == "tool_execution_end" {
			data, err := json.Marshal(l["result"])
			if err != nil {
				r.p.Fatal(err)
			}
			var res struct{ Content []struct{ Text string } }
			if err := json.Unmarshal(data, &res); err != nil {
				r.p.Fatal(err)
			}
			out = append(out, res.Content[0].Text)
		}
	}
	return out
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("%s lacks %q:\n%s", what, w, text)
		}
	}
}
