package markdown

import (
	"bytes"
	"strings"
)

// The seven types of HTML blocks are those of CommonMark, section 4.6: 1 is
// text that must not be read (script, pre, style, textarea), 2 a comment, 3 a
// processing instruction, 4 a declaration, 5 CDATA, 6 a block tag, 7 any other
// tag alone on its line.

// rawTags and blockTags list the names of types 1 and 6, each between blanks.
const (
	rawTags   = " script pre style textarea "
	blockTags = " address article aside base basefont blockquote body caption center col colgroup dd details" +
		" dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head" +
		" header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param" +
		" search section summary table tbody td tfoot th thead title tr track ul "
)

// htmlType is the type of the HTML block that rest opens, else 0. Type 7 is
// looked for only where it may begin: not inside a paragraph.
func htmlType(rest []byte, seven bool) int {
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return 2
	case bytes.HasPrefix(rest, []byte("<?")):
		return 3
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return 5
	case len(rest) > 2 && rest[1] == '!' && isLetter(rest[2]):
		return 4
	}
	return tagType(rest, seven)
}

// tagType is htmlType for tags.
func tagType(rest []byte, seven bool) int {
	name, after, closing := tagName(rest)
	if name == "" {
		return 0
	}
	raw := strings.Contains(rawTags, " "+name+" ")
	ends := len(after) == 0 || isBlank(after[0]) || after[0] == '>'
	switch {
	case raw && !closing && ends:
		return 1
	case strings.Contains(blockTags, " "+name+" ") && (ends || bytes.HasPrefix(after, []byte("/>"))):
		return 6
	case seven && !raw && wholeTag(after, closing):
		return 7
	}
	return 0
}

// tagName reads "<name" or "</name" and gives the name in lower case.
func tagName(rest []byte) (name string, after []byte, closing bool) {
	at := 1
	if at < len(rest) && rest[at] == '/' {
		closing, at = true, 2
	}
	start := at
	if at == len(rest) || !isLetter(rest[at]) {
		return "", nil, false
	}
	for at < len(rest) && (isLetter(rest[at]) || isDigit(rest[at]) || rest[at] == '-') {
		at++
	}
	return strings.ToLower(string(rest[start:at])), rest[at:], closing
}

// wholeTag reports whether after, what follows a tag's name, ends the tag and
// holds nothing else on the line.
func wholeTag(after []byte, closing bool) bool {
	for {
		trimmed := bytes.TrimLeft(after, " \t")
		spaced := len(trimmed) < len(after)
		after = trimmed
		switch {
		case len(after) == 0:
			return false
		case after[0] == '>':
			return len(bytes.TrimLeft(after[1:], " \t")) == 0
		case closing:
			return false
		case bytes.HasPrefix(after, []byte("/>")):
			return len(bytes.TrimLeft(after[2:], " \t")) == 0
		case !spaced:
			return false
		}
		var ok bool
		if after, ok = cutAttribute(after); !ok {
			return false
		}
	}
}

// cutAttribute takes a name and, when there is one, its value.
func cutAttribute(b []byte) ([]byte, bool) {
	if !isLetter(b[0]) && b[0] != '_' && b[0] != ':' {
		return nil, false
	}
	n := 1
	for n < len(b) && (isLetter(b[n]) || isDigit(b[n]) || strings.IndexByte("_.:-", b[n]) >= 0) {
		n++
	}
	b = b[n:]
	value := bytes.TrimLeft(b, " \t")
	if len(value) == 0 || value[0] != '=' {
		return b, true
	}
	value = bytes.TrimLeft(value[1:], " \t")
	if len(value) == 0 {
		return nil, false
	}
	if q := value[0]; q == '"' || q == '\'' {
		end := bytes.IndexByte(value[1:], q)
		if end < 0 {
			return nil, false
		}
		return value[end+2:], true
	}
	end := bytes.IndexAny(value, " \t\"'=<>`")
	if end < 0 {
		end = len(value)
	}
	return value[end:], end > 0
}

// htmlEnds reports whether a line ends the HTML block of this type. Types 6 and 7 end at a blank line.
func htmlEnds(typ int, line []byte) bool {
	switch typ {
	case 1:
		lower := bytes.ToLower(line)
		for name := range strings.FieldsSeq(rawTags) {
			if bytes.Contains(lower, []byte("</"+name+">")) {
				return true
			}
		}
		return false
	case 2:
		return bytes.Contains(line, []byte("-->"))
	case 3:
		return bytes.Contains(line, []byte("?>"))
	case 4:
		return bytes.IndexByte(line, '>') >= 0
	case 5:
		return bytes.Contains(line, []byte("]]>"))
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
