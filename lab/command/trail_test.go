//go:build linux || darwin

package command

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/trail"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A followedCluster is a cluster of which one lock is followed at all nodes.
type followedCluster struct {
	*recordedCluster
	lock  string
	tails map[string]*trail.Tail
	logs  map[string]*trail.Log
	state map[string][]byte // of the lock's machine at each node, as it was when last followed anew
}

func newFollowedCluster(t *testing.T, algorithm string, names ...string) *followedCluster {
	c := &followedCluster{newRecordedCluster(t, algorithm, catalog.MakeLive, names...), "x", map[string]*trail.Tail{}, map[string]*trail.Log{}, map[string][]byte{}}
	for _, n := range c.nodes {
		c.tails[n.name], c.logs[n.name] = &trail.Tail{}, &trail.Log{}
	}
	c.marks = func(n *recordedNode, k *member.Mark) {
		c.tails[n.name].Add(k)
		if k.Kind == member.MarkBegan {
			c.state[n.name] = k.State
		}
	}
	return c
}

// follow has a node follow the lock for some milliseconds.
func (c *followedCluster) follow(n *recordedNode, ms int) {
	n.step(process.Input{Kind: process.Trail, Text: c.lock, Late: c.now + member.Instant(ms)*simulatedMS})
}

// skew is how wrong a reader is about the clock of a node: by more than messages take.
func skew(n *recordedNode) member.Instant {
	return member.Instant(n.name[0]-'c') * 4 * simulatedMS
}

// read reads the marks of all nodes.
func (c *followedCluster) read() {
	c.t.Helper()
	for _, n := range c.nodes {
		for more := true; more; {
			l := c.logs[n.name]
			p := c.tails[n.name].Read(l.Next)
			p.Node, p.Now, more = n.name, c.now, p.More
			if _, err := l.Take(&p, c.now+skew(n)); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// merge merges the logs.
func (c *followedCluster) merge(o trail.Options) (*trail.Scenario, error) {
	c.t.Helper()
	var logs []trail.Log
	for _, n := range c.nodes {
		logs = append(logs, *c.logs[n.name])
	}
	return mergeLogs(logs, o)
}

// mergeLogs merges logs of the algorithm that they are about.
func mergeLogs(logs []trail.Log, o trail.Options) (*trail.Scenario, error) {
	for _, l := range logs {
		if l.Base == nil {
			return nil, trail.ErrNone
		}
	}
	spec, err := catalog.MakeLive(logs[0].Base.View.Algorithm, logs[0].Base.View.Version)
	if err != nil {
		return nil, err
	}
	return trail.Merge(spec, logs, o)
}

// replayTrail runs a scenario in the simulator and in the lab, and returns how it differs
// from what was recorded.
func replayTrail(t *testing.T, s *trail.Scenario) error {
	t.Helper()
	sc, err := scenario.Parse("trail.stile", s.Text)
	if err != nil {
		return err
	}
	again, err := scenario.Parse("trail.stile", scenario.Format(sc))
	if err != nil {
		return fmt.Errorf("what is written of it: %w", err)
	}
	for _, x := range []*scenario.Scenario{sc, again} {
		x.Said = nil
		for i := range x.Begin {
			x.Begin[i].Line = 0
		}
		for i := range x.Set {
			x.Set[i].Line = 0
		}
	}
	if !reflect.DeepEqual(sc.Begin, again.Begin) || !reflect.DeepEqual(sc.Set, again.Set) || len(sc.Actions) != len(again.Actions) || len(sc.Actions) != s.Steps {
		return errors.New("written and read again, it is another scenario")
	}
	spec, err := catalog.Make(sc.Algorithm, algorithm.Options{})
	if err != nil {
		return err
	}
	for _, paged := range []bool{false, true} {
		back, err := sim.Replay(spec, sc, sim.ReplayOptions{Paged: paged})
		if err != nil {
			return err
		}
		if len(back.Differences)+len(back.Violations) > 0 {
			return fmt.Errorf("differences %v, violations %v", back.Differences, back.Violations)
		}
		for seat, state := range back.Saved {
			if !bytes.Equal(state, s.States[seat]) {
				return fmt.Errorf("P%d ends in state %x, and not %x", seat+1, state, s.States[seat])
			}
		}
	}
	d := document.Run(s.Text, document.Options{})
	if d.Error != nil {
		return d.Error
	}
	for _, x := range d.Expects {
		if !x.OK {
			return fmt.Errorf("the lab: %+v", x)
		}
	}
	return nil
}

// request has every node request the lock some times.
func (c *followedCluster) request(times int) {
	for _, n := range c.nodes {
		for range times {
			if n.Phase() == process.Member {
				n.step(process.Input{Kind: process.Lock, Text: c.lock})
				n.waiting = append(n.waiting, n.Out.Ticket)
			}
		}
	}
}

// pass lets some milliseconds pass, in which holders release the lock now and then.
func (c *followedCluster) pass(ms int, draw *rand.Rand) {
	for range ms {
		for _, n := range c.nodes {
			if draw.IntN(3) == 0 {
				n.unlock([]string{c.lock})
			}
		}
		c.run(1)
	}
}

// What happens to a contended lock of every live algorithm, followed from different moments
// at different nodes, is replayed to the states of the live machines, in each view: from
// where all logs begin to any moment at which they end.
func TestTrailReplays(t *testing.T) {
	t.Parallel()
	for _, spec := range catalog.Live() {
		for _, names := range []string{"abc", "abcde"} {
			t.Run(fmt.Sprint(spec.Name, len(names)), func(t *testing.T) {
				t.Parallel()
				for seed := range *seeds {
					followedRun(t, spec.Name, strings.Split(names, ""), uint64(seed))
				}
			})
		}
	}
}

// followedRun follows a lock in a cluster for some rounds.
func followedRun(t *testing.T, algorithm string, names []string, seed uint64) {
	t.Helper()
	draw := rand.New(rand.NewPCG(seed, uint64(len(names))))
	c := newFollowedCluster(t, algorithm, names...)
	lossy := true
	c.lose = func(string, string) bool { return lossy && draw.IntN(25) == 0 }
	steps, parts, inFlight := 0, 0, 0
	shown := func(o trail.Options) *trail.Scenario {
		c.read()
		s, err := c.merge(o)
		if errors.Is(err, trail.ErrNone) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := replayTrail(t, s); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, s.Text)
		}
		steps, parts = steps+s.Steps, parts+1
		for line := range strings.Lines(s.Text) {
			if strings.HasPrefix(line, "begin ") && strings.Contains(line, " -> ") {
				inFlight++
			}
		}
		return s
	}
	for round := range 6 {
		if c.request(1 + draw.IntN(3)); round == 3 {
			c.nodes[0].step(process.Input{Kind: process.Refresh})
		}
		c.pass(draw.IntN(20), draw)
		for _, i := range draw.Perm(len(c.nodes)) {
			c.follow(c.nodes[i], 3000)
			c.pass(draw.IntN(4), draw)
		}
		if round == 4 {
			c.nodes[0].step(process.Input{Kind: process.Refresh}) // the trails begin anew
		}
		for range 3 {
			c.request(1)
			c.pass(draw.IntN(20), draw)
			shown([]trail.Options{{Name: c.lock}, {Name: c.lock, Last: 10}, {Name: c.lock, First: 10}}[draw.IntN(3)])
		}
		lossy = false
		c.pass(1500, draw) // until no request is left
		lossy = true
		s := shown(trail.Options{Name: c.lock})
		if s == nil || s.Left > 0 {
			t.Fatalf("seed %d, round %d: not all is shown of a lock that no process uses any longer: %+v", seed, round, s)
		}
		c.compare(s)
	}
	if t.Logf("%d steps in %d runs, with %d messages in flight at the beginning", steps, parts, inFlight); steps < 100 || parts < 10 {
		t.Errorf("seed %d: only %d steps, in %d runs", seed, steps, parts)
	}
}

// A trail from which something is missing, or in which something is changed, is not taken for
// what happened: Merge refuses it, or what follows is left out.
func TestTrailPlanted(t *testing.T) {
	t.Parallel()
	c := newFollowedCluster(t, "lamport")
	draw := rand.New(rand.NewPCG(1, 1))
	c.request(3)
	c.pass(7, draw)
	for _, n := range c.nodes {
		c.follow(n, 3000)
		c.pass(2, draw)
	}
	c.request(3)
	c.pass(1000, draw)
	c.read()
	logs := func() []trail.Log {
		var all []trail.Log
		for _, n := range c.nodes {
			l := *c.logs[n.name]
			l.Marks = slices.Clone(l.Marks)
			all = append(all, l)
		}
		return all
	}
	whole, err := mergeLogs(logs(), trail.Options{})
	if err != nil || whole.Left > 0 || whole.Steps < 50 {
		t.Fatalf("%v: %+v", err, whole)
	}
	steps := func(l *trail.Log) []int { // those behind the cut
		var all []int
		for i, k := range l.Marks {
			if k.Kind == member.MarkStep {
				all = append(all, i)
			}
		}
		return all[len(all)/2:]
	}
	for _, plant := range []struct {
		name string
		do   func(l *trail.Log, at []int)
	}{
		{"a step is dropped", func(l *trail.Log, at []int) {
			i := at[draw.IntN(len(at))]
			l.Marks = slices.Delete(l.Marks, i, i+1)
		}},
		{"two steps are swapped", func(l *trail.Log, at []int) {
			i := draw.IntN(len(at) - 1)
			l.Marks[at[i]], l.Marks[at[i+1]] = l.Marks[at[i+1]], l.Marks[at[i]]
		}},
		{"the log begins with a later state", func(l *trail.Log, at []int) {
			base := *l.Base
			base.State = l.Marks[at[draw.IntN(len(at))]].State
			l.Base = &base
		}},
		{"the cut is where a message has not arrived", func(l *trail.Log, at []int) {
			base, view := *l.Base, *l.Base.View
			view.Came = slices.Clone(view.Came)
			for from := range view.Came {
				view.Came[from] += uint64(1 + draw.IntN(5))
			}
			base.View = &view
			l.Base = &base
		}},
		{"a message is another", func(l *trail.Log, at []int) {
			i := at[draw.IntN(len(at))]
			k := *l.Marks[i]
			if len(k.Message) == 0 {
				k.Entered = !k.Entered
			} else {
				k.Message = slices.Clone(k.Message)
				k.Message[len(k.Message)-1]++
			}
			l.Marks[i] = &k
		}},
	} {
		found := 0
		for range 50 {
			all := logs()
			l := &all[2] // the last one to begin, so that the cut is there
			plant.do(l, steps(l))
			s, err := mergeLogs(all, trail.Options{})
			if err != nil || s.Left > 0 || s.Steps != whole.Steps || !reflect.DeepEqual(s.States, whole.States) {
				found++
			}
		}
		if found < 50 {
			t.Errorf("%s: it is taken for what happened, %d times of 50", plant.name, 50-found)
		}
	}
}

// compare compares the end of a run with the states of the live machines.
func (c *followedCluster) compare(s *trail.Scenario) {
	c.t.Helper()
	c.run(3000)
	for _, n := range c.nodes {
		c.follow(n, 0) // anew
	}
	for seat, name := range s.Seats {
		if !bytes.Equal(c.state[name], s.States[seat]) {
			c.t.Errorf("%s: the live machine is in state %x, and the run ends in %x", name, c.state[name], s.States[seat])
		}
	}
}
