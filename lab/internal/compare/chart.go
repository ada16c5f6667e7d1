package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
)

// SVG draws messages per entry over the number of processes, for each load: the
// chart that most comparisons are about.
func (m *Map) SVG() string {
	by := Measures()[0]
	p := draw.Charts{
		Title:   by.Title + " by number of processes N",
		Note:    interrupted(m.Stopped()) + fmt.Sprintf("%d entries per run, seed %d; times in T, the message latency", m.Entries, m.Seed),
		Columns: min(len(m.Think), 3), Width: 400, Height: 300,
	}
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			busy := ""
			if think.Max() == 0 {
				busy = " (saturated)"
			}
			p.Charts = append(p.Charts, draw.Chart{
				Title: fmt.Sprintf("think %v%s, hold %v", think, busy, hold), Unit: by.Unit, Xs: m.Nodes, Lines: m.lines(by, t, h),
			})
		}
	}
	return p.SVG()
}

// lines returns the line of each algorithm under one load.
func (m *Map) lines(by Measure, think, hold int) []draw.Line {
	var all []draw.Line
	for s, spec := range m.Specs {
		l := draw.Line{Look: lookOf(spec.Name), Name: spec.Name}
		for n := range m.Nodes {
			l.Ys = append(l.Ys, by.Value(m.Find(s, n, think, hold)))
		}
		all = append(all, l)
	}
	return all
}

// SVG draws throughput and messages over the number of processes.
func (m *DeadlockMap) SVG() string {
	p := draw.Charts{
		Title: "Methods against deadlock by number of processes N",
		Note: interrupted(m.Stopped()) + fmt.Sprintf("%d transactions over %d locks at %d sites, seed %d; a stuck run has throughput 0 and no messages",
			m.Transactions, m.Locks, m.Sites, m.Seed),
		Columns: 2, Width: 500, Height: 320,
	}
	for _, by := range DeadlockMeasures()[:2] {
		p.Charts = append(p.Charts, draw.Chart{Title: by.Title + ", " + by.Unit, Unit: by.Unit, Xs: m.Processes, Lines: m.lines(by)})
	}
	return p.SVG()
}

// lines returns the line of each method.
func (m *DeadlockMap) lines(by DeadlockMeasure) []draw.Line {
	var all []draw.Line
	for _, r := range m.Rows {
		l := draw.Line{Look: lookOfMethod(r.Method.Name, r.Mode), Name: r.Name}
		for _, x := range r.Results {
			l.Ys = append(l.Ys, by.Value(x))
		}
		all = append(all, l)
	}
	return all
}

// interrupted says how far a comparison had come when it was stopped, if it was.
func interrupted(after string) string {
	if after == "" {
		return ""
	}
	return "INTERRUPTED after " + after + "; "
}

// lookOf returns the look of an algorithm, which is the same whatever it is compared
// with: its place in the catalog decides, and that of the election after a plus.
func lookOf(name string) draw.Look {
	all, at := catalog.All(), func(list []algorithm.Spec, name string) int {
		return slices.IndexFunc(list, func(s algorithm.Spec) bool { return s.Name == name })
	}
	lock, elect, _ := strings.Cut(name, "+")
	return draw.LookAt(len(all)*(1+at(catalog.Elections(), elect)) + max(0, at(all, lock)))
}

// lookOfMethod returns the look of a method against deadlock in one of its modes, by its
// place among all of them.
func lookOfMethod(name, mode string) draw.Look {
	i := 0
	for _, m := range deadlock.Methods() {
		for k, its := range append([]string{""}, m.Modes...)[min(1, len(m.Modes)):] {
			if m.Name == name && its == mode {
				return draw.LookAt(i + k)
			}
		}
		i += max(1, len(m.Modes))
	}
	return draw.LookAt(i)
}
