package watcher

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tree is what was there at the last look: folders, and for each file a
// fingerprint of size, times and inode. 100,000 files take about 10 MB.
type tree struct {
	root   string
	skip   func(rel string, dir bool) bool
	source source

	folders map[string]*folder
	byInode map[uint64]string // folders: a moved one must lose its old watch first
	blind   map[string]bool   // folders without a watch
	why     string            // why the last of them has none
	inode   uint64            // of root; 0: it was never there
	files   int

	listed func(out *found) // called after each folder; nil: not wanted
}

type folder struct {
	inode uint64
	files map[string]uint64 // name → fingerprint
	subs  map[string]bool   // names of folders in it
	links map[string]bool   // names of symbolic links in it
}

func newTree(root string, skip func(string, bool) bool, src source) *tree {
	t := &tree{
		root: root, skip: skip, source: src,
		folders: map[string]*folder{}, byInode: map[uint64]string{}, blind: map[string]bool{},
	}
	if st, err := lstat(root); err == nil {
		t.inode = st.Ino
	}
	return t
}

func (t *tree) abs(rel string) string {
	if rel == "." {
		return t.root
	}
	return t.root + "/" + rel
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

func split(rel string) (dir, name string) {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i], rel[i+1:]
	}
	return ".", rel
}

// skipped applies the names that are never of interest, then Skip. Emacs makes
// .#name (a link to nowhere) and #name#, vim and others name~.
func (t *tree) skipped(rel, name string, dir bool) bool {
	if strings.HasPrefix(name, ".") {
		return true
	}
	if !dir && (strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") || strings.HasSuffix(name, "~")) {
		return true
	}
	return t.skip(rel, dir)
}

// lost reports that the root is gone, or is another folder now.
func (t *tree) lost() bool {
	st, err := lstat(t.root)
	return isGone(err) || err == nil && st.Ino != t.inode
}

// replaced reports that another folder is where the root was.
func (t *tree) replaced() bool {
	st, err := lstat(t.root)
	return err == nil && st.Ino != t.inode && st.Mode&unix.S_IFMT == unix.S_IFDIR
}

// event looks at a path that an event named.
func (t *tree) event(rel string, out *found) {
	if rel == "." {
		t.visit(".", false, out)
		return
	}
	dir, name := split(rel)
	parent := t.folders[dir]
	if parent == nil {
		return // left out, or gone; when it is new its own event lists it
	}
	st, err := lstat(t.abs(rel))
	if err != nil {
		t.vanished(parent, rel, name, out)
		return
	}
	kind := st.Mode & unix.S_IFMT
	if t.skipped(rel, name, kind == unix.S_IFDIR) {
		return
	}
	if kind != unix.S_IFREG {
		t.dropFile(parent, rel, name, out)
	}
	if kind != unix.S_IFDIR && parent.subs[name] {
		t.forget(rel, out)
	}
	switch kind {
	case unix.S_IFDIR:
		t.source.remove(t.abs(rel)) // renamed away and back, a watch is gone unseen
		t.visit(rel, false, out)
	case unix.S_IFREG:
		t.setFile(parent, name, fingerprint(&st, time.Now()))
		out.paths = append(out.paths, rel)
	case unix.S_IFLNK:
		parent.addLink(rel, name, out)
	}
}

func (t *tree) vanished(parent *folder, rel, name string, out *found) {
	if parent.subs[name] {
		t.forget(rel, out)
	}
	delete(parent.links, name)
	t.dropFile(parent, rel, name, out)
}

// addLink names a link once, when it appears.
func (f *folder) addLink(rel, name string, out *found) {
	if f.links[name] {
		return
	}
	if f.links == nil {
		f.links = map[string]bool{}
	}
	f.links[name] = true
	out.links = append(out.links, rel)
}

func (t *tree) setFile(f *folder, name string, sum uint64) (changed bool) {
	old, known := f.files[name]
	if !known {
		t.files++
	}
	if f.files == nil {
		f.files = map[string]uint64{}
	}
	f.files[name] = sum
	return !known || old != sum || sum == unsure
}

func (t *tree) dropFile(f *folder, rel, name string, out *found) {
	if _, ok := f.files[name]; ok {
		delete(f.files, name)
		t.files--
		out.paths = append(out.paths, rel)
	}
}

// visit watches and lists a folder, and those in it that are new; with deep,
// all of them.
func (t *tree) visit(rel string, deep bool, out *found) {
	st, err := lstat(t.abs(rel))
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = errNotDir
	}
	if isGone(err) {
		t.forget(rel, out)
		return
	}
	if err != nil {
		return // not readable now: nothing is known to be gone
	}
	f := t.enter(rel, st.Ino, out)
	if f == nil {
		return
	}
	t.watch(rel) // before listing: what is made in between is found by one of the two
	if !t.list(rel, f, out) {
		return
	}
	if t.listed != nil {
		t.listed(out)
	}
	for name := range f.subs {
		if _, known := t.folders[join(rel, name)]; deep || !known {
			t.visit(join(rel, name), deep, out)
		}
	}
}

// enter finds or makes the folder at rel. One that was replaced is forgotten
// first; one that was moved here loses its old place, because the kernel keeps
// one watch an inode and would go on telling the old path.
func (t *tree) enter(rel string, inode uint64, out *found) *folder {
	if f := t.folders[rel]; f != nil && f.inode == inode {
		return f
	} else if f != nil {
		t.forget(rel, out)
	}
	if rel == "." {
		if t.inode != 0 && t.inode != inode {
			return nil // another folder stands in its place
		}
		t.inode = inode
	}
	if old, ok := t.byInode[inode]; ok {
		if st, err := lstat(t.abs(old)); err != nil || st.Ino != inode {
			t.forget(old, out)
		}
	}
	f := &folder{inode: inode}
	t.folders[rel] = f
	t.byInode[inode] = rel
	if dir, name := split(rel); rel != "." && t.folders[dir] != nil {
		t.folders[dir].addSub(name)
	}
	return f
}

func (f *folder) addSub(name string) {
	if f.subs == nil {
		f.subs = map[string]bool{}
	}
	f.subs[name] = true
}

func (t *tree) watch(rel string) {
	err := t.source.add(t.abs(rel))
	switch {
	case err == nil:
		delete(t.blind, rel)
	case !errors.Is(err, fs.ErrNotExist):
		t.blind[rel] = true
		t.why = advice(err)
	}
}

// list brings a folder up to what is in it, and reports whether that is known.
func (t *tree) list(rel string, f *folder, out *found) bool {
	dir, err := os.OpenFile(t.abs(rel), unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	var entries []os.DirEntry
	if err == nil {
		defer dir.Close()
		entries, err = dir.ReadDir(-1)
	}
	if err != nil && len(entries) == 0 {
		if isGone(err) {
			t.forget(rel, out)
		}
		return false
	}
	t.compare(rel, f, listing{int(dir.Fd()), entries, err == nil}, out)
	return true
}

// listing is what an open folder holds. An incomplete one makes nothing vanish.
type listing struct {
	dir      int
	entries  []os.DirEntry
	complete bool
}

// compare brings a folder up to what its listing says.
func (t *tree) compare(rel string, f *folder, l listing, out *found) {
	now := time.Now()
	var there map[string]fs.FileMode // of a folder that was listed before: only then can something be missing
	if len(f.files)+len(f.subs)+len(f.links) > 0 {
		there = make(map[string]fs.FileMode, len(l.entries))
	}
	known := there != nil
	for _, e := range l.entries {
		at := join(rel, e.Name())
		name := at[len(at)-len(e.Name()):] // one string for both: they are kept for as long as the file is there
		if t.skipped(at, name, e.IsDir()) {
			continue
		}
		if known {
			there[name] = e.Type()
		}
		switch e.Type() {
		case fs.ModeDir:
			f.addSub(name)
		case fs.ModeSymlink:
			f.addLink(at, name, out)
		case 0:
			if st, err := lstatAt(l.dir, name); err == nil && t.setFile(f, name, fingerprint(&st, now)) {
				out.paths = append(out.paths, at)
			}
		}
	}
	if known && l.complete {
		t.dropMissing(rel, f, there, out)
	}
}

// dropMissing drops what a listing does not show, or shows as something else.
func (t *tree) dropMissing(rel string, f *folder, there map[string]fs.FileMode, out *found) {
	for name := range f.files {
		if kind, ok := there[name]; !ok || kind != 0 {
			t.dropFile(f, join(rel, name), name, out)
		}
	}
	for name := range f.links {
		if there[name] != fs.ModeSymlink {
			delete(f.links, name)
		}
	}
	for name := range f.subs {
		if there[name] != fs.ModeDir {
			t.forget(join(rel, name), out)
		}
	}
}

// forget drops a folder with everything in it.
func (t *tree) forget(rel string, out *found) {
	if dir, name := split(rel); rel != "." && t.folders[dir] != nil {
		delete(t.folders[dir].subs, name)
	}
	f := t.folders[rel]
	if f == nil {
		return
	}
	for name := range f.files {
		t.dropFile(f, join(rel, name), name, out)
	}
	for name := range f.subs {
		t.forget(join(rel, name), out)
	}
	t.source.remove(t.abs(rel))
	delete(t.folders, rel)
	delete(t.blind, rel)
	if t.byInode[f.inode] == rel {
		delete(t.byInode, f.inode)
	}
}

// visitBlind looks at the folders that have no watch.
func (t *tree) visitBlind(out *found) {
	for rel := range t.blind {
		if t.blind[rel] { // not forgotten meanwhile
			t.visit(rel, false, out)
		}
	}
}

func lstat(name string) (unix.Stat_t, error) { return lstatAt(unix.AT_FDCWD, name) }

// lstatAt looks at a name in an open folder.
func lstatAt(dir int, name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.EINTR) {
			return st, err
		}
	}
}

// unsure is the fingerprint of a file that was written within one tick of the
// file system's clock before it was looked at: a second write in the same tick
// would not show. It counts as changed at the next look.
const unsure = 0

const tick = 20 * time.Millisecond

// fingerprint mixes what changes when a file changes (FNV-1a over words).
func fingerprint(st *unix.Stat_t, now time.Time) uint64 {
	if now.Sub(time.Unix(st.Ctim.Unix())).Abs() < tick {
		return unsure
	}
	sum := uint64(14695981039346656037)
	for _, v := range [...]int64{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), int64(st.Ino)} {
		sum = (sum ^ uint64(v)) * 1099511628211
		sum ^= sum >> 29
	}
	return sum | 1
}
