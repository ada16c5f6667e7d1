package check

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/explore"
	"github.com/stile-lock/stile/internal/world/ring"
)

// A RingConfig says which of Dijkstra's rings to check: one in which neighbours read each
// other's flags.
type RingConfig struct {
	Nodes  int
	Values int        // number of values of a flag, the paper's K; 0 means as few as are enough
	Mover  ring.Mover // which processes move in one step; must be a Mover that reads flags
	Limits
}

// A RingReport is the result of a check of a ring: a Report whose only property is
// Convergence, and how long it takes at most until the ring is right.
type RingReport struct {
	Report
	Mover   string   `json:"movers"`
	Values  int      `json:"k"`
	Steps   int      `json:"worst_steps"` // steps until the ring is right, from the worst state
	Longest []string `json:"longest_run"` // a run with that many steps
}

// RunRing checks whether a ring converges from every state.
func RunRing(c RingConfig) (*RingReport, error) {
	if c.Mover > ring.AllMove {
		return nil, fmt.Errorf("cannot check a ring with %v: want one whose flags are read", c.Mover)
	}
	started := time.Now()
	r := &RingReport{Mover: c.Mover.String(), Longest: []string{}, Report: Report{
		Algorithm: "dijkstra", Nodes: c.Nodes, Requests: NoRequests, Network: "shared flags",
	}}
	c.Pass = Convergence
	count := func(states int64) { r.Collision = min(1, r.Collision+explore.Collision(states)) }
	var result *ring.Result
	var err error
	if c.Values == 0 {
		result, err = ring.Fewest(c.Nodes, c.Mover, c.Limits, count)
	} else if result, err = (ring.Ring{N: c.Nodes, K: c.Values, Mover: c.Mover}).Check(c.Limits); err == nil {
		count(result.States)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot check dijkstra: %w", err)
	}
	p := ringProperty(result)
	if result.Converges {
		r.Steps, r.Longest = result.Steps(), ringLines(result)
		if fewer := result.K - 1; c.Values == 0 && fewer > 1 {
			p.Note += fmt.Sprintf("; %d values are the fewest, since with %d it may never", result.K, fewer)
		} else if c.Values == 0 {
			p.Note += "; 2 values are the fewest that a flag can have"
		}
	}
	r.Values, r.States, r.Transitions, r.Depth = result.K, result.States, result.Transitions, result.Levels
	r.Properties = []Property{p}
	r.Verdict = p.Verdict
	r.Seconds = time.Since(started).Seconds()
	r.Rate = float64(r.States) / r.Seconds
	return r, nil
}

// ringProperty returns the verdict on a ring.
func ringProperty(r *ring.Result) Property {
	p := Property{Name: Convergence, Trace: []string{}}
	switch {
	case r.Converges:
		p.Verdict, p.Note = Holds, "from every state it is right after at most "+words.Plural(r.Steps(), "step")
	case r.Unfinished != "":
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("%s after %d states, with %d values", r.Unfinished, r.States, r.K)
	default:
		p.Verdict, p.Trace, p.Loop = Violated, ringLines(r), r.Loop+1
		p.Note = "it never comes right: " + words.Plural(r.Steps()-r.Loop, "step") + " that can be repeated without end"
	}
	return p
}

// ringLines describes a run: where it begins, and each step.
func ringLines(r *ring.Result) []string {
	lines := []string{}
	for _, m := range r.Run {
		var who []string
		for set := m.Who; set != 0; set &= set - 1 {
			who = append(who, algorithm.ID(bits.TrailingZeros32(set)).String())
		}
		what := "at the start"
		switch len(who) {
		case 0:
		case 1:
			what = who[0] + " moves"
		default:
			what = strings.Join(who, ", ") + " move"
		}
		lines = append(lines, fmt.Sprintf("%s: flags %s", what, strings.Trim(fmt.Sprint(m.Flags), "[]")))
	}
	return lines
}
