package inbox

import (
	"strings"
)

const machine = "machine:: "

// RenderMachine is Machine.md: which machine runs this folder. It holds no time
// and does not expire, so sync has nothing to merge.
func RenderMachine(id, host string) []byte {
	return []byte(strings.TrimRight(machine+ready(strings.ReplaceAll(id, " ", ""))+" "+ready(host), " ") + "\n")
}

// ReadMachine reads Machine.md. Ok is false when no machine, or more than one,
// stands there: that counts as another machine's.
func ReadMachine(src []byte) (id, host string, ok bool) {
	for line := range strings.SplitSeq(strings.TrimPrefix(string(src), "\ufeff"), "\n") {
		rest, found := strings.CutPrefix(strings.TrimSpace(line), strings.TrimSpace(machine))
		if !found {
			continue
		}
		thisID, thisHost, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if thisID == "" || ok && (thisID != id || strings.TrimSpace(thisHost) != host) {
			return "", "", false
		}
		id, host, ok = thisID, strings.TrimSpace(thisHost), true
	}
	return id, host, ok
}
