package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deckhand/dispatch"
	"deckhand/internal/config"
)

func realPath(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	return real
}

// project looks whether agents may work in a project's folder: it is there, it
// is not the whole machine or the whole home, and it is not the notes.
func (m *model) project(p config.Project) dispatch.Project {
	home, _ := os.UserHomeDir()
	folder, why := checkProject(p, m.f.dir, home)
	return dispatch.Project{Folder: folder, Boards: p.Boards, Why: why}
}

// checkProject gives the real path of a project's folder, or why no agent works there.
func checkProject(p config.Project, work, home string) (string, dispatch.Reason) {
	refuse := func(text string) (string, dispatch.Reason) {
		return "", dispatch.Reason{Text: "project " + p.Name + ": " + p.Folder + " " + text, Hint: "deckhand project add " + p.Name + " FOLDER"}
	}
	if p.Name == "notes" {
		return refuse("is a reserved name until proposals exist")
	}
	if p.Isolate != "" {
		return "", dispatch.Reason{Text: "project " + p.Name + ": isolate: worktree is not in use yet"}
	}
	real, err := filepath.EvalSymlinks(p.Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("is not there")
	case err != nil:
		return refuse("cannot be read: " + errors.Unwrap(err).Error())
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return refuse("cannot be read")
	case !info.IsDir():
		return refuse("is not a folder")
	case real == "/":
		return refuse("is the whole machine")
	case home != "" && real == realPath(home):
		return refuse("is the home folder")
	case real == work:
		return refuse("is the work folder itself")
	case strings.HasPrefix(real, work+"/"):
		return refuse("lies inside the work folder")
	}
	return real, dispatch.Reason{}
}
