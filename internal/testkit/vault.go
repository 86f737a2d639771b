package testkit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// The shape of a vault.
const (
	notesPerFolder = 10
	notesPerBoard  = 200 // every 200th file is a board
	cardsPerLane   = 10
	topFolders     = 37
	smallest       = 1 << 10 // bytes of a note, which are log-uniform up to
	largest        = 30 << 10
)

// Vault writes a work folder of so many Markdown files into dir, which must
// exist and be empty: notes of 1 to 30 KB with a header, headings, lists,
// tasks, tables, code and links to each other, ten of them a folder in two
// levels of folders, and a board in place of every 200th. The same arguments
// give the same bytes.
func Vault(dir string, notes int, seed uint64) error {
	v := vault{rand: rand.New(rand.NewPCG(seed, 1)), notes: notes, words: strings.Fields(vocabulary)}
	folders := (notes + notesPerFolder - 1) / notesPerFolder
	for i := range folders {
		if err := os.MkdirAll(filepath.Join(dir, vaultFolder(i)), 0o755); err != nil {
			return fmt.Errorf("making a vault: %w", err)
		}
	}
	for i := range notes {
		v.buf.Reset()
		size := int(smallest * math.Exp(v.rand.Float64()*math.Log(largest/smallest)))
		if i%notesPerBoard == 0 {
			v.board()
		} else {
			v.note(i, size)
		}
		name := filepath.Join(dir, vaultFolder(i%folders), fmt.Sprintf("note-%06d.md", i))
		if err := os.WriteFile(name, v.buf.Bytes(), 0o644); err != nil {
			return fmt.Errorf("making a vault: %w", err)
		}
	}
	return nil
}

func vaultFolder(i int) string {
	return filepath.Join(fmt.Sprintf("area-%02d", i%topFolders), fmt.Sprintf("topic-%05d", i))
}

const vocabulary = "meeting checkout plan rapat jadwal agent board review index parser latency payment QRIS the of and in " +
	"project release note section table harness queue folder keputusan catatan dengan untuk write read merge lane card"

// vault writes one file after the other into buf.
type vault struct {
	rand  *rand.Rand
	notes int
	words []string
	buf   bytes.Buffer
}

// sentence writes some words and, one time in two, something with marks.
func (v *vault) sentence() {
	for range 6 + v.rand.IntN(14) {
		v.buf.WriteString(v.words[v.rand.IntN(len(v.words))])
		v.buf.WriteByte(' ')
	}
	other := v.rand.IntN(v.notes)
	switch v.rand.IntN(12) {
	case 0:
		fmt.Fprintf(&v.buf, "[[note-%06d]] ", other)
	case 1:
		fmt.Fprintf(&v.buf, "[[note-%06d#Section %d|alias]] ", other, v.rand.IntN(8))
	case 2:
		v.buf.WriteString("`code` ")
	case 3:
		v.buf.WriteString("**bold** #tag/sub ")
	case 4:
		fmt.Fprintf(&v.buf, "[text](note-%06d.md) ", other)
	}
}

// list writes some items.
func (v *vault) list(mark string) {
	for range 2 + v.rand.IntN(5) {
		v.buf.WriteString(mark)
		v.sentence()
		v.buf.WriteByte('\n')
	}
	v.buf.WriteByte('\n')
}

// note writes blocks until there are size bytes.
func (v *vault) note(number, size int) {
	fmt.Fprintf(&v.buf, "---\ntitle: Note %d\ntags: [a, b]\ncreated: 2026-01-%02d\n---\n\n# Note %[1]d\n\n", number, 1+number%28)
	for section := 0; v.buf.Len() < size; {
		switch v.rand.IntN(8) {
		case 0, 1:
			fmt.Fprintf(&v.buf, "\n## Section %d\n\n", section)
			section++
		case 2:
			v.list("- ")
		case 3:
			v.list("- [ ] ")
		case 4:
			v.buf.WriteString("```go\nfunc x() {\n\t// [[not a link]]\n}\n```\n\n")
		case 5:
			v.buf.WriteString("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n")
		default:
			for range 2 + v.rand.IntN(5) {
				v.sentence()
			}
			v.buf.WriteString("\n\n")
		}
	}
}

// board writes an Obsidian board; its cards ask for an agent.
func (v *vault) board() {
	v.buf.WriteString("---\nkanban-plugin: basic\nproject: web\n---\n\n")
	for _, lane := range []string{"Plan", "In Progress", "Review", "Done"} {
		fmt.Fprintf(&v.buf, "## %s\n\n", lane)
		for range cardsPerLane {
			v.buf.WriteString("- [ ] ")
			v.sentence()
			v.buf.WriteString("@pi #feature\n  ")
			v.sentence()
			v.buf.WriteByte('\n')
		}
		v.buf.WriteByte('\n')
	}
}
