package config

import (
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// duration reads a duration from low up to high.
func duration(low, high time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration: write 3s or 90m", s)
		}
		if d < low || d > high {
			return 0, fmt.Errorf("%s is not between %s and %s", s, low, high)
		}
		return d, nil
	}
}

// count reads a whole number from low up to high.
func count(low, high int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0, fmt.Errorf("%q is no whole number", s)
		}
		if n < low || n > high {
			return 0, fmt.Errorf("%d is not between %d and %d", n, low, high)
		}
		return n, nil
	}
}

// oneOf reads one of the words.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", fmt.Errorf("%q is none of %s", s, strings.Join(words, ", "))
		}
		return s, nil
	}
}

// yes reads YAML 1.1's booleans, because people write yes.
func yes(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "yes", "true", "on":
		return true, nil
	case "no", "false", "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither yes nor no", s)
}

// money reads an amount of US dollars, the unit agents report in. None is 0: a
// written 0 is refused, since it reads as "spend nothing" and would mean the opposite.
func money(s string) (float64, error) {
	if s == "none" {
		return 0, nil
	}
	number, unit := split(s)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.EqualFold(unit, "USD") {
		return 0, fmt.Errorf("%q is no amount: write 10 USD, or none", s)
	}
	if v <= 0 || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is not above 0: write none for no budget", s)
	}
	return v, nil
}

// size reads a number of bytes.
func size(s string) (int64, error) {
	number, unit := split(s)
	v, err := strconv.ParseFloat(number, 64)
	factor := unitBytes(unit)
	if err != nil || factor == 0 {
		return 0, fmt.Errorf("%q is no size: write 500MB or 2GB", s)
	}
	if v *= factor; v < 1 || v >= 1<<62 {
		return 0, fmt.Errorf("%s is out of range", s)
	}
	return int64(v), nil
}

// unitBytes is 0 for what is no unit.
func unitBytes(unit string) float64 {
	switch strings.ToUpper(unit) {
	case "B":
		return 1
	case "KB":
		return 1e3
	case "MB":
		return 1e6
	case "GB":
		return 1e9
	case "TB":
		return 1e12
	case "KIB":
		return 1 << 10
	case "MIB":
		return 1 << 20
	case "GIB":
		return 1 << 30
	case "TIB":
		return 1 << 40
	}
	return 0
}

// split cuts a value into its number and its unit.
func split(s string) (number, unit string) {
	i := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// glob checks a pattern that is matched against paths in the work folder.
func glob(s string) error {
	if err := inside(s); err != nil {
		return err
	}
	for part := range strings.SplitSeq(s, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("%q is no pattern", s)
		}
	}
	return nil
}

// inside refuses a path that leads out of the work folder.
func inside(s string) error {
	if strings.ContainsRune(s, '\\') {
		return fmt.Errorf("%q: paths are written with /", s)
	}
	if !filepath.IsLocal(s) || strings.HasPrefix(s, "~") || slices.Contains(strings.Split(s, "/"), "..") {
		return fmt.Errorf("%q is outside the work folder", s)
	}
	return nil
}

// output checks the name of the folder deckhand writes to.
func output(s string) (string, error) {
	if err := inside(s); err != nil {
		return "", err
	}
	s = path.Clean(s)
	for part := range strings.SplitSeq(s, "/") {
		if strings.HasPrefix(part, ".") {
			return "", fmt.Errorf("%q is hidden: what people read stands in a folder they see", s)
		}
	}
	return s, nil
}

// Expand makes a written folder or file absolute: ~ is home.
func Expand(s, home string) (string, error) {
	switch {
	case s == "~" && home != "":
		return filepath.Clean(home), nil
	case strings.HasPrefix(s, "~/") && home != "":
		return filepath.Join(home, s[2:]), nil
	case filepath.IsAbs(s):
		return filepath.Clean(s), nil
	case strings.HasPrefix(s, "~"):
		return "", fmt.Errorf("%q: only ~ and ~/ are understood", s)
	}
	return "", errors.New("write an absolute path or ~/…")
}

// folder reads a path with ~.
func folder(home string) func(string) (string, error) {
	return func(s string) (string, error) {
		p, err := Expand(s, home)
		if err != nil {
			return "", fmt.Errorf("%q is not absolute: %w", s, err)
		}
		return p, nil
	}
}

// nearest is the candidate that a misspelt word is closest to, or "".
func nearest(word string, candidates []string) string {
	best, limit := "", len(word)/3+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), c); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// distance is Levenshtein's, in bytes. Words beyond 64 bytes are nobody's typo.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
