package foreign

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// git runs git in a folder of the place.
func (s *scene) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.tryGit(dir, args...)
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (s *scene) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, "git", append([]string{"-c", "user.name=Eka", "-c", "user.email=eka@example.org", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(s.Env(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// committed begins a scene whose notes are in git, as they were before the cards.
func committed(t *testing.T) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	return begin(t, "Shop.md", func(s *scene) {
		s.git(s.Work, "init", "-q")
		s.git(s.Work, "add", "Shop.md")
		s.git(s.Work, "commit", "-q", "-m", "yesterday")
	})
}

// TestGitStash: the running cards vanish into a stash and come out of it.
func TestGitStash(t *testing.T) {
	s := committed(t)
	s.git(s.Work, "stash", "-q")
	s.says("others went at the same time; the run goes on")
	s.git(s.Work, "stash", "pop", "-q")
	s.says("")
	s.goesOn()
}

// TestGitCheckout: an older commit is looked at, and the branch again.
func TestGitCheckout(t *testing.T) {
	s := committed(t)
	s.git(s.Work, "commit", "-q", "-a", "-m", "today")
	s.git(s.Work, "checkout", "-q", "HEAD~1")
	s.says("others went at the same time; the run goes on")
	s.git(s.Work, "checkout", "-q", "main")
	s.says("")
	s.goesOn()
}

// TestGitPull: another machine's change of the board is merged into it, once
// cleanly and once with a conflict that a person resolves.
func TestGitPull(t *testing.T) {
	s := committed(t)
	s.git(s.Root, "clone", "-q", "--bare", s.Work, "hub.git")
	s.git(s.Root, "clone", "-q", "hub.git", "other")
	s.git(s.Work, "remote", "add", "origin", s.Path("hub.git"))
	s.git(s.Work, "commit", "-q", "-a", "-m", "claimed")

	s.elsewhere("- [ ] one of mine\n", "- [ ] one of mine\n- [ ] from the phone\n")
	s.git(s.Work, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
	s.fence(0)
	if !strings.Contains(s.text(), "- [ ] from the phone\n") {
		t.Errorf("the merged line is lost:\n%s", s.text())
	}
	s.working()

	s.elsewhere("## Plan\n", "## Plan\n\n- [ ] Theirs #project/gate @pi\n\t[record]\n")
	s.Save(s.board, strings.Replace(s.text(), "## Plan\n", "## Plan\n\n- [ ] Mine\n", 1))
	s.git(s.Work, "commit", "-q", "-a", "-m", "here")
	if out, err := s.tryGit(s.Work, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	marked := s.text()
	s.fence(1)
	if s.text() != marked || !strings.Contains(marked, "<<<<<<<") {
		t.Errorf("written into a board in conflict:\n%s", s.text())
	}
	if got := s.Record("gate"); got != nil {
		t.Errorf("started from a board in conflict: %q", got)
	}
	s.git(s.Work, "checkout", "-q", "--ours", s.board)
	s.git(s.Work, "commit", "-q", "-a", "-m", "merged")
	s.goesOn()
}

// elsewhere changes the board in the other clone and pushes it.
func (s *scene) elsewhere(from, to string) {
	s.t.Helper()
	dir := s.Path("other")
	data, err := os.ReadFile(dir + "/" + s.board)
	must(s.t, err)
	if !strings.Contains(string(data), from) {
		s.t.Fatalf("the other clone lacks %q:\n%s", from, data)
	}
	s.Write(dir+"/"+s.board, strings.Replace(string(data), from, to, 1))
	s.git(dir, "commit", "-q", "-a", "-m", "elsewhere")
	s.git(dir, "push", "-q", "origin", "HEAD")
}
