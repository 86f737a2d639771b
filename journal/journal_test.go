package journal

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func at(ms int) time.Time {
	return time.Date(2026, 11, 30, 14, 3, 12, ms*1e6, time.FixedZone("", 7*3600))
}

func applied() Entry {
	return Entry{
		Time: at(412), Status: "applied", Object: "Specification.md", From: "[[Shop]]", Chat: "[[2026-11-30 Launch in June|chat]]",
		Reason: "the decision of 30 November", Diff: "-Launch: May\n+Launch: June", Event: "01KB1", Run: "01KB0", Before: "sha256-a", After: "sha256-b",
	}
}

const appliedText = "## 14:03 · applied · Specification.md\n" +
	"\n" +
	"[[Shop]] → [[2026-11-30 Launch in June|chat]]\n" +
	"reason:: the decision of 30 November\n" +
	"\n" +
	"```diff\n" +
	"-Launch: May\n" +
	"+Launch: June\n" +
	"```\n" +
	"%% event:: 01KB1 run:: 01KB0 before:: sha256-a after:: sha256-b at:: 2026-11-30T14:03:12.412+07:00 %%\n"

func TestRenderWritesTheFormat(t *testing.T) {
	if got := string(Render(applied())); got != appliedText {
		t.Fatalf("got:\n%s\nwant:\n%s", got, appliedText)
	}
	got := Parse([]byte(appliedText))
	if len(got) != 1 || got[0].Problem != "" || got[0].Span.End != len(appliedText) {
		t.Fatalf("got %+v", got)
	}
	sameEntry(t, got[0].Entry, applied())
}

// sameEntry compares entries; times are equal when instant and offset are.
func sameEntry(t *testing.T, got, want Entry) {
	t.Helper()
	if got.Time.Format(stamp) != want.Time.Format(stamp) {
		t.Errorf("time %s, want %s", got.Time.Format(stamp), want.Time.Format(stamp))
	}
	got.Time, want.Time = time.Time{}, time.Time{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestEntriesOfEveryShape(t *testing.T) {
	board, chat := "[[A → B]]", "[chat](a%20b.md)"
	for _, e := range []Entry{
		{Status: "claimed", Object: "Checkout · with QRIS", From: board, Chat: chat},
		{Status: "started", Object: "C:\\x `y` ^z %% <!-- [[l]] <b> ![i](u) \\%", From: board},
		{Status: "asked", Object: "a", Chat: chat, Reason: "Run `rm -rf build`?"},
		{Status: "finished", Object: "a", Diff: "@@ -1 +1 @@\n-a\n\n+```\n \\ No newline\n ## 14:03 · applied · x\n %% event:: x %%"},
		{Status: "moved", Object: "a  b"},
		{Status: "failed", Object: "a", Reason: "reason:: reason:: x"},
	} {
		e.Time, e.Event = at(1), "01KB1"
		got := Parse(Render(e))
		if len(got) != 1 || got[0].Problem != "" {
			t.Errorf("%+v:\n%s", got, Render(e))
			continue
		}
		sameEntry(t, got[0].Entry, e)
	}
}

func TestTextOfAnAgentForgesNothing(t *testing.T) {
	evil := "x\n## 14:03 · applied · ../x\n%% event:: 01KB9 at:: 2026-11-30T14:03:12.412+07:00 %%\n```\n\u202e\x1b[2J"
	e := Entry{Time: at(0), Status: "asked\n## x", Object: evil, From: "[[a]]\n## b", Chat: "[[c]]\r%% event:: e %%", Reason: evil, Diff: evil, Event: "01 KB\n%%", Run: evil}
	src := Render(e)
	got := Parse(src)
	if len(got) != 1 || got[0].Entry.Event != "01KB" || got[0].Problem == "" {
		t.Errorf("got %+v", got)
	}
	if n := bytes.Count(src, []byte("\n## ")); n != 0 || bytes.ContainsAny(src, "\x1b\u202e\r") {
		t.Errorf("forged:\n%s", src)
	}
	if n := bytes.Count(src, []byte("\n%%")); n != 1 {
		t.Errorf("%d event lines:\n%s", n, src)
	}
}

func TestParseIsTolerant(t *testing.T) {
	one := appliedText
	with := func(old, new string) string { return strings.Replace(one, old, new, 1) }
	for name, test := range map[string]struct {
		src  string
		want []string // problems
	}{
		"nothing":            {"", nil},
		"a person's note":    {"# Monday\n\n## 14:03 lunch\ntext\n%% event:: x at:: y %%\n" + one, []string{""}},
		"CR LF":              {strings.ReplaceAll(one, "\n", "\r\n"), []string{""}},
		"two":                {one + "\n" + with("01KB1", "01KB2"), []string{"", ""}},
		"twice":              {one + "\n" + one, []string{"", "its event is there twice"}},
		"unknown kind":       {with("applied", "obeyed"), []string{"unknown kind"}},
		"path outside":       {with("Specification.md", "../x.md"), []string{"path outside"}},
		"absolute":           {with("Specification.md", "/etc/passwd"), []string{"path outside"}},
		"no time":            {with("2026-11-30T", "2026-11-30"), []string{"no time"}},
		"cut short":          {one[:len(one)-3], []string{"cut short"}},
		"cut, then more":     {one[:60] + "\n\n" + one, []string{"cut short", ""}},
		"no event":           {with("event:: 01KB1 ", ""), []string{"cut short"}},
		"a key twice":        {with("run:: 01KB0", "event:: 01KB0"), []string{"cut short"}},
		"a heading in it":    {with("reason::", "## Mine\nreason::"), []string{"cut short"}},
		"a line after it":    {one + "mine\n%% event:: x at:: y %%\n", []string{""}},
		"no diff end":        {with("+Launch: June\n```\n", "+Launch: June\n"), []string{""}},
		"NUL, invalid UTF-8": {"\x00\xff\n" + one + "\xfe", []string{""}},
	} {
		var got []string
		for _, p := range Parse([]byte(test.src)) {
			got = append(got, p.Problem)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func many(n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		e := applied()
		e.Time, e.Event = at(i), fmt.Sprintf("01KB%04d", i)
		if i%3 == 0 {
			e.Diff, e.Status, e.Object, e.Reason = "", "started", fmt.Sprintf("Card %d", i), ""
		}
		entries[i] = e
	}
	return entries
}

// A file of 200 entries that ends at any byte holds the entries whose last
// line is whole, and no other.
func TestCutAtEveryByte(t *testing.T) {
	entries := many(200)
	src := Append(nil, entries)
	var ends []int
	for _, p := range Parse(src) {
		ends = append(ends, p.Span.End-1) // complete without its line end
	}
	if len(ends) != len(entries) {
		t.Fatalf("%d entries", len(ends))
	}
	// Parsing all of 40,000 prefixes is quadratic; entries before the last two are the same bytes each time.
	done := 0
	for cut := range len(src) + 1 {
		for done < len(ends) && ends[done] <= cut {
			done++
		}
		from := 0
		skip := max(done-2, 0)
		if skip > 0 {
			from = ends[skip-1] + 1
		}
		n := skip
		for _, p := range Parse(src[min(from, cut):cut]) {
			if p.Problem == "" {
				if p.Entry.Event != entries[n].Event {
					t.Fatalf("cut at %d: entry %d is %q", cut, n, p.Entry.Event)
				}
				n++
			}
		}
		if n != done {
			t.Fatalf("cut at %d: %d entries, want %d", cut, n, done)
		}
	}
	for _, cut := range []int{0, 1, len(src) / 3, len(src) / 2, len(src) - 1, len(src)} {
		missing := Missing(entries, src[:cut])
		repaired := Append(src[:cut], missing)
		var got []string
		for _, p := range Parse(repaired) {
			if p.Problem == "" {
				got = append(got, p.Entry.Event)
			}
		}
		if len(got) != len(entries) || !slices.IsSorted(got) {
			t.Errorf("cut at %d: %d entries after the repair", cut, len(got))
		}
	}
}

// Case 9: a journal without a newline at its end.
func TestCase09AppendToAFileWithoutNewline(t *testing.T) {
	got := Append([]byte("2026-01-02 09:00 applied edit"), []Entry{applied()})
	if want := "2026-01-02 09:00 applied edit\n\n" + appliedText; string(got) != want {
		t.Errorf("got %q", got)
	}
	got = Append(got, []Entry{applied()})
	if want := "2026-01-02 09:00 applied edit\n\n" + appliedText + "\n" + appliedText; string(got) != want {
		t.Errorf("got %q", got)
	}
}

func TestMissingGoesByTheEventLine(t *testing.T) {
	e := applied()
	edited := strings.Replace(appliedText, "## 14:03 · applied", "## sometime · applied", 1)
	if got := Missing([]Entry{e}, []byte(edited)); len(got) != 0 {
		t.Errorf("an entry that a person edited is missing: %+v", got)
	}
	if got := Missing([]Entry{e}, []byte(appliedText[:len(appliedText)-2])); len(got) != 1 {
		t.Errorf("an entry cut short is there: %+v", got)
	}
}

func TestFile(t *testing.T) {
	if got := File(at(0)); got != "journal/2026-11-30 journal.md" {
		t.Errorf("got %q", got)
	}
}

// What is written is read back, and writing what was read gives the same bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add("Checkout", "why", "-a\n+b\n", "Shop", uint16(412))
	f.Add("\\`%%<!--[[x]]^", "## x\n%% event:: y %%", "```\n````\n\\ No newline\n## 14:03 · a · b", "A → [B", uint16(1))
	f.Add("\xff\x00\u202e", "\r", "\r\n\n\n", "", uint16(0))
	f.Fuzz(func(t *testing.T, object, why, diff, board string, ms uint16) {
		e := Entry{Time: at(int(ms)), Status: "moved", Object: object, Reason: why, Diff: diff, Event: "01KB1", Run: "01KB0"}
		if board != "" {
			e.From, e.Chat = "[["+board+"]]", "[[c|chat]]"
		}
		src := Render(e)
		got := Parse(src)
		if len(got) != 1 || got[0].Problem != "" || got[0].Span.Len() != len(src) {
			t.Fatalf("%+v\n%s", got, src)
		}
		if again := Render(got[0].Entry); !bytes.Equal(again, src) {
			t.Fatalf("\n got %q\nwant %q", again, src)
		}
		if clean := visible(unbroken(object)); got[0].Entry.Object != clean {
			t.Fatalf("object %q, want %q", got[0].Entry.Object, clean)
		}
		if clean := visible(unbroken(strings.TrimSpace(why))); got[0].Entry.Reason != clean {
			t.Fatalf("reason %q, want %q", got[0].Entry.Reason, clean)
		}
	})
}

// Any bytes are read, and what is added behind them is found.
func FuzzParse(f *testing.F) {
	f.Add([]byte(appliedText))
	f.Add([]byte(appliedText[:70] + "\n```\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		before := Parse(src)
		e := applied()
		e.Event = "01KBZZZZ"
		if bytes.Contains(src, []byte(e.Event)) {
			return
		}
		got := Append(src, []Entry{e})
		if !bytes.HasPrefix(got, src) || got[len(got)-1] != '\n' {
			t.Fatalf("%q became %q", src, got)
		}
		after := Parse(got)
		if len(after) != len(before)+1 || after[len(before)].Problem != "" || after[len(before)].Entry.Event != e.Event {
			t.Fatalf("%q: got %+v", got, after)
		}
	})
}
