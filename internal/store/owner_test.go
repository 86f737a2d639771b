package store

import (
	"fmt"
	"os"
	"syscall"
)

func owner(fi os.FileInfo) string {
	st := fi.Sys().(*syscall.Stat_t)
	return fmt.Sprint(st.Uid, ":", st.Gid)
}
