package pi

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"deckhand/harness"
	"deckhand/harness/conformance"
)

// TestAttachAnywhere cuts captures after every line: what a daemon that attaches
// there has seen is what the one before had seen, no more and no less.
func TestAttachAnywhere(t *testing.T) {
	for _, version := range []string{"0.73.1", "1.6.0"} {
		for _, rec := range recorded(t, version) {
			life := conformance.Replay(open(), rec, peer())
			for n := 1; n <= len(life.Lines); n++ {
				seen := life.Again(open(), n)
				if len(seen) > len(life.Events) || len(seen) > 0 && !reflect.DeepEqual(seen, life.Events[:len(seen)]) {
					t.Fatalf("%s %s: cut after line %d", version, rec.Name, n)
				}
			}
		}
	}
}

// FuzzDecode: whatever a process prints, nothing panics, the same lines say the
// same, and every turn that ends is closed cleanly.
func FuzzDecode(f *testing.F) {
	for _, file := range []string{"b_tool", "h10_two_dialogs", "i13_retry_fast", "f2_abort_tool", "j_bad_input", "z4_fence_threshold"} {
		for _, version := range []string{"0.73.1", "1.6.0"} {
			var all bytes.Buffer
			for _, l := range read(f, filepath.Join(captures, version, file+".jsonl")).Lines {
				all.WriteByte("oeim"[index(l.Stream)])
				all.Write(l.Data)
				all.WriteByte('\n')
			}
			f.Add(all.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		life := conformance.Life{Recording: conformance.Recording{Code: 1}}
		s := open()
		var last time.Time
		for i, l := range bytes.Split(data, []byte("\n")) {
			if len(l) == 0 {
				continue
			}
			last = time.Unix(int64(i), 0)
			row := harness.Line{Seq: int64(i + 1), Time: last, Stream: stream(l[0]), Data: l[1:]}
			life.Lines = append(life.Lines, row)
			events, sends := s.Decode(row)
			life.Events = append(life.Events, events...)
			for _, send := range sends {
				if send.Do == "" && !json.Valid([]byte(send.Line)) {
					t.Fatalf("sends no JSON: %q", send.Line)
				}
			}
		}
		if len(life.Lines) == 0 {
			return
		}
		life.Events = append(life.Events, s.Exit(1, "", last)...)
		for _, fault := range conformance.Check(life, open) {
			// A program may repeat a message or say its text in two ways; that
			// is its fault and not the driver's.
			if fault.Rule != conformance.UsageKnown && fault.Rule != conformance.TextOnce {
				t.Errorf("%v", fault)
			}
		}
	})
}

func index(s harness.Stream) int {
	switch s {
	case harness.Out:
		return 0
	case harness.Err:
		return 1
	case harness.In:
		return 2
	}
	return 3
}

func stream(b byte) harness.Stream {
	switch b {
	case 'e':
		return harness.Err
	case 'i':
		return harness.In
	case 'm':
		return harness.Meta
	}
	return harness.Out
}

// FuzzScan holds the scanner against encoding/json: for a valid object the same
// fields, and never a panic.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"type":"a","x":{"y":["\"}",1.5e3,null,true]},"d":"\u00e9\\"}`))
	f.Add([]byte(` { "a" : "b" , "type" : "t\n" } `))
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, ok := kindOf(data)
		delta(data)
		var want map[string]json.RawMessage
		if !utf8.Valid(data) || json.Unmarshal(data, &want) != nil || want == nil {
			return
		}
		if !ok {
			t.Fatalf("an object was refused: %q", data)
		}
		if bytes.Count(data, []byte(`"`)) != 2*stringsIn(want) {
			return // escaped or repeated keys: the first wins here, the last there
		}
		for name, raw := range want {
			got := field(data, name)
			if !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(raw)) {
				t.Fatalf("%q: field %q is %q, want %q", data, name, got, raw)
			}
		}
		var typed string
		if json.Unmarshal(want["type"], &typed) == nil && kind != typed {
			t.Fatalf("%q: kind %q, want %q", data, kind, typed)
		}
	})
}

// stringsIn counts the strings of an object with plain keys and values.
func stringsIn(o map[string]json.RawMessage) int {
	n := len(o)
	for _, raw := range o {
		n += bytes.Count(raw, []byte(`"`)) / 2
	}
	return n
}
