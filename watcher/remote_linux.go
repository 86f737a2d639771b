package watcher

import "golang.org/x/sys/unix"

// remote reports that root lies on a file system on which others write without
// the kernel's knowledge: network, shared folders of virtual machines.
func remote(root string) bool {
	var st unix.Statfs_t
	if unix.Statfs(root, &st) != nil {
		return false
	}
	switch int64(st.Type) & 0xffffffff {
	case unix.NFS_SUPER_MAGIC, unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.AFS_SUPER_MAGIC:
		return true
	}
	return false
}
