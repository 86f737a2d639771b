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
	var buf [longestWord]byte
	n, long := 0, false
	end := func() {
		if n > 0 && !long {
			yield(buf[:n])
		}
		n, long = 0, false
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			switch {
			case ('a' > c || c > 'z') && ('0' > c || c > '9'):
				end()
			case n < longestWord:
				buf[n] = c
				n++
			default:
				long = true
			}
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			yield(utf8.AppendRune(buf[:0], r))
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end()
		case n+utf8.UTFMax <= longestWord:
			n += utf8.EncodeRune(buf[n:], foldRune(r))
		default:
			long = true
		}
	}
	end()
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
