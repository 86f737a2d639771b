package notes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"deckhand/internal/span"
)

// What Piece.Problem says beside what Found says.
const (
	NoSection = "note found, section missing"
	Binary    = "not sent: binary"
)

// CutMark begins the line that stands at the end of a text that was cut.
const CutMark = "[… cut here: "

// Copy reads what card, the person's own bytes of a card in the file from,
// links to: each target once, in order of first mention. Links inside what is
// copied are not followed. What is not copied is a Piece too, with the reason.
//
// read gets a path of ix; it should refuse what is too large to hold.
func Copy(card []byte, from string, ix *Index, read func(path string) ([]byte, error), lim Limits) []Piece {
	c := copier{from: from, ix: ix, read: read, lim: lim, seen: map[string]bool{}}
	for _, l := range Links(card) {
		c.link(l)
	}
	return c.pieces
}

// copier holds what a copy has used of its limits.
type copier struct {
	from string
	ix   *Index
	read func(path string) ([]byte, error)
	lim  Limits

	seen   map[string]bool // targets, as targetKey has them, and parts, as partKey has them
	links  int
	used   int // characters
	pieces []Piece
}

func (c *copier) link(l Link) {
	found := c.ix.Find(c.from, l)
	key := targetKey(found, l)
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	p := Piece{Link: l.Raw, Path: found.Path, Section: sectionName(l), Others: found.Others, More: found.More, Problem: found.Problem}
	if c.links >= c.lim.Links {
		p.Problem = fmt.Sprintf("more than %d links: not copied", c.lim.Links)
	}
	if p.Problem == "" && !c.fill(&p, l) {
		return
	}
	c.links++
	c.pieces = append(c.pieces, p)
}

// fill reads the piece's text, or its problem. It reports false when the same
// part was copied for a link written otherwise.
func (c *copier) fill(p *Piece, l Link) bool {
	if binaryName(p.Path) {
		p.Problem = Binary
		return true
	}
	src, err := c.read(p.Path)
	if err != nil {
		p.Problem = readProblem(err)
		return true
	}
	if bytes.IndexByte(src, 0) >= 0 || !isNote(p.Path) && !utf8.Valid(src) {
		p.Problem = Binary
		return true
	}
	part, ok := Section(src, l.Heads, l.Block)
	if !ok {
		p.Problem = NoSection
		return true
	}
	key := partKey(p.Path, part)
	if c.seen[key] {
		return false
	}
	c.seen[key] = true
	c.take(p, part.Of(src))
	return true
}

// take copies text into the piece as far as the limits go.
func (c *copier) take(p *Piece, text []byte) {
	sum := sha256.Sum256(text)
	p.Bytes, p.Hash = len(text), hex.EncodeToString(sum[:])
	left := c.lim.Total - c.used
	if left <= 0 && len(text) > 0 {
		p.Problem = fmt.Sprintf("more than %d characters of notes: not copied", c.lim.Total)
		return
	}
	kept := cut(text, min(left, c.lim.PerNote))
	c.used += utf8.RuneCount(kept)
	p.Text = string(kept)
	if p.Cut = len(kept) < len(text); p.Cut {
		if len(kept) > 0 && kept[len(kept)-1] != '\n' {
			p.Text += "\n"
		}
		p.Text += fmt.Sprintf("%s%d of %d bytes]\n", CutMark, len(kept), len(text))
	}
}

// cut is the longest run of whole lines from the start of text with at most
// limit characters; of a first line that is longer, its first characters.
func cut(text []byte, limit int) []byte {
	end := 0
	for n := 0; n < limit && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	if end == len(text) {
		return text
	}
	if line := bytes.LastIndexByte(text[:end], '\n'); line >= 0 {
		end = line + 1
	}
	return text[:end]
}

// targetKey is equal for links that are sure to mean the same part.
func targetKey(f Found, l Link) string {
	name := f.Path
	if name == "" {
		name = "?" + fold(l.Target)
	}
	return name + "\x00" + strings.Join(l.Heads, "\x00") + "\x00^" + strings.ToLower(l.Block)
}

func partKey(path string, s span.Span) string {
	return fmt.Sprintf("%s\x00%d-%d", path, s.Start, s.End)
}

func sectionName(l Link) string {
	if l.Block != "" {
		return "^" + l.Block
	}
	return strings.Join(l.Heads, "#")
}

// readProblem words an error of read without the path in it, which may be one
// of the whole machine.
func readProblem(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.As(err, &p):
		return "not readable: " + p.Err.Error()
	}
	return "not readable: " + err.Error()
}

func isNote(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// binaryName reports whether the file is surely no text, so that it need not be read.
func binaryName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".avif", ".heic", ".tif", ".tiff", ".ico",
		".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp", ".epub",
		".mp3", ".m4a", ".wav", ".ogg", ".flac", ".3gp", ".mp4", ".mov", ".mkv", ".webm", ".ogv", ".avi",
		".zip", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".exe", ".dmg", ".iso", ".sqlite", ".db":
		return true
	}
	return false
}
