package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/internal/compare"
)

// maxCompared is how many processes may compete for the locks of a comparison.
const maxCompared = 100

// runDeadlock compares methods against deadlock.
func (f *compareFlags) runDeadlock(cmd *cobra.Command, names []string, stdout, stderr io.Writer) error {
	for _, flag := range []string{"think", "hold"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--deadlock compares under one load, and has no --%s to choose: leave it out", flag)
		}
	}
	c := compare.DeadlockConfig{
		Methods: deadlock.Methods(), Processes: []int{2, 4, 8, 12, 16}, Locks: 20, Sites: 3,
		Transactions: f.config.Entries, Seed: f.config.Seed,
	}
	if cmd.Flags().Changed("nodes") {
		c.Processes = f.config.Nodes
	}
	for _, n := range c.Processes {
		if n > maxCompared {
			return fmt.Errorf("--nodes %d: with --deadlock at most %d, since all of them compete for %d locks", n, maxCompared, c.Locks)
		}
	}
	if len(names) > 0 {
		c.Methods = nil
	}
	for i, name := range names {
		m, err := deadlock.Find(name)
		if err != nil {
			return err
		}
		for _, other := range names[:i] {
			if other == name {
				return fmt.Errorf("%s is named twice: name each method once", name)
			}
		}
		c.Methods = append(c.Methods, m)
	}
	var m *compare.DeadlockMap
	var outputs []output
	if f.out != "" {
		outputs = []output{{"out", f.out, func() ([]byte, error) { return m.HTML() }}}
	}
	if err := checkAll(outputs); err != nil {
		return err
	}
	bar := newProgress(stderr)
	c.Progress = bar.show
	m, err := compare.RunDeadlock(c)
	bar.clear()
	if err != nil {
		return err
	}
	if err := writeAll(outputs); err != nil {
		return err
	}
	if f.json {
		return writeJSON(stdout, deadlockReport(m))
	}
	return printCompareDeadlock(stdout, m, f.out)
}

// A deadlockCell is one run of a comparison, for programs.
type deadlockCell struct {
	Method    string `json:"method"`
	Mode      string `json:"mode"`
	Processes int    `json:"processes"`
	Result    any    `json:"result"`
}

func deadlockReport(m *compare.DeadlockMap) []deadlockCell {
	var all []deadlockCell
	for _, r := range m.Rows {
		for n, x := range r.Results {
			all = append(all, deadlockCell{r.Method.Name, r.Mode, m.Processes[n], x})
		}
	}
	return all
}

// printCompareDeadlock shows a table for each measure.
func printCompareDeadlock(w io.Writer, m *compare.DeadlockMap, out string) error {
	p := &page{w: w}
	p.line("Methods against deadlock: %s over %s at %s, seed %d", plural(m.Transactions, "transaction"),
		plural(m.Locks, "lock"), plural(m.Sites, "site"), m.Seed)
	shown := pick(len(m.Processes), 6)
	for _, by := range compare.DeadlockMeasures() {
		p.line("")
		head := right(by.Title+", N =", 32)
		if len(by.Title) > 26 {
			p.line("%s", by.Title)
			head = right("N =", 32)
		}
		for _, n := range shown {
			head += left(fmt.Sprint(m.Processes[n]), 8)
		}
		p.line("%s", head)
		for _, r := range m.Rows {
			line := "  " + right(r.Name, 30)
			for _, n := range shown {
				x := by.Of(r.Results[n])
				if math.IsNaN(x) {
					line += left("-", 8)
				} else {
					line += left(compact(x), 8)
				}
			}
			p.line("%s", line)
		}
	}
	p.line("")
	if out != "" {
		p.line("Report: %s", out)
	}
	return p.err
}
