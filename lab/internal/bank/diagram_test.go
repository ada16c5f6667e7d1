package bank

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm/catalog"
)

// The diagram of the schedule that everybody should have seen once.
func TestDiagram(t *testing.T) {
	c := scene(NoLock(), 1)
	c.Record = true
	got := strings.Join(play(t, c).Diagram(c.Balance, 20), "\n")
	want := strings.Trim(`
   time P1                       account                       P2
   3.42  █                        1,000                         ┊  P1 enters
   4.90  █──────── READ ───────▶  1,000                         ┊
   5.44  █◀──── VALUE 1,000 ────  1,000                         ┊
   5.50  █                        1,000                         █  P2 enters
   6.01  █                        1,000  ◀─────── READ ─────────█
   6.59  █──── WRITE 11,000 ───▶ 11,000                         █
   6.94  █                       11,000  ───── VALUE 1,000 ────▶█
   7.54  █                       11,000  ◀─── WRITE 11,000 ─────█
   8.01  ┊◀─────── DONE ──────── 11,000                         █  P1 leaves
   8.18  ┊                       11,000  ──────── DONE ────────▶┊  P2 leaves`, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOverwritten(t *testing.T) {
	r := play(t, scene(NoLock(), 1))
	if len(r.Overwritten) != 1 || r.Overwritten[0] != (Overwrite{By: 1, Of: 0}) {
		t.Errorf("got %v, want P2 over P1", r.Overwritten)
	}
	for seed := range uint64(200) {
		r := play(t, scene(NoLock(), seed))
		if (r.Lost > 0) != (len(r.Overwritten) > 0) {
			t.Errorf("seed %d: %d is lost, overwritten %v", seed, r.Lost, r.Overwritten)
		}
	}
}

func TestDiagramsKeepTheirWidth(t *testing.T) {
	for _, lock := range append(catalog.Sound(), NoLock()) {
		for machines := 1; machines <= maxLanes; machines++ {
			c := scene(lock, 5)
			c.Machines, c.Deposits, c.Amount, c.Balance, c.Record = machines, 2, 1e12, 1e12, true
			if lock.Accepts(machines) != nil {
				continue
			}
			rows := play(t, c).Diagram(c.Balance, 10)
			if len(rows) > 12 {
				t.Errorf("%s: %d rows, want 10, a header and a line on the rest", lock.Name, len(rows))
			}
			for _, row := range rows {
				if utf8.RuneCountInString(row) > columns {
					t.Errorf("%s: too wide: %q", lock.Name, row)
				}
			}
		}
	}
}
