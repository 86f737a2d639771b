//go:build !linux

package mirror

import "testing"

func shares(t *testing.T) string {
	t.Skip("sharing bytes of files is used on Linux only")
	return ""
}
