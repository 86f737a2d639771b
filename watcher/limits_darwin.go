package watcher

func watchLimit() (Limit, bool)    { return Limit{}, false }
func instanceLimit() (Limit, bool) { return Limit{}, false }
