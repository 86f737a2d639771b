package cli

import (
	"errors"
	"io"
	"os"

	"deckhand/assistant"
	"deckhand/internal/config"
	"deckhand/internal/daemon"
)

// assistantMain is the hidden child: the built-in agent, in the work folder it
// was started in. `--config FILE` comes first; the rest is what the driver says.
func assistantMain(args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, errs: errs}
	if len(args) > 1 && args[0] == "--config" {
		a.confFlag, args = args[1], args[2:]
	}
	return assistant.Main(args, in, out, errs, func() (assistant.Options, error) {
		dir, err := os.Getwd()
		if err != nil {
			return assistant.Options{}, err
		}
		return assistantOptions(dir, a.configPath())
	})
}

// assistantOptions are what is configured, for the work folder dir.
func assistantOptions(dir, path string) (assistant.Options, error) {
	n, problems, err := daemon.LookAtNotes(dir, path)
	switch {
	case err != nil:
		return assistant.Options{}, err
	case config.Bad(problems):
		for _, p := range problems {
			if !p.Warning {
				return assistant.Options{}, errors.New(p.String())
			}
		}
	case n.Assistant == nil:
		return assistant.Options{}, errors.New("no assistant is configured: config.yaml has no assistant: section")
	}
	c := n.Assistant
	o := assistant.Options{
		BaseURL: c.BaseURL, Model: c.Model, Read: c.Read,
		Key: assistant.Key{Env: c.Key.Env, File: c.Key.File, Command: c.Key.Command},
		Dir: dir, Folder: n.Folder, Skip: n.Skip, Output: n.Output,
	}
	if p := c.Price; p != nil {
		o.Price = &assistant.Price{Input: p.Input, Cached: p.Cached, Output: p.Output}
	}
	return o, nil
}
