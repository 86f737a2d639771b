// Package shell writes words so that a shell reads them as they are. It is for
// what deckhand tells a person to type: they copy it and paste it, and what a
// card, a board or a project is called comes from anybody who can write a note.
//
// What is quoted reads the same in sh, bash, zsh and fish:
//
//	quoted = plain | { "'" text "'" | `\'` | `\\` }
//
// Plain are letters, digits and some marks that no shell obeys. Within single
// quotes nothing is obeyed but, by fish, the backslash: so it stands outside.
//
// Not for: running anything, or words with control characters, which no
// terminal pastes safely. Those are Unfit.
package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote writes one word.
func Quote(s string) string {
	if s != "" && strings.IndexFunc(s, obeyed) < 0 {
		return s
	}
	return "'" + strings.NewReplacer("'", `'\''`, `\`, `'\\'`).Replace(s) + "'"
}

// Path writes a path that begins with ~/ where it lies in the home folder: the
// ~ is for the shell to read, the rest is not.
func Path(s string) string {
	if s == "~" {
		return s
	}
	if below, ok := strings.CutPrefix(s, "~/"); ok && below != "" {
		return "~/" + Quote(below)
	}
	return Operand(s)
}

// Operand writes a word that stands where an option could, too.
func Operand(s string) string {
	if strings.HasPrefix(s, "-") {
		return "-- " + Quote(s)
	}
	return Quote(s)
}

// Unfit reports whether a word holds what does not show as it is when it is
// printed or pasted: controls, turns of direction, bytes that are no text.
func Unfit(s string) bool {
	return !utf8.ValidString(s) || strings.IndexFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) >= 0
}

// obeyed reports whether a shell may take a character for more than itself.
func obeyed(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("/._-+@,:", c)
}
