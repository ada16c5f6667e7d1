package calls

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/compare"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// Limits of a comparison.
const (
	mostPlaces  = 64
	mostNodes   = 64
	mostEntries = 2000
	mostSpecs   = 64
)

type compareCall struct {
	Algorithms []string  `json:"algorithms"` // empty means all sound ones
	N          []int     `json:"n"`
	Rest       []float64 `json:"rest"` // in T
	Hold       []float64 `json:"hold"`
	Entries    int       `json:"entries"`
	Seed       uint64    `json:"seed"`
}

// A Cell is one algorithm at one place of the map.
type Cell struct {
	compare.RunReport
	Text string `json:"text"` // scenario that opens it in the lab
}

// A found is one cell of a comparison in progress: number At of all cells, and the
// Done-th to be measured.
type found struct {
	At    int  `json:"at"`
	Done  int  `json:"done"`
	Total int  `json:"total"`
	Cell  Cell `json:"cell"`
}

// compare measures algorithms over the number of processes, rest and hold. It reports
// every cell as soon as it is measured, and all of them at the end.
func (c *Calls) compare(ctx context.Context, body []byte, say func(v any) error) error {
	in := compareCall{Entries: 200, Seed: 1}
	if err := read(body, &in); err != nil {
		return err
	}
	conf := compare.Config{Nodes: in.N, Entries: in.Entries, Seed: in.Seed, Parallel: jobs.Parallel{Workers: c.Workers, Context: ctx}}
	if len(in.N) == 0 {
		conf.Nodes = []int{3, 6, 9}
	}
	for _, n := range conf.Nodes {
		if n < 1 || n > mostNodes {
			return fmt.Errorf("a comparison for %d processes: want 1 to %d", n, mostNodes)
		}
	}
	if in.Entries < 1 || in.Entries > mostEntries {
		return fmt.Errorf("%d entries per run: want 1 to %d", in.Entries, mostEntries)
	}
	var err error
	if conf.Think, err = dists(in.Rest, 0, 100); err != nil {
		return err
	}
	if conf.Hold, err = dists(in.Hold, 1); err != nil {
		return err
	}
	if n := len(conf.Nodes) * len(conf.Think) * len(conf.Hold); n > mostPlaces {
		return fmt.Errorf("%d points to compare: want at most %d", n, mostPlaces)
	}
	if len(in.Algorithms) > mostSpecs {
		return fmt.Errorf("%d algorithms to compare: want at most %d", len(in.Algorithms), mostSpecs)
	}
	if len(in.Algorithms) == 0 {
		conf.Specs = c.sound()
	}
	for _, name := range in.Algorithms {
		s, err := c.Spec(name, algorithm.Options{})
		if err != nil {
			return err
		}
		conf.Specs = append(conf.Specs, s)
	}
	stop, cancel := stoppable(ctx)
	defer cancel()
	conf.Context = stop
	t := &teller{conf: conf, say: say, cancel: cancel}
	if err := t.begin(); err != nil {
		return err
	}
	conf.Found = t.found
	m, err := compare.Run(conf)
	if err != nil {
		return err
	}
	return say(t.all(m.Report()))
}

// A teller reports the results of a comparison in progress.
type teller struct {
	conf   compare.Config
	say    func(v any) error
	cancel func()

	mu    sync.Mutex
	cells []Cell
	done  int
}

// begin announces the cells to come.
func (t *teller) begin() error {
	for _, p := range t.conf.Places() {
		for _, s := range t.conf.Specs {
			c := compare.Cell{Place: p, Spec: s, Stopped: true}
			t.cells = append(t.cells, Cell{RunReport: c.Report()})
		}
	}
	return t.say(t.all(compare.Report{Best: []compare.BestAt{}, Stopped: true}))
}

// found reports a cell, with the beginning of its run.
func (t *teller) found(i int, c *compare.Cell) {
	x := Cell{RunReport: c.Report()}
	if x.Measured != nil {
		x.Text = began(c, t.conf)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cells[i] = x
	t.done++
	if t.say(map[string]found{"found": {i, t.done, len(t.cells), x}}) != nil {
		t.cancel() // the listener is gone
	}
}

// all returns the whole map, as far as it is known.
func (t *teller) all(r compare.Report) any {
	return struct {
		Cells   []Cell           `json:"cells"`
		Best    []compare.BestAt `json:"best"`
		Stopped bool             `json:"stopped,omitempty"`
	}{t.cells, r.Best, r.Stopped}
}

// sound returns all locks that are neither wrong nor weaker than another one, starting
// with the user's own.
func (c *Calls) sound() []algorithm.Spec {
	all := slices.DeleteFunc(slices.Clone(c.own), func(s algorithm.Spec) bool { return s.Family != algorithm.MutualExclusion || !s.Sound() })
	for _, s := range catalog.Sound() {
		if named(c.own, s.Name) < 0 {
			all = append(all, s)
		}
	}
	return all
}

// dists converts times; usual are the defaults if there are none.
func dists(units []float64, usual ...float64) ([]scenario.Dist, error) {
	if len(units) == 0 {
		units = usual
	}
	var all []scenario.Dist
	for _, u := range units {
		if !(u >= 0 && u <= 1e6) {
			return nil, fmt.Errorf("a time of %g T: want 0 to 1000000", u)
		}
		all = append(all, scenario.Always(int64(math.Round(u*scenario.T))))
	}
	return all, nil
}

// shown is the number of entries of a measured run that a scenario shows.
const shown = 30

// began returns a scenario in which each process asks when it did during the first
// entries of a measured run.
func began(c *compare.Cell, m compare.Config) string {
	sc := scenario.Scenario{
		Title:     fmt.Sprintf("%s: the first entries of a run of %d", c.Spec.Title, m.Entries),
		Algorithm: c.Spec.Name, Processes: c.Nodes, Latency: scenario.Always(scenario.T), Hold: c.Hold, Seed: m.Seed,
	}
	left := make([]int64, c.Nodes) // time at which each left, plus 1 tick
	_, err := sim.Run(sim.Config{
		Spec: c.Spec, Nodes: c.Nodes, Entries: min(shown, m.Entries), Seed: m.Seed, Think: c.Think, Hold: c.Hold, Latency: sc.Latency,
		Observe: func(e trace.Event) {
			switch e.Kind {
			case trace.Exit:
				left[e.Proc] = e.At + 1
			case trace.Ask:
				at := e.At
				if left[e.Proc] == at+1 {
					// Lines of one time come before what is due then, such as the process
					// leaving. So it asks a little later, each time by more, because
					// everything before it may have been delayed as much by now.
					at += int64(len(sc.Actions)) * scenario.T / 10000
				}
				sc.Actions = append(sc.Actions, script.Action{At: at, Kind: script.Ask, Proc: e.Proc})
			}
		},
	})
	if err != nil {
		return ""
	}
	// If requests can be refused, a slightly later request may lead to a different run:
	// keep as much as replays.
	for c.Spec.TryLock && len(sc.Actions) > 1 {
		if _, err := sim.Replay(c.Spec, &sc, sim.ReplayOptions{}); err == nil {
			break
		}
		sc.Actions = sc.Actions[:len(sc.Actions)-1]
	}
	return scenario.Format(&sc)
}
