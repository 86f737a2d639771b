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
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end]
		}
		if bytes.IndexByte(line, '%') >= 0 || bytes.IndexByte(line, '<') >= 0 || quickRole(line, names) != NoRole {
			return true
		}
		body = rest
	}
}

// underlined looks for a line of hyphens.
func underlined(body []byte) bool {
	for at := 0; at < len(body); at++ {
		for at < len(body) && body[at] == ' ' {
			at++
		}
		end := bytes.IndexByte(body[at:], '\n')
		if end < 0 {
			end = len(body) - at
		}
		if end > 0 && body[at] == '-' && len(bytes.TrimRight(body[at:at+end], "- \t\r")) == 0 {
			return true
		}
		at += end
	}
	return false
}

// quickRole is the role of a heading's text without comments. Ten thousand notes
// have a hundred thousand headings, nearly all of them in ASCII and without limit.
func quickRole(text []byte, names laneNames) Role {
	var buf [128]byte
	if bytes.IndexByte(text, '(') < 0 {
		if name, ok := plainASCII(buf[:0], text); ok {
			return names[string(name)]
		}
	}
	title, _ := cutLimit(strings.TrimRight(string(text), "# \t\r"))
	return names.role(title)
}

// plainASCII is plainName for a name in ASCII that is no longer than out has room.
func plainASCII(out, name []byte) ([]byte, bool) {
	if len(name) > cap(out) {
		return nil, false
	}
	gap := false
	for _, c := range name {
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
