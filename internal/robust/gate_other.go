//go:build !linux

package robust

import (
	"errors"
	"os/exec"
)

// Gate is only on Linux.
type Gate struct{}

const gateCommand = "gate"

func gateMain([]string) error { return errors.New("only Linux has a gate") }

func (*Gate) start(*exec.Cmd) {}
