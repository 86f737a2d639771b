package board

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Recogniser is Recognise for one who looks at many files: lane names are
// compiled once, and most notes are told from boards by their bytes.
type Recogniser struct {
	o     Options
	names laneNames
}

// NewRecogniser makes one that any number of goroutines may use.
func NewRecogniser(o Options) *Recogniser {
	return &Recogniser{o: o, names: newLaneNames(o.Lanes, nil)}
}

// Board reports what Recognise does; named is Options.Named.
func (r *Recogniser) Board(path string, src []byte, named bool) bool {
	o := r.o
	o.Named = named
	h, body := readHeader(src)
	if !h.own && !h.kanban && !h.board && !named && len(h.lanes) == 0 && !mayNameLane(src[body:], r.names) {
		return false
	}
	return Recognise(path, src, o)
}

// mayNameLane looks for a line that could be a level-2 heading named like a
// role's lane. Underlined headings and those with comments are left to hasLane.
func mayNameLane(body []byte, names laneNames) bool {
	if underlined(body) {
		return true
	}
	for {
		_, rest, ok := bytes.Cut(body, []byte("##"))
		if !ok {
			return false
		}
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if bytes.ContainsAny(line, "%<") || quickRole(line, names) != NoRole {
			return true
		}
		body = rest
	}
}

// underlined looks for a line of hyphens.
func underlined(body []byte) bool {
	for more := true; more; {
		var line []byte
		line, body, more = bytes.Cut(body, []byte("\n"))
		line = bytes.TrimLeft(line, " ")
		if len(line) > 0 && line[0] == '-' && len(bytes.TrimRight(line, "- \t\r")) == 0 {
			return true
		}
	}
	return false
}

// quickRole is the role of a heading's text without comments. Ten thousand notes
// have a hundred thousand headings, nearly all of them short and in ASCII.
func quickRole(text []byte, names laneNames) Role {
	title, _ := cutLimit(strings.TrimRight(string(text), "# \t\r"))
	var buf [64]byte
	if name, ok := plainASCII(buf[:0], title); ok {
		return names[string(name)]
	}
	return names.role(title)
}

// plainASCII is plainName for a short name in ASCII.
func plainASCII(out []byte, name string) ([]byte, bool) {
	if len(name) > cap(out)/2 {
		return nil, false
	}
	gap := false
	for _, c := range []byte(name) {
		switch {
		case c >= utf8.RuneSelf:
			return nil, false
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			if gap && len(out) > 0 {
				out = append(out, ' ')
			}
			gap = false
			if c <= 'Z' && c >= 'A' {
				c += 'a' - 'A'
			}
			out = append(out, c)
		default:
			gap = true
		}
	}
	return out, true
}
