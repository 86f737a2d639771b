package robust

import "testing"

// TestMain knows the flags, so that the one command may name all packages.
func TestMain(m *testing.M) { new(Suite).Main(m) }
