package foreign

import (
	"os"
	"testing"
)

// TestFolderRenamed: the folder of the board gets another name. It is another
// board with the same runs.
func TestFolderRenamed(t *testing.T) {
	s := begin(t, "Boards/Shop.md", nil)
	must(t, os.Rename(s.At("Boards"), s.At("Plans")))
	s.board = "Plans/Shop.md"
	s.fence(0)
	s.goesOn()
}

// TestFolderMovedOutAndIn: the folder leaves the work folder and comes back.
func TestFolderMovedOutAndIn(t *testing.T) {
	s := begin(t, "Boards/Shop.md", nil)
	must(t, os.Rename(s.At("Boards"), s.Path("away")))
	s.says("the file is gone")
	must(t, os.Rename(s.Path("away"), s.At("Boards")))
	s.goesOn()
}

// TestFolderDeletedAndRestored: the folder is deleted, and comes back from the
// bin or a backup, file by file.
func TestFolderDeletedAndRestored(t *testing.T) {
	s := begin(t, "Boards/Shop.md", nil)
	was := s.text()
	must(t, os.RemoveAll(s.At("Boards")))
	s.says("the file is gone")
	must(t, os.Mkdir(s.At("Boards"), 0o700))
	s.Write(s.At(s.board), was)
	s.goesOn()
}

// TestFolderMovedIn: a folder that is moved in is like one that was made.
func TestFolderMovedIn(t *testing.T) {
	s := begin(t, "Shop.md", nil)
	must(t, os.Mkdir(s.Path("new"), 0o700))
	s.Write(s.Path("new/Gate.md"), "---\nproject: gate\n---\n\n## Plan\n\n- [ ] Gate @pi\n\t[record]\n\n## In Progress\n\n## Review\n")
	must(t, os.Rename(s.Path("new"), s.At("New")))
	s.Await(s.ctx, s.Gone(), func() bool { return len(s.Record("gate")) == 2 })
	s.once("gate")
	s.goesOn()
}
