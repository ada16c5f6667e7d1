package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A player does what the lines of a scenario say, with machines that stay alive and plain
// lists of messages. It knows nothing of the model.
type player struct {
	t        *testing.T
	birth    algorithm.Birth
	n        int
	machines []algorithm.Machine // nil if dead
	links    map[[2]algorithm.ID][]string
}

func newPlayer(t *testing.T, c Config) *player {
	t.Helper()
	birth, err := c.Spec.Birth(c.Seats)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, birth: birth, n: c.Seats, links: map[[2]algorithm.ID][]string{}}
	view := algorithm.View{N: c.Seats}
	if c.Starts != nil {
		view = c.Starts[0]
	}
	for i := range algorithm.ID(c.Seats) {
		p.machines = append(p.machines, birth(i, view))
	}
	return p
}

func (p *player) step(at algorithm.ID, in host.Input) {
	if p.machines[at] == nil {
		return
	}
	var out host.Output
	if err := p.machines[at].Step(in, &out); err != nil {
		p.t.Fatal(err)
	}
	for i, s := range out.Sends {
		link := [2]algorithm.ID{at, s.To}
		p.links[link] = append(p.links[link], string(out.Bytes(i)))
	}
}

func (p *player) play(a script.Action) {
	link := [2]algorithm.ID{a.Proc, a.Peer}
	i := max(0, a.Nth-1)
	switch a.Kind {
	case script.Ask:
		p.step(a.Proc, host.Input{Kind: host.Request, From: algorithm.None})
	case script.Leave:
		p.step(a.Proc, host.Input{Kind: host.Release, From: algorithm.None})
	case script.Start:
		p.step(a.Proc, host.Input{Kind: host.Start, From: algorithm.None})
	case script.Deliver, script.Drop, script.Duplicate:
		list := p.links[link]
		if i >= len(list) {
			p.t.Fatalf("%v: there are %d messages", a, len(list))
		}
		message := list[i]
		if a.Kind == script.Duplicate {
			p.links[link] = slices.Insert(list, i, message)
			return
		}
		p.links[link] = slices.Delete(slices.Clone(list), i, i+1)
		if a.Kind == script.Deliver {
			p.step(a.Peer, host.Input{Kind: host.Receive, From: a.Proc, Bytes: []byte(message)})
		}
	case script.Expire:
		p.step(a.Proc, host.Input{Kind: host.Expire, From: algorithm.None, Timer: a.Timer})
	case script.Suspect:
		p.step(a.Proc, host.Input{Kind: host.Suspect, From: a.Peer})
	case script.Trust:
		p.step(a.Proc, host.Input{Kind: host.Trust, From: a.Peer})
	case script.Crash:
		p.machines[a.Proc] = nil
	case script.Restart:
		p.machines[a.Proc] = p.birth(a.Proc, algorithm.View{N: p.n, Late: true})
		for q := range algorithm.ID(p.n) {
			if q != a.Proc {
				p.step(q, host.Input{Kind: host.Trust, From: a.Proc})
			}
		}
		p.step(a.Proc, host.Input{Kind: host.Start, From: algorithm.None})
	default:
		p.t.Fatalf("%v: what is that?", a)
	}
}

// looks writes down the machines, and the messages to those that are alive.
func (p *player) looks(ordered bool) string {
	var all []string
	for i, m := range p.machines {
		if m == nil {
			all = append(all, "dead")
			continue
		}
		all = append(all, fmt.Sprintf("%q", m.AppendState(nil)))
		for from := range algorithm.ID(p.n) {
			list := slices.Clone(p.links[[2]algorithm.ID{from, algorithm.ID(i)}])
			if !ordered {
				slices.Sort(list)
			}
			all = append(all, fmt.Sprintf("%d %q", from, list))
		}
	}
	return fmt.Sprint(all)
}

// looksOf writes down the same of a state whose numbers are kept.
func looksOf(w *worker, packed []byte) string {
	g := newState(w.Seats, w.Env)
	w.unpack(packed, g)
	var all []string
	for i, s := range g.seats {
		if s.dead {
			all = append(all, "dead")
			continue
		}
		all = append(all, fmt.Sprintf("%q", w.info(s.blob).bytes))
		for from := range w.Seats {
			list := []string{}
			for _, l := range g.messages {
				if int(l.link) == from*w.Seats+i {
					list = append(list, string(w.info(l.blob).bytes))
				}
			}
			if !w.ordered() {
				slices.Sort(list)
			}
			all = append(all, fmt.Sprintf("%d %q", from, list))
		}
	}
	return fmt.Sprint(all)
}

// The lines of a scenario that a run is told in lead where its path leads, done by machines
// that know nothing of the model.
func TestRunsArePlayed(t *testing.T) {
	var all []Config
	for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered, algorithm.Duplicating, algorithm.Lossy} {
		for _, spec := range []algorithm.Spec{mutex.RicartAgrawala(), mutex.SuzukiKasami(), mutex.TokenRing()} {
			all = append(all, setup{Spec: spec, Nodes: 3, Requests: 2, Network: network}.config(t))
		}
	}
	counted := setup{Spec: mutex.RicartAgrawala(), Nodes: 3, Requests: 2}.config(t)
	counted.Losses = 2
	all = append(all, counted)
	for _, v := range []vote{
		{election.Bully(), 3, 2, 2, AnyPace}, {election.Bully(), 3, 2, 2, Quick}, {election.Bully(), 3, 2, 2, Slow},
		{election.Ring(), 3, 2, 1, AnyPace}, {election.ChangRoberts(false), 3, 2, 0, Slow}, {election.ChangRoberts(false), 3, 2, 2, Quick},
	} {
		for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
			c := v.config()
			c.Network, c.Wrong = network, v.comebacks == 1
			all = append(all, c)
		}
	}
	done := map[int]int{}
	r := rand.New(rand.NewPCG(9, 1))
	for _, c := range all {
		c.Form, c.Copies = Form{}, true
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		w := m.worker()
		for range 25 {
			var p Path
			if err := w.Init(func(s []byte) bool { p.States = [][]byte{slices.Clone(s)}; return false }); err != nil {
				t.Fatal(err)
			}
			for range 30 {
				n, label := 0, uint32(0)
				var next []byte
				if _, err := w.Next(p.States[len(p.States)-1], func(s explore.Step, b []byte) {
					if n++; r.IntN(n) == 0 {
						next, label = append(next[:0], b...), s.Label
					}
				}); err != nil {
					t.Fatal(err)
				}
				if next == nil {
					break
				}
				p.States, p.Labels = append(p.States, slices.Clone(next)), append(p.Labels, label)
				done[moveOf(label).kind]++
			}
			steps, loop, err := m.Run(p)
			if err != nil || len(steps) != len(p.Labels) || loop != len(steps) {
				t.Fatalf("%s: %d steps, loop %d, %v; want %d", c.Spec.Name, len(steps), loop, err, len(p.Labels))
			}
			play := newPlayer(t, c)
			for i, s := range steps {
				for _, a := range s.Actions {
					play.play(a)
				}
				if got, want := play.looks(m.ordered()), looksOf(w, p.States[i+1]); got != want {
					t.Fatalf("%s, %v, pace %d: after step %d, %v of %v:\n%s\nwant\n%s", c.Spec.Name, c.Network, c.Pace, i, s.Actions, moveOf(p.Labels[i]), got, want)
				}
			}
		}
	}
	for _, kind := range []int{doAct, doDeliver, doDrop, doKeep, doExpire, doSuspect, doTrust, doCrash, doReturn, doTick} {
		if done[kind] < 20 {
			t.Errorf("steps of kind %d were taken %d times: too few to tell", kind, done[kind])
		}
	}
}

// A table says what machines do: each of its steps is what a new machine in that state does.
func TestTabulate(t *testing.T) {
	for _, c := range []struct {
		spec algorithm.Spec
		n    int
	}{{mutex.Central(0), 3}, {mutex.SuzukiKasami(), 2}, {mutex.TokenRing(), 3}} {
		config := setup{Spec: c.spec, Nodes: c.n, Requests: 1}.config(t)
		config.Form = Form{}
		config.Starts = []algorithm.View{{N: c.n}, {N: c.n, Holder: 1, Busy: true}}
		table, e, err := Tabulate(config, explore.Limits{Workers: 2})
		if err != nil || e.States == 0 {
			t.Fatal(err)
		}
		birth, err := c.spec.Birth(c.n)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[host.InputKind]int{}
		last := ""
		for _, s := range table.Steps {
			in := host.Input{Kind: s.Kind, From: s.From}
			if s.Kind == host.Receive {
				in.Bytes = table.Messages[s.Message]
			}
			var out host.Output
			m := birth(s.Seat, algorithm.View{N: c.n})
			if err := m.LoadState(table.States[s.Seat][s.State]); err != nil {
				t.Fatal(err)
			}
			if err := m.Step(in, &out); err != nil {
				t.Fatal(err)
			}
			var sends []TableSend
			for i, x := range out.Sends {
				sends = append(sends, TableSend{x.To, slices.IndexFunc(table.Messages, func(b []byte) bool { return string(b) == string(out.Bytes(i)) })})
			}
			if string(m.AppendState(nil)) != string(table.States[s.Seat][s.Next]) || out.Entered != s.Entered || s.Denied || !slices.Equal(sends, s.Sends) {
				t.Errorf("%s: %+v: the machine sends %v, entered %v", c.spec.Name, s, sends, out.Entered)
			}
			kinds[s.Kind]++
			if key := fmt.Sprintf("%2d %4d %2d %2d %4d", s.Seat, s.State, s.Kind, s.From+1, s.Message); key <= last {
				t.Errorf("%s: %s comes after %s", c.spec.Name, key, last)
			} else {
				last = key
			}
		}
		if kinds[host.Request] == 0 || kinds[host.Release] == 0 || kinds[host.Receive] == 0 {
			t.Errorf("%s: steps %v", c.spec.Name, kinds)
		}
		for seat := range table.States {
			if !slices.IsSortedFunc(table.States[seat], slices.Compare[[]byte]) {
				t.Errorf("%s: states of %d are not sorted", c.spec.Name, seat)
			}
		}
		if len(table.Starts) != 2 || table.Starts[0].Inside != nil || !slices.Equal(table.Starts[1].Inside, []algorithm.ID{1}) {
			t.Errorf("%s: starts %+v", c.spec.Name, table.Starts)
		}
		for i, s := range table.Starts {
			for seat, state := range s.States {
				if want := birth(algorithm.ID(seat), config.Starts[i]).AppendState(nil); string(table.States[seat][state]) != string(want) {
					t.Errorf("%s: start %d of seat %d is %q, want %q", c.spec.Name, i, seat, table.States[seat][state], want)
				}
			}
			if ring := c.spec.Name == mutex.TokenRing().Name; (s.Starting != nil) != (ring && i == 0) {
				t.Errorf("%s: start %d: %v start", c.spec.Name, i, s.Starting)
			}
		}
	}
	for name, change := range map[string]func(c *Config){
		"renumbering": func(c *Config) { c.Form.Times = Shifted }, "tags": func(c *Config) { c.Tagged = true }, "sites": func(c *Config) { c.Sites = true },
		"upset": func(c *Config) { c.Upset = true }, "time": func(c *Config) { c.Clock = Units }, "crashes": func(c *Config) { c.Crashes = 1 },
		"losses": func(c *Config) { c.Losses = 1 }, "errors": func(c *Config) { c.Wrong = true }, "nobody": func(c *Config) { c.Waiters = nil },
	} {
		c := setup{Spec: mutex.Central(0), Nodes: 2, Requests: 1}.config(t)
		c.Form = Form{}
		if change(&c); name == "" {
			continue
		}
		if _, _, err := Tabulate(c, explore.Limits{}); err == nil {
			t.Errorf("%s: there is a table", name)
		}
	}
	c := setup{Spec: mutex.Central(0), Nodes: 2, Requests: 1}.config(t)
	c.Form = Form{}
	if table, e, err := Tabulate(c, explore.Limits{Memory: 1}); table != nil || err != nil || e.Unfinished == "" {
		t.Errorf("without memory: %v, %+v, %v", table, e, err)
	}
}
