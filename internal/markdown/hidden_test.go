package markdown

import "testing"

func TestHidden(t *testing.T) {
	for _, r := range "\x00\x1b\t\n\x7f\u0080\u0085\u009b\u00ad\u061c\u200b\u200e\u2028\u2029\u202e\u2060\u2066\ufeff\U000e0041" {
		if !Hidden(r) {
			t.Errorf("%U is taken for one that is seen", r)
		}
	}
	for _, r := range " a~é\u00a0\u0600\u06dd\u200c\u200d\u2400\ufe0f\ufffd🏴" {
		if Hidden(r) {
			t.Errorf("%U is taken for one that is hidden", r)
		}
	}
}
