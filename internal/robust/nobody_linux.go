package robust

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nobody is a user without rights.
const nobody = 65534

// AsNobody runs tests of the same package again as a user without rights.
func (s *Suite) AsNobody(t testing.TB, tests ...string) {
	t.Helper()
	NeedRoot(t, "setpriv")
	dir, err := os.MkdirTemp("", "dh-") // short, for the sockets in it
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	exe := filepath.Join(dir, "proofs") // the tool's own folder is closed to others
	must(t, copyProgram(exe))
	must(t, os.Chown(dir, nobody, nobody))
	id := fmt.Sprint(nobody)
	cmd := exec.CommandContext(t.Context(), "setpriv", "--reuid", id, "--regid", id, "--clear-groups",
		exe, "-test.v", "-test.run", "^("+strings.Join(tests, "|")+")$", fmt.Sprintf("-robust.rounds=%d", s.rounds))
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as a user without rights: %v\n%s", err, out)
	}
	for _, name := range tests {
		if !strings.Contains(string(out), "--- PASS: "+name) && err == nil {
			t.Errorf("%s did not pass:\n%s", name, out)
		}
	}
}

// copyProgram copies this program.
func copyProgram(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
