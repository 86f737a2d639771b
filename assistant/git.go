package assistant

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func gitTools() []tool {
	return []tool{
		{
			name: "git_log", kind: reads, about: "List what was saved in the history of the documents, newest first: id, date, who, subject.",
			params: map[string]any{
				"file": text("one document; leave it out for all"),
				"most": number("how many, at most 100; 20 when left out"),
			},
			run: with(gitLog),
		},
		{
			name: "git_show", kind: reads, about: "Show what one entry of the history changed in the documents, or a document as it was then.",
			params: map[string]any{
				"commit": text("the id of an entry of git_log"),
				"file":   text("show this document as it was then; leave it out for what the entry changed"),
			}, need: []string{"commit"},
			run: with(gitShow),
		},
		{
			name: "git_diff", kind: reads, about: "Show how the documents differ from an entry of the history; from the last one when none is named.",
			params: map[string]any{
				"commit": text("the id of an entry of git_log; leave it out for the last one"),
				"file":   text("one document; leave it out for all"),
			},
			run: with(gitDiff),
		},
	}
}

// git is how long git may take, and how long its answer after its end: a child of
// its own can hold on to the pipe.
type git struct{ limit, grace time.Duration }

func newGit() git { return git{limit: 120 * time.Second, grace: 5 * time.Second} }

// gitMost is how much of what git prints is read.
const gitMost = 4 << 20

// run always answers: with what git printed, or with a failure the model reads.
// It never runs git a second time. git asks nobody: it has no terminal, no input
// and no prompt, and it runs no program to show what it shows.
func (g git) run(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, g.limit)
	defer cancel()
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "--no-pager"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = dir, g.grace
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, errs := &bounds{most: gitMost}, &bounds{most: 4096}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("git did not finish within %d seconds", int(g.limit.Seconds()))
	case errors.Is(err, exec.ErrWaitDelay):
		return "", errors.New("git finished but its result was lost; try again")
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed: there is no history to read")
	case errors.As(err, &exit):
		why, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git: %s", first(strings.TrimPrefix(why, "fatal: "), err.Error()))
	case err != nil:
		return "", fmt.Errorf("git: %w", err)
	}
	return out.String(), nil
}

// bounds keeps the beginning of what is written to it.
type bounds struct {
	bytes.Buffer

	most int
}

func (b *bounds) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, b.most-b.Len()))])
	return len(p), nil
}

// commitForm is a name of an entry that git cannot take for anything else.
var commitForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(HEAD([~^]\d*)*|[0-9a-fA-F]{4,64}([~^]\d*)*)$`) })

func commit(name string) (string, error) {
	if !commitForm().MatchString(name) {
		return "", fmt.Errorf("%q is no entry of the history: take the id from git_log", name)
	}
	return name, nil
}

// where are the documents that are looked at: one, or all.
func (t *turn) where(file string) ([]string, error) {
	if file == "" {
		return []string{"--", ":(glob)**/*.md", ":(glob)**/*.markdown"}, nil
	}
	f, err := t.folder()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(file, ".") || strings.Contains(file, "/.") || !isNote(file) || f.leftOut(file, false) {
		return nil, fmt.Errorf("no document is called %q", file)
	}
	return []string{"--", ":(literal)" + file}, nil
}

func (t *turn) git(args ...string) (string, error) {
	return newGit().run(t.ctx, t.a.o.Dir, args...)
}

func gitLog(t *turn, args struct {
	File string
	Most int
},
) (string, error) {
	paths, err := t.where(args.File)
	if err != nil {
		return "", err
	}
	most := 20
	if args.Most > 0 {
		most = min(args.Most, 100)
	}
	out, err := t.git(append([]string{"log", "-n", strconv.Itoa(most), "--date=iso-strict", "--format=%h %ad %an: %s"}, paths...)...)
	if err == nil && out == "" {
		out = "the history holds nothing about it"
	}
	return out, err
}

// safely are the options with which git runs no program to show a difference.
func safely(command string, more ...string) []string {
	return append([]string{command, "--no-ext-diff", "--no-textconv", "--no-color", "--relative"}, more...)
}

func gitShow(t *turn, args struct{ Commit, File string }) (string, error) {
	name, err := commit(args.Commit)
	if err != nil {
		return "", err
	}
	paths, err := t.where(args.File)
	if err != nil {
		return "", err
	}
	if args.File != "" {
		out, err := t.git("show", "--no-textconv", "--no-color", name+":./"+args.File)
		if err != nil {
			return "", err
		}
		return numbered(out, 1), nil
	}
	return t.git(append(safely("show", "--date=iso-strict", "--format=%h %ad %an%n%s%n%b", name), paths...)...)
}

func gitDiff(t *turn, args struct{ Commit, File string }) (string, error) {
	name := "HEAD"
	if args.Commit != "" {
		var err error
		if name, err = commit(args.Commit); err != nil {
			return "", err
		}
	}
	paths, err := t.where(args.File)
	if err != nil {
		return "", err
	}
	out, err := t.git(append(safely("diff", name), paths...)...)
	if err == nil && out == "" {
		out = "nothing differs"
	}
	return out, err
}
