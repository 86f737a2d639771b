package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/assistant"
	"deckhand/harness"
)

func (a *app) commitMessageCmd() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "commit-message", Short: "a message for what is staged, by the assistant's model", Args: atMost(0),
		Long: `One request, without tools, of what is staged in the git repository you stand in:
at most 30,000 characters, of which each file gets a fair share; what was left out
is said. The message is printed. With --write it is put into FILE, before what git
has put there; a FILE that has a message already stays as it is.

As a hook, in .git/hooks/prepare-commit-msg, for commits without a message:

  #!/bin/sh
  [ -n "$2" ] || deckhand commit-message --write "$1"

With --write it never keeps a commit from being made: what went wrong is said, the
file stays as it was, and the exit code is 0.`,
	}
	c.Flags().StringVar(&file, "write", "", "put it into this file, which git names")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if file == "" {
			text, err := a.commitMessage(c.Context())
			if err != nil {
				return err
			}
			a.say("%s", text)
			return nil
		}
		if err := a.writeMessage(c.Context(), file); err != nil {
			a.note("deckhand: no message was written: %s", clean(err.Error()))
		}
		return nil
	}
	return c
}

// writeMessage puts the message before what stands in a file of git's.
func (a *app) writeMessage(ctx context.Context, file string) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(before)) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			return errors.New("there is one already")
		}
	}
	text, err := a.commitMessage(ctx)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, before) {
		return errors.New(file + " was changed meanwhile")
	}
	return os.WriteFile(file, append([]byte(text+"\n"), before...), 0o644)
}

// commitMessage asks for the message, and says what of the differences was left out.
func (a *app) commitMessage(ctx context.Context) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	o, err := assistantOptions(dir, a.configPath())
	if err != nil {
		return "", err
	}
	if err := a.keyFromFile(o.Key.Env); err != nil {
		return "", err
	}
	staged, subjects, err := lookStaged(ctx, dir)
	if err != nil {
		return "", err
	}
	m, err := assistant.WriteMessage(ctx, o, staged, subjects)
	for i, p := range m.Parts {
		switch {
		case staged[i].Err != nil:
			a.note("%s could not be read: %s", clean(p.File), clean(staged[i].Err.Error()))
		case p.Left > 0:
			a.note("%s is long: %d lines of its difference were left out", clean(p.File), p.Left)
		}
	}
	return m.Text, err
}

// keyFromFile takes a key that stands only in the env_file of the configuration,
// as agents get it.
func (a *app) keyFromFile(name string) error {
	if name == "" || os.Getenv(name) != "" {
		return nil
	}
	m, err := a.machine()
	if err != nil || m.EnvFile == "" {
		return err
	}
	data, err := os.ReadFile(m.EnvFile)
	if err != nil {
		return fmt.Errorf("env_file: %w", err)
	}
	env, err := harness.ParseEnvFile(data)
	if err != nil {
		return fmt.Errorf("env_file: %w", err)
	}
	return os.Setenv(name, env[name])
}

// subjectsMost is how many subjects show the style.
const subjectsMost = "10"

// lookStaged reads what is staged, and the latest subjects.
func lookStaged(ctx context.Context, dir string) (staged []assistant.Staged, subjects []string, err error) {
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, nil, fmt.Errorf("%s is in no git repository", tilde(dir))
	}
	top = strings.TrimSuffix(top, "\n")
	names, err := git(ctx, top, "diff", "--cached", "--name-only", "--no-renames", "-z")
	if err != nil {
		return nil, nil, fmt.Errorf("git diff: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		s := assistant.Staged{File: name}
		s.Diff, s.Err = git(ctx, top, "diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--", ":(literal)"+name)
		staged = append(staged, s)
	}
	log, err := git(ctx, top, "log", "-n", subjectsMost, "--no-show-signature", "--format=%s")
	if err != nil {
		return staged, nil, nil // there is no commit yet
	}
	for line := range strings.Lines(log) {
		subjects = append(subjects, strings.TrimSuffix(line, "\n"))
	}
	return staged, subjects, nil
}
