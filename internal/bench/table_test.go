package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// row is one line of the table.
type row struct {
	what  string
	value string
	goal  string
	miss  bool
}

// table is what was measured; benchmarks run one after the other.
type table struct{ rows []row }

var results table

func (t *table) some() bool { return len(t.rows) > 0 }

// add puts a value into the table and among the benchmark's metrics. A goal of 0
// is none. A benchmark that is run again replaces its row.
func (t *table) add(b *testing.B, what, unit string, value, goal float64, detail string) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(value, strings.ReplaceAll(what, " ", "-")+"-"+unit)
	r := row{what: what, value: number(value, unit), goal: "–"}
	if detail != "" {
		r.value += " (" + detail + ")"
	}
	if goal != 0 {
		r.goal, r.miss = "≤ "+number(goal, unit), value > goal
		if strings.HasSuffix(unit, "/s") {
			r.goal, r.miss = "≥ "+number(goal, unit), value < goal
		}
	}
	if i := slices.IndexFunc(t.rows, func(o row) bool { return o.what == what }); i >= 0 {
		t.rows[i] = r
		return
	}
	t.rows = append(t.rows, r)
}

func number(v float64, unit string) string {
	if unit == "×" {
		return fmt.Sprintf("%.2f ×", v)
	}
	if v == float64(int64(v)) || v >= 100 {
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.1f %s", v, unit))
}

func (t *table) print(w io.Writer, took time.Duration) {
	if !t.some() {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n| what | measured | goal |\n| --- | --- | --- |\n", machine())
	for _, r := range t.rows {
		mark := ""
		if r.miss {
			mark = ", **missed**"
		}
		fmt.Fprintf(w, "| %s | %s | %s%s |\n", r.what, r.value, r.goal, mark)
	}
	fmt.Fprintf(w, "\nTaken in %s.\n", took.Round(time.Second))
}

// machine says where the numbers come from.
func machine() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				name += ", " + strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s, %s.", name, runtime.NumCPU(), runtime.Version(), time.Now().Format("2 January 2006"))
}

// times are durations of the same thing done again and again.
type times []time.Duration

// quantile q of the times, 0.5 is the median.
func (t times) quantile(q float64) time.Duration {
	s := slices.Sorted(slices.Values(t))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

func (t times) median() time.Duration { return t.quantile(0.5) }

// over is the median of the ratios of what was done in turns, so that a machine
// that changes its speed meanwhile does not count.
func (t times) over(other times) float64 {
	ratios := make([]float64, 0, len(t))
	for i := range min(len(t), len(other)) {
		ratios = append(ratios, float64(t[i])/float64(other[i]))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func (t *times) take(do func()) {
	start := time.Now()
	do()
	*t = append(*t, time.Since(start))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }
