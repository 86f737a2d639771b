package pi

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A scanner walks the fields of JSON objects without decoding what nobody asks
// for: pi 0.73 repeats the whole message twice in each delta, so lines of 4 MB
// carry eight new bytes. It is lenient about what it passes over.
type scanner struct {
	b []byte
	i int
}

// open enters an object; false when there is none.
func (s *scanner) open() bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == '{' {
		s.i++
		return true
	}
	return false
}

// next moves to the value of the next field and returns the raw key; false at
// the end of the object or when the line is no JSON.
func (s *scanner) next() (key []byte, ok bool) {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == ',' {
		s.i++
		s.space()
	}
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, false
	}
	raw, ok := s.value()
	if !ok {
		return nil, false
	}
	s.space()
	if s.i >= len(s.b) || s.b[s.i] != ':' {
		return nil, false
	}
	s.i++
	s.space()
	return raw[1 : len(raw)-1], true
}

// closed says whether the scanner stands at the end of an object.
func (s *scanner) closed() bool {
	s.space()
	return s.i < len(s.b) && s.b[s.i] == '}'
}

// value returns the raw value at the scanner and moves behind it.
func (s *scanner) value() ([]byte, bool) {
	start := s.i
	if start >= len(s.b) {
		return nil, false
	}
	switch s.b[start] {
	case '"':
		return s.raw(start, s.text())
	case '{', '[':
		return s.raw(start, s.nested())
	case '}', ']', ',', ':':
		return nil, false
	}
	for s.i < len(s.b) && !bytes.ContainsRune([]byte(",}] \t\r\n"), rune(s.b[s.i])) {
		s.i++
	}
	return s.b[start:s.i], true
}

func (s *scanner) raw(start int, ok bool) ([]byte, bool) {
	if !ok {
		return nil, false
	}
	return s.b[start:s.i], true
}

// text moves behind a string.
func (s *scanner) text() bool {
	s.i++
	for {
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			return false
		}
		end := s.i + n
		back := 0
		for back < n && s.b[end-1-back] == '\\' {
			back++
		}
		s.i = end + 1
		if back%2 == 0 {
			return true
		}
	}
}

// nested moves behind an object or array.
func (s *scanner) nested() bool {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if !s.text() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				s.i++
				return true
			}
		}
		s.i++
	}
	return false
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// kindOf returns the line's type; ok is false when the line is no JSON object.
func kindOf(line []byte) (kind string, ok bool) {
	s := scanner{b: line}
	if !s.open() {
		return "", false
	}
	for {
		key, more := s.next()
		if !more {
			return "", s.closed()
		}
		raw, fine := s.value()
		if !fine {
			return "", false
		}
		if string(key) == "type" {
			return unquote(raw), true
		}
	}
}

// field returns the raw value of a field of an object, nil when it has none.
func field(object []byte, name string) []byte {
	s := scanner{b: object}
	if !s.open() {
		return nil
	}
	for {
		key, more := s.next()
		if !more {
			return nil
		}
		raw, ok := s.value()
		if !ok {
			return nil
		}
		if string(key) == name {
			return raw
		}
	}
}

// unquote decodes a JSON string; "" when it is none.
func unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	plain := raw[1 : len(raw)-1]
	if bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var out string
	if json.Unmarshal(raw, &out) != nil {
		return ""
	}
	return out
}

// delta reads the two fields of a message_update that carry something new. It
// stops as soon as it has both and never looks at the copies of the message
// that follow them.
func delta(line []byte) (kind, text string) {
	s := scanner{b: line}
	if !s.open() {
		return "", ""
	}
	for {
		key, more := s.next()
		if !more {
			return "", ""
		}
		if string(key) == "assistantMessageEvent" {
			return s.delta()
		}
		if _, ok := s.value(); !ok {
			return "", ""
		}
	}
}

func (s *scanner) delta() (kind, text string) {
	if !s.open() {
		return "", ""
	}
	found := false
	for kind == "" || !found {
		key, more := s.next()
		if !more {
			break
		}
		raw, ok := s.value()
		if !ok {
			break
		}
		switch string(key) {
		case "type":
			kind = unquote(raw)
			if kind != "text_delta" && kind != "thinking_delta" {
				return kind, "" // a tool call's arguments come whole with its start
			}
		case "delta":
			text, found = unquote(raw), true
		}
	}
	return kind, text
}
