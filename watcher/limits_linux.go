package watcher

import (
	"os"
	"strconv"
	"strings"
)

// watchLimit is how many folders a user can watch, instanceLimit how many
// programs can watch at a time.
func watchLimit() (Limit, bool) {
	return lower("fs.inotify.max_user_watches", "user.max_inotify_watches")
}

func instanceLimit() (Limit, bool) {
	return lower("fs.inotify.max_user_instances", "user.max_inotify_instances")
}

// lower is the limit of the machine or, in a container, that of its user
// namespace, when it is the lower one: raising the other would not help.
func lower(machine, namespace string) (Limit, bool) {
	limit, ok := read(machine)
	if inside, known := read(namespace); known && (!ok || inside.Most < limit.Most) {
		return inside, true
	}
	return limit, ok
}

func read(name string) (Limit, bool) {
	data, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	if err != nil {
		return Limit{}, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return Limit{name, n}, err == nil
}
