package daemon

import (
	"testing"

	"deckhand/watcher"
)

func TestWatchCheck(t *testing.T) {
	limits := func(watches, instances int) []watcher.Limit {
		return []watcher.Limit{{Name: "fs.inotify.max_user_watches", Most: watches}, {Name: "user.max_inotify_instances", Most: instances}}
	}
	for _, c := range []struct {
		mode    string
		folders int
		limits  []watcher.Limit
		ok      bool
		text    string
		hint    string
	}{
		{"", 3, nil, true, "no limit is known here", ""},
		{"events", 3, limits(65536, 128), true, "3 folders to watch, fs.inotify.max_user_watches is 65536", ""},
		{"events", 1, limits(8191, 128), false, "1 folder to watch, fs.inotify.max_user_watches is 8191", "sudo sysctl fs.inotify.max_user_watches=65536"},
		{"", 33_000, limits(65536, 128), false, "33000 folders to watch, fs.inotify.max_user_watches is 65536", "sudo sysctl fs.inotify.max_user_watches=262144"},
		// Other programs have used the limit up, however high it is.
		{"polling 2 folders: raise fs.inotify.max_user_watches", 3, limits(1<<19, 128), false, "polling 2 folders: raise fs.inotify.max_user_watches", "sudo sysctl fs.inotify.max_user_watches=1048576"},
		{"polling 3 folders: raise user.max_inotify_instances and start deckhand again", 3, limits(65536, 128), false, "polling 3 folders: raise user.max_inotify_instances and start deckhand again", "sudo sysctl user.max_inotify_instances=1024"},
		{"polling 3 folders: this file system tells nothing", 3, limits(65536, 128), true, "polling 3 folders: this file system tells nothing", ""},
	} {
		if got := watchCheck(c.mode, c.folders, c.limits); got.OK != c.ok || got.Text != c.text || got.Hint != c.hint {
			t.Errorf("%q, %d folders, %v: %+v", c.mode, c.folders, c.limits, got)
		}
	}
}
