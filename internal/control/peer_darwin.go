package control

import "golang.org/x/sys/unix"

// userOf asks the kernel for the user at the other end of a socket.
func userOf(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
