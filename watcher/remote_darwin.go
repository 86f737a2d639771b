package watcher

import "golang.org/x/sys/unix"

// remote reports that root lies on a file system on which others write without
// the kernel's knowledge.
func remote(root string) bool {
	var st unix.Statfs_t
	return unix.Statfs(root, &st) == nil && st.Flags&unix.MNT_LOCAL == 0
}
