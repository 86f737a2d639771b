package board

import "testing"

func TestReadBox(t *testing.T) {
	for line, want := range map[string]Box{
		"- [ ] Allow once ^a7k2m-1":                              {"Allow once", "a7k2m-1", false},
		"  * [x] Allow once ^a7k2m-1":                            {"Allow once", "a7k2m-1", true},
		"- [X] Deny ✅ 2026-11-30 ^a7k2m-2":                       {"Deny", "a7k2m-2", true},
		"- [x] Deny ^a7k2m-2 ✅ 2026-11-30":                       {"Deny", "a7k2m-2", true},
		"- [x] Deny ^a7k2m-2 [completion:: 2026-11-30]":          {"Deny", "a7k2m-2", true},
		"- [-] Deny ❌ 2026-11-30 ^a7k2m-2":                       {"Deny", "a7k2m-2", false},
		"1. [ ] Deny ^a7k2m-2":                                   {"Deny", "a7k2m-2", false},
		"- [ ] an option that ends in a caret \\^x ^b3x9q-1 \t ": {"an option that ends in a caret \\^x", "b3x9q-1", false},
	} {
		if got, ok := ReadBox(line); !ok || got != want {
			t.Errorf("%s: %+v %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "- [ ] mine", "[ ] no item ^a-1", "- no box ^a-1", "- [ ]no blank ^a-1"} {
		if got, ok := ReadBox(line); ok {
			t.Errorf("%s: %+v, want none", line, got)
		}
	}
}

func TestReadField(t *testing.T) {
	for line, want := range map[string][2]string{
		"- why:": {"why", ""}, "\t- why: it is shared ": {"why", "it is shared"}, "- reply: yes": {"reply", "yes"}, "* reply:no": {"reply", "no"},
	} {
		if field, said, ok := ReadField(line); !ok || field != want[0] || said != want[1] {
			t.Errorf("%s: %q %q %v, want %q", line, field, said, ok, want)
		}
	}
	for _, line := range []string{"", "- because:", "- [ ] why: x", "- whyever"} {
		if _, _, ok := ReadField(line); ok {
			t.Errorf("%s is read as a field", line)
		}
	}
}
