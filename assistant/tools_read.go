package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"deckhand/notes"
)

const (
	hitsMost = 100 // lines that search_text gives
	findMost = 10  // excerpts that search_documents gives
)

func readTools() []tool {
	return []tool{
		{
			name: "list_files", kind: reads, about: "List the documents of the work folder, or of one folder in it.",
			params: map[string]any{"folder": text("a folder, as it is listed; leave it out for all")},
			run:    with(bounded(listFiles)),
		},
		{
			name: "search_documents", kind: reads,
			about:  "Find the sections of documents that fit some words best. Word endings do not matter.",
			params: map[string]any{"query": text("words to look for")}, need: []string{"query"},
			run: with(bounded(searchDocuments)),
		},
		{
			name: "search_text", kind: reads,
			about: "Find every line that holds exactly this text, as file:line. Use it to be sure that nothing is left.",
			params: map[string]any{
				"text": text("the exact text, within one line"),
				"file": text("one document; leave it out for all"),
			}, need: []string{"text"},
			run: with(bounded(searchText)),
		},
		{
			name: "read_file", kind: reads, about: "Read a document with line numbers, which are no part of its text.",
			params: map[string]any{
				"file": text("the document, as it is listed"),
				"from": number("the first line; leave it out for the beginning"),
				"to":   number("the last line; leave it out for the end"),
			}, need: []string{"file"},
			run: with(bounded(readFile)),
		},
	}
}

// toolTime is how long a tool may look. A disk that hangs must not make the
// whole turn hang.
const toolTime = 120 * time.Second

// bounded is a look at the folder that always answers. What hangs is left to
// itself, with the folder it has hold of: the next turn opens its own.
func bounded[T any](look func(f *folder, args T) (string, error)) func(*turn, T) (string, error) {
	return func(t *turn, args T) (string, error) {
		f, err := t.folder()
		if err != nil {
			return "", err
		}
		type answer struct {
			out string
			err error
		}
		got := make(chan answer, 1)
		go func() {
			out, err := look(f, args)
			got <- answer{out, err}
		}()
		ctx, cancel := context.WithTimeout(t.ctx, toolTime)
		defer cancel()
		select {
		case a := <-got:
			return a.out, a.err
		case <-ctx.Done():
			t.a.folder = nil
			return "", errStuck
		}
	}
}

// folder is the work folder, unless it hangs.
func (t *turn) folder() (*folder, error) {
	if t.a.folder == nil {
		return nil, errStuck
	}
	return t.a.folder, nil
}

var errStuck = errors.New("the work folder gave no answer within 120 seconds: nothing more of it can be read in this turn")

func listFiles(f *folder, args struct{ Folder string }) (string, error) {
	if err := f.refresh(); err != nil {
		return "", err
	}
	dir := strings.Trim(args.Folder, "/ ")
	var b strings.Builder
	for _, rel := range f.files() {
		if dir == "" || dir == "." || strings.HasPrefix(rel, dir+"/") {
			b.WriteString(rel + "\n")
		}
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("no document in %q", args.Folder)
	}
	return b.String(), nil
}

func searchDocuments(f *folder, args struct{ Query string }) (string, error) {
	if strings.TrimSpace(args.Query) == "" {
		return "", errors.New("no words to look for: say them in query")
	}
	if err := f.refresh(); err != nil {
		return "", err
	}
	var b strings.Builder
	n := 0
	for _, hit := range f.indexed().Find([]notes.Asked{{Text: args.Query, Weight: 1}}, findMost) {
		text, err := f.text(hit.Path)
		if err != nil || hit.Span.End > len(text) {
			continue
		}
		n++
		fmt.Fprintf(&b, "%s:%d\n%s\n", hit.Path, hit.Line, numbered(text[hit.Span.Start:hit.Span.End], hit.Line))
	}
	if n == 0 {
		return "nothing was found: try other words, or search_text for an exact one", nil
	}
	return b.String(), nil
}

func searchText(f *folder, args struct{ Text, File string }) (string, error) {
	if args.Text == "" || strings.ContainsAny(args.Text, "\r\n") {
		return "", errors.New("text must be some characters of one line")
	}
	if err := f.refresh(); err != nil {
		return "", err
	}
	files := f.files()
	if args.File != "" {
		files = []string{args.File}
	}
	var b strings.Builder
	hits, docs := 0, 0
	for _, rel := range files {
		body, err := f.text(rel)
		if err != nil {
			if args.File != "" {
				return "", err
			}
			continue
		}
		if !strings.Contains(body, args.Text) {
			continue
		}
		docs++
		no := 0
		for line := range strings.Lines(body) {
			no++
			if strings.Contains(line, args.Text) {
				if hits++; hits <= hitsMost {
					fmt.Fprintf(&b, "%s:%d: %s\n", rel, no, strings.TrimSpace(cutRunes(line, 300)))
				}
			}
		}
	}
	if hits == 0 {
		return "no line holds it", nil
	}
	fmt.Fprintf(&b, "%d lines in %d documents", hits, docs)
	if hits > hitsMost {
		fmt.Fprintf(&b, "; the first %d are listed", hitsMost)
	}
	return b.String(), nil
}

func readFile(f *folder, args struct {
	File     string
	From, To int
},
) (string, error) {
	if err := f.refresh(); err != nil {
		return "", err
	}
	body, err := f.text(args.File)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(body, "\n")
	if len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from, to := max(args.From, 1), len(lines)
	if args.To > 0 {
		to = min(args.To, to)
	}
	switch {
	case len(lines) == 0:
		return args.File + " is empty", nil
	case from > to:
		return "", fmt.Errorf("%s has %d lines", args.File, len(lines))
	}
	return numbered(strings.Join(lines[from-1:to], ""), from), nil
}
