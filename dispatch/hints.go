package dispatch

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"deckhand/board"
	"deckhand/internal/shell"
)

// Hints are commands that people paste into a shell, or words. What the names of
// cards, files and projects hold is written so that no shell obeys it; where it
// could not even be printed, a word in capitals stands for it.

// apart is for a card whose run belongs elsewhere now.
const apart = "name the old one again, or delete its status line: it is a new card then"

// longTitle is how long a title may be that is to be typed, in characters.
const longTitle = 80

// runHint starts the card by its title, or by its place.
func runHint(v *Verdict) string {
	title, at := v.Card.Title, fmt.Sprintf("%s:%d", v.Board.Path, v.Card.Line)
	switch {
	case title != "" && utf8.RuneCountInString(title) <= longTitle && !shell.Unfit(title):
		return "deckhand run " + shell.Operand(title)
	case !shell.Unfit(at):
		return "deckhand run " + shell.Operand(at)
	}
	return "deckhand run CARD"
}

func lanesHint(path string) string { return "deckhand lanes add " + operand(path, "BOARD") }

func boardHint(path string) string {
	word := "BOARD"
	if !shell.Unfit(path) {
		word = shell.Quote(path)
	}
	return "deckhand project add NAME FOLDER --board " + word
}

func projectHint(name string) string {
	return "deckhand project add " + operand(name, "NAME") + " FOLDER"
}

// operand is a word of others on a command line, or what stands for it.
func operand(word, instead string) string {
	if shell.Unfit(word) {
		return instead
	}
	return shell.Operand(word)
}

// Mend says what to do about a board on which nothing starts.
func Mend(s *Seen) string {
	_, copied := board.ConflictCopy(s.Board.Path)
	why := s.fault()
	switch {
	case s.Gone == "" && s.Board.Inactive == "":
		return "mend the header between the --- lines and save"
	case copied:
		return "copy what is missing into the other file and delete this one"
	case strings.HasPrefix(why, "merge markers"):
		return "resolve the conflict in the file and save"
	case strings.HasPrefix(why, "NUL bytes"):
		return "delete the NUL bytes, or bring an older copy of the file back"
	case strings.Contains(why, "read-only") && strings.Contains(why, "folder"):
		return "make the folder writable: a new file is written beside the old one and swapped with it"
	case strings.Contains(why, "read-only"):
		return "make the file writable"
	case strings.Contains(why, "hard links"):
		return "give the file one name: copy it and put the copy in its place"
	}
	return "see to the file: it must be there, and a file that can be read and written"
}
