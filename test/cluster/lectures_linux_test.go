package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A theatre is a cluster on which the lectures' scenarios about transactions are performed:
// each site is a node, each process a client of its site's node, and each lock a name whose
// home is its site's node.
type theatre struct {
	*trial
	ctx    context.Context
	view   member.View
	nodeOf []int           // by rank
	clerks []*stile.Client // one of each node
	used   int             // numbers in names of locks
}

// newTheatre starts a cluster in which every method has a prefix.
func newTheatre(t *testing.T) *theatre {
	t.Helper()
	choices := []string{"naimi-trehel,sync/=kept:none"}
	for _, m := range member.KeptMethods() {
		choices = append(choices, fmt.Sprintf("%s/=%s", m.Name, member.Kept(m)))
	}
	s := &theatre{trial: newTrialWith(t, strings.Join(choices, ","), 5, 10*time.Second)}
	status, err := s.nodes[0].status()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range status.Members {
		s.view.Members = append(s.view.Members, member.Who{Inc: m.Incarnation})
		s.nodeOf = append(s.nodeOf, slices.IndexFunc(s.nodes, func(n *voter) bool { return n.name == m.Name }))
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s.ctx = ctx
	for i := range s.nodes {
		s.clerks = append(s.clerks, s.dial(t, i, fmt.Sprint("clerk ", i)))
	}
	return s
}

// dial returns a client of a node.
func (s *theatre) dial(t *testing.T, node int, name string) *stile.Client {
	t.Helper()
	c, err := stile.Dial(s.ctx, stile.DialConfig{Nodes: s.addresses(node), Name: name, Timeout: longest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// nameAt returns a new name whose home is a node.
func (s *theatre) nameAt(prefix string, node int) string {
	for {
		s.used++
		if name := fmt.Sprintf("%s/%04d", prefix, s.used); s.nodeOf[s.view.Home(name)] == node {
			return name
		}
	}
}

// sync waits until all other nodes have handled what a node has sent them, since links keep
// the order. The node's logical clock is then not behind theirs.
func (s *theatre) sync(t *testing.T, node int) {
	t.Helper()
	for i := range s.nodes {
		if i == node {
			continue
		}
		l, err := s.clerks[node].Lock(s.ctx, s.nameAt("sync", i))
		if err == nil {
			err = l.Unlock()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A player is a process of a scenario.
type player struct {
	name   string
	node   int
	client *stile.Client
	tx     *stile.Tx
	over   bool       // its transaction begins again with the next request
	local  bool       // it has requested a lock of its own site in this attempt
	wants  string     // the lock that it requested last
	answer chan error // to that request; nil if there is none
	later  func()     // what it does when its message arrives; nil if nothing
}

// does lets a process do something, at once or when its message arrives.
func (x *player) does(now bool, f func()) {
	x.arrives()
	if x.later = f; now {
		x.arrives()
	}
}

// arrives does what has waited for the arrival of a message.
func (x *player) arrives() {
	if f := x.later; f != nil {
		x.later = nil
		f()
	}
}

// A performance is a scenario on the theatre's cluster.
type performance struct {
	*theatre
	t       *testing.T
	names   []string // of the locks
	players []*player
	method  deadlock.Method
	aborted int // number of aborts
}

// perform prepares the performance of a scenario.
func (s *theatre) perform(t *testing.T, sc *scenario.Scenario) *performance {
	t.Helper()
	p := &performance{theatre: s, t: t}
	for _, m := range member.KeptMethods() {
		if m.Name == sc.Algorithm {
			p.method = m
		}
	}
	for _, home := range sc.Locks {
		p.names = append(p.names, s.nameAt(sc.Algorithm, int(home)))
	}
	for i, home := range sc.Homes {
		name := fmt.Sprint(t.Name(), " P", i+1)
		p.players = append(p.players, &player{name: name, node: int(home), client: s.dial(t, int(home), name)})
	}
	return p
}

// asks lets a process request a lock, and waits until it has an answer or its request waits
// at the home.
func (p *performance) asks(x *player, name string) {
	p.t.Helper()
	p.sync(p.t, x.node) // a transaction that begins later is younger
	var err error
	switch {
	case x.tx == nil:
		x.tx, err = x.client.Begin(p.ctx)
	case x.over:
		err = x.tx.Retry(p.ctx)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	tx, answer := x.tx, make(chan error, 1)
	x.over, x.wants, x.answer = false, name, answer
	go func() {
		_, err := tx.Lock(p.ctx, name)
		answer <- err
	}()
	p.until(x.name+" waits, or has an answer", func() error {
		if len(answer) > 0 {
			return nil
		}
		all, err := p.clerks[x.node].Locks(p.ctx, name)
		if err != nil {
			return err
		}
		for _, l := range all {
			for _, w := range l.Waiters {
				if strings.Contains(w.Name, fmt.Sprintf("%q", x.name)) {
					return nil
				}
			}
		}
		return fmt.Errorf("%+v", all)
	})
	p.sync(p.t, x.node)
}

// hears returns the answer to the request of a process, if it has one.
func (p *performance) hears(x *player) error {
	p.t.Helper()
	select {
	case err := <-x.answer:
		x.answer = nil
		return err
	case <-time.After(longest):
		p.t.Fatalf("%s waits for %s", x.name, x.wants)
		return nil
	}
}

// aborts waits until a process must abort, and returns why.
func (p *performance) aborts(x *player) (err error) {
	p.t.Helper()
	if x.answer != nil {
		err = p.hears(x)
	} else {
		select {
		case <-x.tx.Context().Done():
			err = context.Cause(x.tx.Context())
		case <-time.After(longest):
		}
	}
	if !errors.Is(err, stile.ErrDeadlock) {
		p.t.Fatalf("%s: %v, want it to abort", x.name, err)
	}
	return err
}

// follow lets the processes do what they do in the simulated run, in the order in which the
// sites of the locks learn of it there.
func (p *performance) follow(sc *scenario.Scenario, back *sim.Playback) {
	p.t.Helper()
	p.begin(back)
	for _, e := range back.Events {
		if i := int(e.Proc) - sc.Sites; i >= 0 {
			p.act(sc, back, i, &e)
		} else if e.Kind == trace.Receive && (e.Name == "REQUEST" || e.Name == "RELEASE") {
			of := slices.IndexFunc(e.Fields, func(f host.Field) bool { return f.Name == "tx" })
			tx, err := strconv.Atoi(e.Fields[of].Value)
			if err != nil {
				p.t.Fatal(err)
			}
			p.players[tx-1].arrives()
		}
	}
	for _, x := range p.players {
		x.arrives()
	}
}

// begin lets all transactions begin before the first request if deadlocks are detected: those
// that must abort in the simulated run last, because they are the youngest there by logical
// clocks. Each acquires a lock of its own, since its age is that of its first request.
func (p *performance) begin(back *sim.Playback) {
	p.t.Helper()
	if p.method.Family != deadlock.Detection {
		return
	}
	victim := func(i int) bool {
		return slices.ContainsFunc(back.Sites.Aborts, func(e sim.Ending) bool { return int(e.Proc) == i })
	}
	for _, young := range []bool{false, true} {
		for i, x := range p.players {
			if victim(i) == young {
				p.asks(x, p.nameAt(p.method.Name, x.node))
				if err := p.hears(x); err != nil {
					p.t.Fatal(err)
				}
			}
		}
	}
}

// act lets a process do what it does in an event of the simulated run.
func (p *performance) act(sc *scenario.Scenario, back *sim.Playback, i int, e *trace.Event) {
	p.t.Helper()
	x := p.players[i]
	switch e.Kind {
	case trace.Ask:
		var lock int
		if _, err := fmt.Sscanf(e.Name, "L%d", &lock); err != nil {
			p.t.Fatal(err)
		}
		here := int(sc.Locks[lock-1]) == x.node
		x.does(here, func() { p.asks(x, p.names[lock-1]) })
		x.local = x.local || here
	case trace.Enter:
		if err := p.hears(x); err != nil {
			p.t.Fatalf("%s requests %s: %v", x.name, x.wants, err)
		}
	case trace.Exit:
		x.does(x.local, func() {
			if err := x.tx.Commit(); err != nil {
				p.t.Fatalf("%s commits: %v", x.name, err)
			}
			p.sync(p.t, x.node)
			x.tx, x.local = nil, false
		})
	case trace.Deny:
		x.arrives()
		why := p.aborts(x)
		p.explains(back, why)
		p.aborted++
		x.does(x.local, func() {
			if err := x.tx.Abort(); err != nil {
				p.t.Fatal(err)
			}
			p.sync(p.t, x.node)
			x.over, x.local = true, false
		})
	}
}

// explains checks that the reason of an abort names the cycle of the simulated one.
func (p *performance) explains(back *sim.Playback, why error) {
	p.t.Helper()
	if p.aborted >= len(back.Sites.Aborts) {
		p.t.Fatalf("one abort too many: %v", why)
	}
	for _, i := range back.Sites.Aborts[p.aborted].Cycle {
		if x := p.players[i]; !strings.Contains(why.Error(), x.wants) {
			p.t.Errorf("%v: %s is in that cycle, and waits for %s", why, x.name, x.wants)
		}
	}
}

// ends checks that nothing else has happened: the processes that are stuck wait, and no
// other one has been aborted.
func (p *performance) ends(back *sim.Playback) {
	p.t.Helper()
	var stuck []algorithm.ID
	for i, x := range p.players {
		switch {
		case x.answer != nil && len(x.answer) == 0:
			stuck = append(stuck, algorithm.ID(i))
		case x.answer != nil:
			p.t.Errorf("%s: %v, in the simulated run it has no answer", x.name, <-x.answer)
		case x.tx != nil && errors.Is(context.Cause(x.tx.Context()), stile.ErrDeadlock):
			p.t.Errorf("%s must abort: %v", x.name, context.Cause(x.tx.Context()))
		}
	}
	if !slices.Equal(stuck, back.Sites.Stuck) {
		p.t.Errorf("stuck: %v, want %v", stuck, back.Sites.Stuck)
	}
}

// notLive says why a scenario cannot be performed; empty if it can.
func notLive(name string, sc *scenario.Scenario) string {
	switch {
	case sc.Algorithm == deadlock.Timeout().Name:
		return "it is about how long requests wait"
	case slices.ContainsFunc(sc.Actions, func(a script.Action) bool { return a.Kind == script.CrashSite }):
		return "a site dies between two messages"
	case strings.Contains(name, "false-cycle-batch"), strings.Contains(name, "false-cycle-change"):
		return "a transaction aborts needlessly, which none does in a cluster"
	case !slices.ContainsFunc(member.KeptMethods(), func(m deadlock.Method) bool { return m.Name == sc.Algorithm }):
		return "no kept lock has this method"
	}
	return ""
}

// TestLectures performs the lectures' scenarios about transactions on real processes: the
// same transactions wait, abort, commit and are stuck as in the simulated runs.
func TestLectures(t *testing.T) {
	nightly.Only(t)
	files, err := filepath.Glob("../../lab/scenarios/*.stile")
	if err != nil {
		t.Fatal(err)
	}
	s, performed := newTheatre(t), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if scenario.IsGraph(string(text)) {
			continue
		}
		sc, err := scenario.Parse(file, string(text))
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".stile")
		if sc.Sites == 0 || notLive(name, sc) != "" {
			continue
		}
		performed++
		t.Run(name, func(t *testing.T) {
			spec, err := sim.SiteSpec(sc)
			if err != nil {
				t.Fatal(err)
			}
			back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p := s.perform(t, sc)
			p.follow(sc, back)
			p.ends(back)
		})
	}
	if performed < 15 {
		t.Errorf("only %d scenarios", performed)
	}
}
