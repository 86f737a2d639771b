package cli

import (
	"context"
	"os"
	"os/exec"
)

// git runs git in a folder and gives what it prints. It never asks for anything.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	out, err := c.Output()
	return string(out), err
}
