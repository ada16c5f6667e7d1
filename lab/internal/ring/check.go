package ring

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A Report is the result of checking a ring: a check.Report whose only property is
// Convergence and how long it takes at most until the ring is right.
type Report struct {
	check.Report
	Mover   string   `json:"movers"`
	Values  int      `json:"k"`
	Steps   int      `json:"worst_steps"` // steps until the ring is right, from the worst state
	Longest []string `json:"longest_run"` // a run with that many steps
}

// The largest rings: the processes that move are kept in a few bits, a flag in a byte.
const (
	maxN = 20
	maxK = 256
)

// Check finds out whether every infinite run of a ring, from every state, reaches exactly
// one privilege and keeps it.
//
// If K is 0 it tries 2, 3, and so on until the ring converges. (With 1 value no process
// but process 0 would ever be privileged.)
func (r Ring) Check(l check.Limits) (*Report, error) {
	started, fewest := time.Now(), r.K == 0
	report := &Report{Mover: r.Mover.String(), Longest: []string{}, Report: check.Report{
		Algorithm: "dijkstra", Nodes: r.N, Requests: check.NoRequests, Network: "shared flags",
	}}
	if fewest {
		r.K = 2
	}
	l.Pass, l.Stop = check.Convergence, brokenClosure
	left, p := l, check.Property{}
	for again := true; again; r.K++ {
		if r.N < 2 || r.N > maxN || r.K < 2 || r.K > maxK {
			return nil, fmt.Errorf("cannot check a ring of %s whose flags have %s: want 2 to %d processes, and 2 to %d values", words.Plural(r.N, "process"), words.Plural(r.K, "value"), maxN, maxK)
		}
		if l.Time > 0 {
			left.Time = max(time.Nanosecond, l.Time-time.Since(started))
		}
		var err error
		if p, err = report.try(r, left); err != nil {
			return nil, fmt.Errorf("cannot check dijkstra: %w", err)
		}
		again = fewest && p.Verdict == check.Violated
	}
	switch k := report.Values; {
	case !fewest || p.Verdict != check.Holds:
	case k == 2:
		p.Note += "; 2 values are the fewest that a flag can have"
	default:
		p.Note += fmt.Sprintf("; %d values are the fewest: with %d it may never converge", k, k-1)
	}
	report.Properties, report.Verdict = []check.Property{p}, p.Verdict
	report.Seconds = time.Since(started).Seconds()
	report.Rate = float64(report.States) / report.Seconds
	return report, nil
}

// try checks a ring with a given number of values: it looks for a run in which the ring
// is never right, or for a longest one until it is.
func (r *Report) try(m Ring, l check.Limits) (check.Property, error) {
	p := check.Property{Name: check.Convergence, Trace: []string{}}
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: l, Edges: true})
	if err != nil {
		return p, err
	}
	r.Values, r.States, r.Transitions, r.Depth = m.K, g.States(), g.Transitions(), g.Levels()
	r.Collision = min(1, r.Collision+explore.Collision(g.States()))
	if _, found := g.Found(brokenClosure); found {
		p.Verdict, p.Note = check.Violated, "it does not stay converged"
		return p, nil
	}
	var loop *explore.Walk
	if g.Unfinished == "" {
		c := g.Cut(0)
		if bad := c.Starves(); bad != nil {
			loop = c.Loop(bad)
		} else if run, _ := c.Longest(); g.Unfinished == "" {
			r.Longest, err = m.lines(g, run, nil)
			r.Steps = max(1, len(r.Longest)) - 1
			p.Verdict, p.Note = check.Holds, "from every state it converges within "+words.Plural(r.Steps, "step")
			return p, err
		}
	}
	if loop == nil {
		p.Verdict, p.Note = check.Unfinished, fmt.Sprintf("%s after %d states, with %d values", g.Unfinished, r.States, m.K)
		return p, nil
	}
	stem := g.PathTo(loop.From)
	p.Verdict, p.Loop = check.Violated, len(stem)
	p.Note = "it never converges: " + words.Plural(len(loop.Edges), "step") + " that can be repeated without end"
	p.Trace, err = m.lines(g, stem, loop.Edges)
	return p, err
}

// lines describes a run: where it begins, and each step.
func (r Ring) lines(g *explore.Graph, run []uint32, loop []uint64) ([]string, error) {
	lines := []string{}
	if len(run) == 0 {
		return lines, nil
	}
	_, states, _, err := g.Along(run, loop)
	for i, state := range states {
		what := "at the start"
		if i > 0 {
			_, err = g.Worker().Next(states[i-1], func(s explore.Step, next []byte) {
				if bytes.Equal(next, state) {
					what = moves(s.Label)
				}
			})
		}
		lines = append(lines, fmt.Sprintf("%s: flags %s", what, strings.Trim(fmt.Sprint(state), "[]")))
	}
	return lines, err
}

// moves says which processes move.
func moves(set uint32) string {
	var who []string
	for ; set != 0; set &= set - 1 {
		who = append(who, algorithm.ID(bits.TrailingZeros32(set)).String())
	}
	if len(who) == 1 {
		return who[0] + " moves"
	}
	return strings.Join(who, ", ") + " move"
}
