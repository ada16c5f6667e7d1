package compare

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/sim"
)

// A DeadlockConfig says which methods against deadlock to compare: each with
// every number of processes, under the same load.
type DeadlockConfig struct {
	Methods      []deadlock.Method
	Processes    []int
	Locks, Sites int
	Transactions int // of each run
	Seed         uint64
	Workers      int                   // runs at the same time; 0 means one for each processor
	Progress     func(done, total int) // told after each run, by one goroutine at a time; may be nil
}

// A DeadlockRow is a method in one of its modes, with a result for each number
// of processes.
type DeadlockRow struct {
	Name    string // with its mode
	Method  deadlock.Method
	Mode    string
	Results []*sim.Ledger
}

// A DeadlockMap is what a comparison of methods found.
type DeadlockMap struct {
	DeadlockConfig
	Rows []DeadlockRow
}

// RunDeadlock makes all runs. The result does not depend on how many workers
// there are.
func RunDeadlock(c DeadlockConfig) (*DeadlockMap, error) {
	m := &DeadlockMap{DeadlockConfig: c}
	for _, method := range c.Methods {
		if len(method.Modes) == 0 {
			m.Rows = append(m.Rows, DeadlockRow{Name: method.Name, Method: method, Results: make([]*sim.Ledger, len(c.Processes))})
		}
		for _, mode := range method.Modes {
			m.Rows = append(m.Rows, DeadlockRow{method.Name + ", " + mode, method, mode, make([]*sim.Ledger, len(c.Processes))})
		}
	}
	if len(m.Rows) == 0 || len(c.Processes) == 0 {
		return nil, fmt.Errorf("nothing to compare: want at least one method and number of processes")
	}
	return m, inParallel(len(m.Rows)*len(c.Processes), c.Workers, c.Progress, func(i int) error {
		return m.one(i/len(c.Processes), i%len(c.Processes))
	})
}

func (m *DeadlockMap) one(row, n int) error {
	r := &m.Rows[row]
	c := sim.UsualTransactions()
	c.Method, c.Mode, c.Seed, c.Number = r.Method, r.Mode, m.Seed, m.Transactions
	c.Layout = deadlock.Spread(m.Sites, m.Processes[n], m.Locks)
	var err error
	r.Results[n], err = sim.RunTransactions(c)
	return err
}

// A DeadlockMeasure is one thing to judge methods by.
type DeadlockMeasure struct {
	Title, Unit string
	Of          func(r *sim.Ledger) float64 // NaN if a run says nothing
}

// DeadlockMeasures returns all measures, in the order in which people should
// see them.
func DeadlockMeasures() []DeadlockMeasure {
	each := func(n func(r *sim.Ledger) int) func(r *sim.Ledger) float64 {
		return func(r *sim.Ledger) float64 {
			if r.Stuck > 0 {
				return math.NaN()
			}
			return float64(n(r)) / float64(max(1, r.Committed))
		}
	}
	return []DeadlockMeasure{
		{"Throughput", "commits per T", func(r *sim.Ledger) float64 {
			if r.Stuck > 0 {
				return 0
			}
			return r.Throughput
		}},
		{"Messages per transaction", "messages", each(func(r *sim.Ledger) int { return r.Messages })},
		{"Aborts per transaction", "aborts", each(func(r *sim.Ledger) int { return r.Aborted })},
		{"Unnecessary aborts per transaction", "aborts", each(func(r *sim.Ledger) int { return r.Unnecessary })},
		{"Detection delay", "T", func(r *sim.Ledger) float64 {
			if r.Resolved == 0 {
				return math.NaN()
			}
			return r.DetectionDelay
		}},
		{"False positives per 1,000 transactions", "reports", each(func(r *sim.Ledger) int { return 1000 * r.FalsePositives })},
	}
}

//go:embed deadlock.html
var deadlockHTML string

// HTML returns the comparison as a page of its own: no script, nothing from
// the network.
func (m *DeadlockMap) HTML() ([]byte, error) {
	_, css, _ := strings.Cut(reportHTML, "<style>")
	css, _, _ = strings.Cut(css, "{{")
	page := deadlockPage{DeadlockMap: m, CSS: template.CSS(css), N: commas(m.Processes)}
	for i := range m.Rows {
		page.Key = append(page.Key, class(i))
	}
	for _, by := range DeadlockMeasures() {
		page.Panels = append(page.Panels, panel{by.Title, template.HTML(m.chart(by))})
	}
	for _, r := range m.Rows {
		for n, x := range r.Results {
			row := deadlockLine{Name: r.Name, Processes: m.Processes[n], Stuck: x.Stuck}
			for _, by := range DeadlockMeasures() {
				row.Cells = append(row.Cells, short(by.Of(x)))
			}
			page.Lines = append(page.Lines, row)
		}
		if last := r.Results[len(r.Results)-1]; last.Stuck > 0 && page.Ring == "" {
			page.Ring = template.HTML(last.Graph.SVG(deadlock.Picture{Title: r.Name, Note: "who waits for whom, for ever", Victim: -1}))
		}
	}
	return fill(deadlockHTML, page)
}

type (
	deadlockPage struct {
		*DeadlockMap
		CSS    template.CSS
		N      string
		Key    []string
		Panels []panel
		Lines  []deadlockLine
		Ring   template.HTML
	}
	deadlockLine struct {
		Name      string
		Processes int
		Stuck     int
		Cells     []string
	}
)

// chart draws one measure over the number of processes.
func (m *DeadlockMap) chart(by DeadlockMeasure) string {
	c := chart{width: 560, height: 300, unit: by.Unit, xs: m.Processes, names: true, label: by.Title + " over the number of processes"}
	for i, r := range m.Rows {
		var ys []float64
		for _, x := range r.Results {
			ys = append(ys, by.Of(x))
		}
		c.lines = append(c.lines, line{r.Name, class(i), colour(i), dash(i), ys})
	}
	return c.svg()
}
