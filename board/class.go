package board

import "unicode/utf8"

// class says which of the rare characters a line holds. One pass finds them
// all, so that a plain line pays for none of what they would begin.
type class uint16

const (
	hasAt     class = 1 << iota // @
	hasHash                     // #
	hasOpen                     // [
	hasAngle                    // <
	hasCaret                    // ^
	hasBrace                    // {
	hasColon                    // :
	hasCode                     // ` and %
	hasStroke                   // \
	hasSpace                    // white space other than a blank, and control characters
	hasWide                     // not ASCII
	hasBlank                    // a blank
	hasGap                      // two blanks in a row
)

// classOf is the class of each byte of ASCII.
var classOf = [256]class{
	0: hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace,
	hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace,
	hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace,
	hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace, hasSpace,
	' ': hasBlank, '@': hasAt, '#': hasHash, '[': hasOpen, '<': hasAngle, '^': hasCaret, '{': hasBrace,
	':': hasColon, '`': hasCode, '%': hasCode, '\\': hasStroke,
}

// classify is the class of a line.
func classify(s string) class {
	var k, last class
	var all byte
	for i := range len(s) {
		all |= s[i]
		c := classOf[s[i]]
		k |= c | c&last&hasBlank<<1
		last = c
	}
	if all >= utf8.RuneSelf {
		k |= hasWide
	}
	return k
}

// has reports whether one of the characters of any is there.
func (k class) has(any class) bool { return k&any != 0 }
