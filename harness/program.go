package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// Fault is what is wrong with a program, and what a person can do about it.
type Fault struct {
	Missing bool   // there is no such file
	Text    string // behind the program's path: "is not executable"
	Hint    string // what to do; empty where it only needs to be installed
}

// CheckProgram says why a file cannot be started as a program; nil when, as far
// as its name and rights tell, it can.
func CheckProgram(path string) *Fault {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		if to, err := os.Readlink(path); err == nil {
			return &Fault{Text: "is a link to " + OneSentence(to) + ", which is not there", Hint: "install it again, or correct the link"}
		}
		return &Fault{Missing: true, Text: "was not found"}
	case err != nil:
		return &Fault{Text: "cannot be looked at: " + reasonOf(err), Hint: "ls -l " + quoted(path)}
	case info.IsDir():
		return &Fault{Text: "is a folder", Hint: "name the program in it in the agent's command"}
	case !info.Mode().IsRegular():
		return &Fault{Text: "is not a file", Hint: "name a program in the agent's command"}
	case info.Mode()&0o111 == 0:
		return &Fault{Text: "is not executable", Hint: "chmod +x " + quoted(path)}
	}
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS); errors.Is(err, unix.EACCES) {
		return &Fault{Text: "may not be run by this user", Hint: "look at its rights (ls -l " + quoted(path) + "), and whether its disk is mounted noexec"}
	}
	return nil
}

// StartFault says why a program that passed CheckProgram could not be started
// with err. The system's own words are about the file that was named, also when
// it is the interpreter of a script that is missing.
func StartFault(path string, err error) Fault {
	first := firstLineOf(path)
	script, isScript := bytes.CutPrefix(first, []byte("#!"))
	interpreter, _, _ := strings.Cut(strings.Trim(strings.ReplaceAll(string(script), "\t", " "), " "), " ")
	switch {
	case isScript && strings.HasSuffix(interpreter, "\r"):
		return Fault{Text: "it has Windows line ends, so that its interpreter is not found", Hint: "sed -i 's/\\r$//' " + quoted(path)}
	case isScript && interpreter != "":
		if f := CheckProgram(interpreter); f != nil {
			return Fault{Text: "its interpreter " + OneSentence(interpreter) + " " + f.Text, Hint: "correct the first line of " + path + ", or install its interpreter"}
		}
	case errors.Is(err, fs.ErrNotExist):
		return Fault{Text: "the loader it was linked for is not there", Hint: "install it for this system"}
	case errors.Is(err, unix.ENOEXEC) && bytes.IndexByte(first, 0) < 0:
		return Fault{Text: "it is neither a program nor a script", Hint: "a script's first line names its interpreter: #!/bin/sh"}
	case errors.Is(err, unix.ENOEXEC):
		return Fault{Text: "it is not a program for this machine", Hint: "install it for this system"}
	}
	return Fault{Text: reasonOf(err), Hint: "try " + quoted(path) + " in a terminal"}
}

// quoted is a path as a shell wants it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r > unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+@:,=%", r)
	}
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// firstLineOf is the first line of a file, as far as the system reads one for
// the interpreter.
func firstLineOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	const most = 256
	first, _ := io.ReadAll(io.LimitReader(f, most))
	first, _, _ = bytes.Cut(first, []byte("\n"))
	return first
}

// reasonOf is what the system says, without the name of the file.
func reasonOf(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Sprint(err)
}
