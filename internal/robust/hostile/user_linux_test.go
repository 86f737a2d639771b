package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/internal/control"
	"deckhand/internal/daemon"
	"deckhand/internal/robust"
)

// knock asks a socket for the status and for all runs to be stopped, as another
// user. A user is a thread's on Linux: this one is not given back.
func knock(ctx context.Context, socket string, user int) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer)
	go func() {
		runtime.LockOSThread()
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(user), uintptr(user), uintptr(user)); errno != 0 {
			done <- answer{"", errno}
			return
		}
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			done <- answer{"", err}
			return
		}
		defer c.Close()
		const stop = `{"id":"knock","name":"stop","text":"--all"}`
		_, err = fmt.Fprintf(c, "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\nPOST /v1/do HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(stop), stop)
		text, read := io.ReadAll(c)
		done <- answer{string(text), errors.Join(err, read)}
	}()
	a := <-done
	return a.text, a.err
}

// TestOtherUserIsRefused: a process of another user gets nothing from the
// socket: not by its mode, not by that of its folder, and not when careless
// hands have opened both.
func TestOtherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("to be another user needs root")
	}
	const nobody = 65534
	ctx := bounded(t)
	p := robust.NewPlace(t, robust.Fast, "shop")
	p.Save("Shop.md", boardOf("shop", "- [ ] Long [record] [hang] @pi\n"))
	d := p.Start(ctx)
	p.Await(ctx, nil, func() bool { return len(p.Record("shop")) == 1 })
	d.Until(func(s control.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Status == "working" })
	socket := control.SocketPath(p.Options.Runtime, daemon.Key(p.Work))
	for path, want := range map[string]fs.FileMode{socket: 0o600, filepath.Dir(socket): 0o700, p.Options.State: 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has not the mode %v: %v %v", path, want, info, err)
		}
	}
	modes(t, p)
	open := []string{p.Root, p.Path("run"), filepath.Dir(socket)}
	for _, dir := range open {
		if text, err := knock(ctx, socket, nobody); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("before %s is opened: %q %v", dir, text, err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := knock(ctx, socket, nobody); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the socket lets another user in by its mode: %q %v", text, err)
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := knock(ctx, socket, nobody); text != "" {
		t.Errorf("another user was answered: %.300s %v", text, err)
	}
	if text, err := knock(ctx, socket, os.Getuid()); !strings.Contains(text, http.StatusText(http.StatusOK)) {
		t.Errorf("its own user was not answered: %.300q %v", text, err)
	}
	if got := p.Record("shop"); len(got) != 1 {
		t.Errorf("record %q, want the start alone", got)
	}
}
