package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// dialWait bounds how long a socket file may keep us waiting for an answer.
const dialWait = 2 * time.Second

// SocketPath is where the daemon of the work folder with this key listens.
func SocketPath(runtime, key string) string { return filepath.Join(runtime, key+".sock") }

// Listen makes the socket. A socket file that a dead daemon left is replaced;
// anything else in its place, a folder that others can enter, and a daemon that
// answers are refused.
func Listen(path string) (net.Listener, error) {
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), l.Close())
	}
	return ownListener{l}, nil
}

// privateFolder makes the socket's folder, or checks the one that is there: in
// a shared temporary folder somebody else may have made it first.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("folder of the control socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("folder of the control socket: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a folder of this user: the control socket cannot stand there", dir)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("folder of the control socket: %w", err)
	}
	return nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way of the control socket", path)
	}
	c, err := net.DialTimeout("unix", path, dialWait)
	if err == nil {
		return errors.Join(fmt.Errorf("a daemon answers at %s", path), c.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("stale control socket: %w", err)
	}
	return nil
}

// ownListener drops connections of other users.
type ownListener struct{ net.Listener }

func (l ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if uid, err := peer(c); err == nil && uid == os.Getuid() {
			return c, nil
		}
		_ = c.Close() // refused: whoever it was learns nothing
	}
}

// dial connects to a daemon of this user. In a shared temporary folder the
// socket could be somebody else's.
func dial(ctx context.Context, path string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialWait}
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if uid, err := peer(c); err != nil || uid != os.Getuid() {
		_ = c.Close() // nothing was written to it
		return nil, fmt.Errorf("%s is another user's", path)
	}
	return c, nil
}
