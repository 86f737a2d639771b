// Command agent tells a socket when it began, before it does anything else, and
// becomes the stand-in:
//
//	agent SOCKET DECKHAND ARGUMENTS…
//
// It is small, so that what is measured is the way to it and not its own start.
package main

import (
	"encoding/binary"
	"os"
	"slices"
	"syscall"
	"time"
)

func main() {
	now := time.Now()
	err := tell(os.Args[1], now)
	if err == nil {
		err = syscall.Exec(os.Args[2], append([]string{"deckhand", "standin"}, os.Args[3:]...), os.Environ())
	}
	println("agent:", err.Error())
	os.Exit(1)
}

func tell(socket string, at time.Time) error {
	if slices.Contains(os.Args, "--version") {
		return nil // only looked at
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Sendto(fd, binary.LittleEndian.AppendUint64(nil, uint64(at.UnixNano())), 0, &syscall.SockaddrUnix{Name: socket})
}
