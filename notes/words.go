package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words of more bytes are no words: keys, hashes, data.
const longestWord = 64

// words calls yield for every word of text, folded: a run of letters, digits
// and marks, or one character of a script that does not part its words. What
// yield gets is valid until it returns.
func words(text []byte, yield func(word []byte)) {
	w := worder{yield: yield}
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			w.ascii(c)
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		w.rune(r)
	}
	w.end()
}

// worder gathers the word that is being read.
type worder struct {
	yield func(word []byte)
	buf   [longestWord]byte
	n     int
	long  bool // it is too long for a word
}

func (w *worder) ascii(c byte) {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	switch {
	case ('a' > c || c > 'z') && ('0' > c || c > '9'):
		w.end()
	case w.n < longestWord:
		w.buf[w.n] = c
		w.n++
	default:
		w.long = true
	}
}

func (w *worder) rune(r rune) {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		w.end()
		w.yield(utf8.AppendRune(w.buf[:0], r))
	case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
		w.end()
	case w.n+utf8.UTFMax <= longestWord:
		w.n += utf8.EncodeRune(w.buf[w.n:], foldRune(r))
	default:
		w.long = true
	}
}

func (w *worder) end() {
	if w.n > 0 && !w.long {
		w.yield(w.buf[:w.n])
	}
	w.n, w.long = 0, false
}

// stem is a folded word without the endings that English and Indonesian put on
// it: what is left is no word, but the same for the forms of one. It is light
// on purpose: a form that it misses costs a hit, two words that it takes for one
// cost a wrong one.
func stem(word string) string {
	if len(word) < shortestStem+1 || word[0] <= '9' {
		return word
	}
	s := indonesian(word)
	if s == word {
		s = english(word)
	}
	if len(s) > shortestStem && s[len(s)-1] == 'e' {
		s = s[:len(s)-1] // release, releas-ing
	}
	return s
}

// shortestStem is what has to be left of a word, in bytes.
const shortestStem = 4

// indonesian takes off a particle or possessive, and then -kan or -an.
func indonesian(word string) string {
	s := without(word, "nya", "lah", "kah", "pun")
	return without(s, "kan", "an")
}

// english takes off plurals and the endings of verbs.
func english(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > shortestStem:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), endsIn(word, "xes", "ches", "shes"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "s") && !endsIn(word, "ss", "us", "is"):
		return english(word[:len(word)-1])
	}
	s := without(word, "ing", "ed")
	if n := len(s); s != word && n > 2 && s[n-1] == s[n-2] && !endsIn(s, "ll", "ss", "zz") {
		s = s[:n-1] // plann-ing
	}
	return s
}

func endsIn(word string, endings ...string) bool {
	for _, e := range endings {
		if strings.HasSuffix(word, e) {
			return true
		}
	}
	return false
}

// without takes off the first of the endings that leaves enough.
func without(word string, endings ...string) string {
	for _, e := range endings {
		if s, ok := strings.CutSuffix(word, e); ok && len(s) >= shortestStem {
			return s
		}
	}
	return word
}
