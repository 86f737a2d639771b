package foreign

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/internal/robust"
)

// proofs are the tests of each of the forty faults that people have met in
// other tools, by the number of the case and the package's folder.
var proofs = [...]string{
	1:  "board.TestCasesReadLanesAndStarts board.TestCasesMove",
	2:  "board.TestCase02NothingToDoGivesTheSameBytes internal/store.TestNothingToChange",
	3:  "board.TestCasesMove",
	4:  "chats.TestSetPropsSplicesOnlyWhatDiffers board.TestAddLanes internal/config.TestScalar",
	5:  "board.TestCasesReadLanesAndStarts board.TestCasesMove internal/markdown.TestCutHeader",
	6:  "board.TestCasesReadLanesAndStarts board.TestCasesMove internal/markdown.TestCutHeader",
	7:  "board.TestCase07BrokenHeaderIsAProblemOfItsLine",
	8:  "board.TestCasesMove",
	9:  "board.TestCase09NoFinalNewlineStaysSo journal.TestCase09AppendToAFileWithoutNewline internal/store.TestAppend",
	10: "board.TestCasesReadLanesAndStarts board.TestCasesMove internal/markdown.TestMasks",
	11: "board.TestCase11CommentsStayWhereTheyAre internal/markdown.TestMasks",
	12: "board.TestCase12BreaksAreLinesOfTheNote board.TestCasesMove",
	13: "board.TestCase13BlankLinesBelongToTheCard",
	14: "board.TestCase14TwoEqualCardsAreNamed dispatch.TestPersonMovesARunningCard",
	15: "board.TestCase15CopiedBlockIDIsNoKey dispatch.TestAfter",
	16: "internal/store.TestHalfWritten dispatch.TestHalfWrittenFile internal/robust/foreign.TestHalfWrittenStates",
	17: "board.TestCase17AnOldCopyHasNoStatusItem internal/robust/foreign.TestOldCopySavedOverOurMove",
	18: "internal/store.TestLinkStays internal/store.TestRefused",
	19: "internal/store.TestKillSweep internal/store.TestRecoverSaysWhat board.TestCase27MergeMarkersAreInactive",
	20: "watcher.TestSaveStyles watcher.TestRenameAndCreateIsOneChange internal/store.TestVimGap internal/robust/race.TestPersonSavesWhileCardsRun",
	21: "watcher.TestSaveStyles",
	22: "watcher.TestFilterBeforeRegistering watcher.TestWatchLimit",
	23: "watcher.TestOverflow",
	24: "watcher.TestFileInNewFolder",
	25: "watcher.TestPollOnly",
	26: "board.TestCase26ConflictCopiesAreInactive dispatch.TestBoardsThatCannotStart internal/robust/foreign.TestConflictCopies",
	27: "board.TestCase27MergeMarkersAreInactive dispatch.TestBoardsThatCannotStart internal/robust/foreign.TestMergeMarkers",
	28: "notes.TestCase28Forms",
	29: "notes.TestCase29Shuffled notes.TestCopyNamesTheOthers",
	30: "notes.TestCase30PipeInTable",
	31: "notes.TestCase31Code",
	32: "notes.TestCase32Punctuation",
	33: "board.TestCase33HintForUpperCase board.TestMentions",
	34: "board.TestCase34SelectorsDoNotCount",
	35: "board.TestCase35LooksLikeACard board.TestCasesMove",
	36: "board.TestCase36OneLargeCard notes.TestCase36PastedLog",
	37: "board.TestCase37NothingGoesBehindTheFooter board.TestCasesMove",
	38: "board.TestCasesReadLanesAndStarts board.TestCasesMove",
	39: "dispatch.TestRecover dispatch.TestRestart internal/robust/crash.TestKilledAtEveryPoint",
	40: "chats.TestCase40OwnMarksInForeignText board.TestCase40AnAgentsTextIsOnlyText board.FuzzSaid",
}

// TestEveryCaseHasItsTests: none of the forty is missing, and what is named is
// there.
func TestEveryCaseHasItsTests(t *testing.T) {
	if len(proofs) != 41 {
		t.Fatalf("%d cases, want 40", len(proofs)-1)
	}
	for n, names := range proofs[1:] {
		if names == "" {
			t.Errorf("case %02d has no test", n+1)
		}
		for name := range strings.FieldsSeq(names) {
			dir, test, _ := strings.Cut(name, ".")
			if !declares(t, filepath.Join("../../..", dir), test) {
				t.Errorf("case %02d: there is no %s", n+1, name)
			}
		}
	}
}

func declares(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	must(t, err)
	declared := regexp.MustCompile(`(?m)^func ` + test + `\(`)
	return slices.ContainsFunc(files, func(name string) bool {
		src, err := os.ReadFile(name)
		must(t, err)
		return declared.Match(src)
	})
}

// starts are the cards of the fixtures that may start, by the file that the
// stand-in writes for each: the first word of its title.
var starts = map[string]string{
	"01": "ORDER", "03": "CART", "05": "FIRST TOTALS", "06": "COMPARE", "08": "ONE", "09": "WRITE", "10": "WRITE", "13": "REPORT", "16": "A", "17": "SHIP",
	"18": "LINKED", "28": "PRINT", "29": "DO OTHER", "30": "SEE", "31": "EXPLAIN", "32": "X", "33": "REAL", "35": "AFTER HARD", "37": "WORKS", "38": "BERICHT",
}

// TestProgramOverEveryFixture runs the whole program once over the files of all
// cases: the right cards start and no others, every line of a person is there as
// often as before, and a file of which nothing starts is not touched.
func TestProgramOverEveryFixture(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dirs, err := filepath.Glob("testdata/cases/*")
	must(t, err)
	names := []string{"shop", "web-ecommerce"}
	for _, dir := range dirs {
		names = append(names, "c"+filepath.Base(dir))
	}
	p := robust.NewPlace(t, robust.Fast+"add_lanes: yes\n", names...)
	serve(t, p, dirs)
	files := map[string]os.FileInfo{}
	for _, dir := range dirs {
		must(t, os.CopyFS(p.At(filepath.Base(dir)), os.DirFS(dir)))
	}
	must(t, filepath.WalkDir("testdata/cases", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel("testdata/cases", path)
		must(t, err)
		files[rel], err = os.Stat(p.At(rel))
		return err
	}))
	p.Once(ctx)
	for _, dir := range dirs {
		n := filepath.Base(dir)
		if got := started(t, p, n); got != starts[n] {
			t.Errorf("case %s: %q started, want %q", n, got, starts[n])
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		kept(t, p, rel, files[rel])
	}
	suite.Figure(t, "files of the cases", "%d, the whole program over all of them at once: nothing lost, nothing started that should not", len(files))
}

// serve makes each case's boards those of a project of its own, where they name
// none.
func serve(t *testing.T, p *robust.Place, dirs []string) {
	t.Helper()
	data, err := os.ReadFile(p.Options.Config)
	must(t, err)
	text := string(data)
	for _, dir := range dirs {
		n := filepath.Base(dir)
		folder := "{folder: " + p.Path("c"+n) + "}"
		var boards []string
		for _, pattern := range []string{"/*.md", "/*/*.md"} {
			found, err := filepath.Glob(dir + pattern)
			must(t, err)
			for _, name := range found {
				boards = append(boards, fmt.Sprintf("%q", n+strings.TrimPrefix(name, dir)))
			}
		}
		if boards == nil {
			continue
		}
		text = strings.Replace(text, folder, fmt.Sprintf("{folder: %s, boards: [%s]}", p.Path("c"+n), strings.Join(boards, ", ")), 1)
	}
	p.Write(p.Options.Config, text)
	p.Grant()
}

// started are the cards of a case whose agents wrote their file.
func started(t *testing.T, p *robust.Place, n string) string {
	t.Helper()
	dirs := []string{"c" + n}
	switch n {
	case "03":
		dirs = append(dirs, "web-ecommerce")
	case "05", "06":
		dirs = append(dirs, "shop")
	}
	var names []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(p.Path(dir))
		must(t, err)
		for _, e := range entries {
			name := strings.TrimSuffix(e.Name(), ".md")
			if dir != "shop" || slices.Contains(strings.Fields(starts[n]), name) { // two cases share it
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// kept compares a file with what it was.
func kept(t *testing.T, p *robust.Place, rel string, was os.FileInfo) {
	t.Helper()
	old, err := os.ReadFile(filepath.Join("testdata/cases", rel))
	must(t, err)
	now := p.Read(rel)
	if string(old) == now {
		if is, err := os.Stat(p.At(rel)); err != nil || !os.SameFile(is, was) || !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s was written although nothing changed: %v", rel, err)
		}
		return
	}
	n, _, _ := strings.Cut(rel, string(filepath.Separator))
	if starts[n] == "" && n != "34" { // two equal cards: neither starts, and the lanes are added all the same
		t.Errorf("%s was changed although nothing starts in it:\n%s", rel, now)
	}
	count := map[string]int{}
	for l := range strings.Lines(now) {
		count[strings.TrimSuffix(l, "\n")]++
	}
	for l := range strings.Lines(string(old)) {
		if l = strings.TrimSuffix(l, "\n"); l != "" {
			if count[l]--; count[l] < 0 {
				t.Errorf("%s: a line is lost: %q\n%s", rel, l, now)
			}
		}
	}
}
