package dispatch

import (
	"testing"
	"time"
)

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 400 * time.Millisecond: "0s", 7 * time.Second: "7s", time.Minute: "1m", 252 * time.Second: "4m12s", 3 * time.Minute: "3m",
		time.Hour: "1h", 63 * time.Minute: "1h03m", 3*time.Hour + 59*time.Minute + 30*time.Second: "3h59m", 100 * time.Hour: "100h",
	} {
		same(t, d.String(), Short(d), want)
	}
	for d, want := range map[time.Duration]string{time.Nanosecond: "1s", time.Second: "1s", 1001 * time.Millisecond: "2s", 60 * time.Second: "1m"} {
		same(t, d.String(), seconds(d), want)
	}
}

func TestMoney(t *testing.T) {
	for usd, want := range map[float64]string{0: "$0.00", 0.03: "$0.03", 0.0049: "$0.0049", 0.0004: "$0.0004", 0.0099: "$0.0099", 0.01: "$0.01", 12: "$12.00"} {
		same(t, "money", Money(usd), want)
	}
}

// What an agent says about its end stands below the card as text; without a
// cost none is claimed.
func TestItemOfAReview(t *testing.T) {
	d := atWork(t)
	d.now = d.now.Add(252 * time.Second)
	d.entry(d.run().ID, Entry{Kind: Finished, Outcome: Review, Text: "Done.\r\n\r\n## Summary\n- [ ] no box @pi\n"})
	d.settle()
	contains(t, "board", d.text("Shop.md"),
		"\t- 🟢 pi: review · 4m12s · [[Card|chat]] ^r-01run0001\n\t\t- Done.\n\t\t- \\## Summary\n\t\t- \\- [ ] no box @pi\n")
	d.set.Text = true
	d.edit("Shop.md", "🟢 pi: review", "🟢 pi: works") // an old state, and text marks since
	d.settle()
	contains(t, "board", d.text("Shop.md"), "\t- pi: review · 4m12s")
}
