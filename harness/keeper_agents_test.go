package harness

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test program is the keeper and the agents, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case KeepCommand:
			os.Exit(KeepMain(os.Args[2:]))
		case "agent":
			os.Exit(agentMain(os.Args[2], os.Args[3:]))
		}
	}
	os.Exit(m.Run())
}

// agentMain is an agent of a certain style.
func agentMain(style string, args []string) int {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	defer out.Flush()
	switch style {
	case "echo":
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return 0
			}
			fmt.Fprintf(out, "got %s", line)
			out.Flush()
		}
	case "exit":
		code, _ := strconv.Atoi(args[0])
		fmt.Fprintf(out, "bye")
		return code
	case "say": // bytes, with \n for line ends, on out and err by turns
		for i, s := range args {
			s = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(s)
			if i%2 == 0 {
				io.WriteString(os.Stdout, s)
			} else {
				io.WriteString(os.Stderr, s)
			}
		}
		return 0
	case "flood": // bytes in lines of 200
		total, _ := strconv.Atoi(args[0])
		line := append(bytes.Repeat([]byte{'x'}, 199), '\n')
		for range total / len(line) {
			out.Write(line)
		}
		return 0
	case "long": // a line of that many bytes, then a short one
		total, _ := strconv.Atoi(args[0])
		block := bytes.Repeat([]byte{'y'}, 64<<10)
		for left := total; left > 0; left -= len(block) {
			out.Write(block[:min(left, len(block))])
		}
		out.WriteString("\nafter\n")
		return 0
	case "look":
		look(out)
		return 0
	case "hold", "stray", "fork":
		return tool(style, args)
	}
	return lasting(style, args)
}

// lasting are styles that do not end by themselves.
func lasting(style string, args []string) int {
	switch style {
	case "signal":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		wait()
	case "closed": // reads nothing more
		os.Stdin.Close()
		fmt.Println("closed")
		wait()
	case "wait":
		fmt.Println("ready")
		wait()
	case "deaf": // to everything but KILL
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		wait()
	case "polite": // says in a file that it was asked to end
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		if err := os.WriteFile(filepath.Join(args[0], "told"), nil, 0o600); err != nil {
			return 1
		}
	default:
		fmt.Fprintf(os.Stderr, "no style %q\n", style)
		return 97
	}
	return 0
}

// tool are styles that leave processes behind.
func tool(style string, args []string) int {
	start := func(attr syscall.SysProcAttr, share bool, argv ...string) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe", append([]string{"agent"}, argv...)...)
		cmd.SysProcAttr = &attr
		if share {
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return cmd
	}
	switch style {
	case "hold": // exits; a child in its group holds the output
		start(syscall.SysProcAttr{}, true, args...)
		fmt.Println("left")
		return 3
	case "stray": // a tool in a session of its own, deaf if so wished
		cmd := start(syscall.SysProcAttr{Setsid: true}, false, args...)
		fmt.Println("tool", cmd.Process.Pid)
		io.Copy(io.Discard, os.Stdin)
		return 0
	case "fork": // for ever a new process that starts another and ends
		n, _ := strconv.Atoi(args[0])
		if n > 0 {
			start(syscall.SysProcAttr{Setsid: true}, false, "fork", strconv.Itoa(n-1))
		}
		wait()
	}
	return 0
}

// wait waits for a signal that ends the process. A channel alone would be a
// deadlock to the runtime.
func wait() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	<-c
}

// look prints what an agent finds around it.
func look(w io.Writer) {
	mask := unix.Umask(0)
	dir, _ := os.Getwd()
	sid, _ := unix.Getsid(0)
	fds, _ := filepath.Glob("/proc/self/fd/*")
	open := 0
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasSuffix(to, lockFile) {
			open++
		}
	}
	fmt.Fprintf(w, "umask=%03o dir=%s group=%v session=%v locks=%d token=%s secret=%s\n", mask, dir,
		unix.Getpgrp() == os.Getpid(), sid == os.Getpid(), open, os.Getenv(TokenVar), os.Getenv("A_SECRET"))
}
