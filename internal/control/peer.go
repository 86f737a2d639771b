package control

import (
	"errors"
	"net"
)

// peer is the user at the other end, as the kernel knows it.
func peer(c net.Conn) (int, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errors.New("no unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	var uid int
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, asked = userOf(int(fd)) }); err != nil {
		return 0, err
	}
	return uid, asked
}
