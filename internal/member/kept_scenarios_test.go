package member

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// A stage performs a scenario about transactions among members: each site is a member, and
// each lock is a name whose home is that member. Messages take as long as in the scenario.
type stage struct {
	*fleet
	sc      *scenario.Scenario
	names   []string // of the locks
	unit    Instant  // of time
	longest int64    // latency, in ticks
	now     Instant
	queue   []cue    // by time
	flight  []posted // in a scenario of steps: what has not arrived
	actors  []*actor
	waits   map[Ticket]*actor // by the member's rank in the upper bits
	dead    []bool            // by rank
	txs     uint64

	aborts, commits     []algorithm.ID
	abortsAt, commitsAt map[algorithm.ID][]Instant
	cycles              [][]algorithm.ID
}

// A cue is something that happens at a time.
type cue struct {
	at Instant
	do func()
}

// An actor is a process of the scenario.
type actor struct {
	id      algorithm.ID
	rank    int
	todo    []*script.Action
	act     *script.Action // its transaction; nil if it has none
	tx      uint64         // number of this attempt
	serial  uint64         // the member's number for it
	born    uint64
	held    []string // locks
	tokens  []Token
	aborted bool // this attempt
}

// newStage prepares a scenario. The members' timeouts are as long as the scenario's.
func newStage(t *testing.T, sc *scenario.Scenario) *stage {
	s := &stage{
		fleet: newFleet(t, keptPrefix+sc.Algorithm, sc.Sites), sc: sc, longest: max(1, sc.Latency.A),
		waits: map[Ticket]*actor{}, dead: make([]bool, sc.Sites), abortsAt: map[algorithm.ID][]Instant{}, commitsAt: map[algorithm.ID][]Instant{},
	}
	for _, l := range sc.Links {
		s.longest = max(s.longest, l.Latency.A)
	}
	s.unit = Instant(giveUp) / 17 * script.T / Instant(s.longest) // 15 at a site, and two messages
	if sc.Algorithm == deadlock.DetectCentral().Name {
		s.unit = Instant(DetectAfter) / 4 * script.T / Instant(s.longest)
	}
	for i, home := range sc.Locks {
		for k := 0; len(s.names) == i; k++ {
			if name := fmt.Sprintf("L%d-%d", i+1, k); s.view.Home(name) == int(home) {
				s.names = append(s.names, name)
			}
		}
	}
	for i, home := range sc.Homes {
		s.actors = append(s.actors, &actor{id: algorithm.ID(i), rank: int(home)})
	}
	s.events = s.heard
	for i := range sc.Actions {
		a := &sc.Actions[i]
		s.in(a.At, func() { s.perform(a) })
	}
	return s
}

// in has something happen after some ticks.
func (s *stage) in(ticks int64, do func()) {
	c := cue{s.now + Instant(ticks)*s.unit/script.T, do}
	i, _ := slices.BinarySearchFunc(s.queue, c.at, func(o cue, at Instant) int {
		if o.at <= at {
			return -1
		}
		return 1
	})
	s.queue = slices.Insert(s.queue, i, c)
}

// perform does a line of the scenario.
func (s *stage) perform(a *script.Action) {
	switch a.Kind {
	case script.Take:
		x := s.actors[a.Proc]
		x.todo = append(x.todo, a)
		s.start(x)
	case script.Proceed:
		if x := s.actors[a.Proc]; x.aborted {
			s.attempt(x)
		} else {
			s.request(x)
		}
	case script.Deliver:
		i := slices.IndexFunc(s.flight, func(l posted) bool { return l.from == uint64(a.Proc)+1 && l.to == uint64(a.Peer)+1 })
		if i < 0 {
			s.tb.Fatalf("line %d: no message is in flight there", a.Line)
		}
		s.arrives(i)
	case script.DeliverAll:
		for len(s.flight) > 0 {
			s.arrives(0)
		}
	case script.CrashSite:
		s.dead[a.Proc] = true
		s.in(10*s.longest, func() { // when its lease has expired
			var gone []uint64
			for rank, dead := range s.dead {
				if dead {
					gone = append(gone, s.members[rank].Inc)
				}
			}
			s.install(s.next(gone...))
			s.post()
		})
	default:
		s.tb.Fatalf("line %d: an action of kind %d", a.Line, a.Kind)
	}
}

// did collects what a member has to say.
func (s *stage) did(rank int) {
	s.take(rank)
	s.post()
}

// post sends what members have written.
func (s *stage) post() {
	mail, epoch := s.mail, s.view.Epoch
	s.mail = nil
	if s.sc.Steps {
		s.flight = append(s.flight, mail...)
		return
	}
	for _, l := range mail {
		latency := s.sc.Latency.A
		for _, x := range s.sc.Links {
			if uint64(x.From)+1 == l.from && uint64(x.To)+1 == l.to {
				latency = x.Latency.A
			}
		}
		if s.sc.Algorithm == deadlock.Timeout().Name {
			latency-- // so that no message arrives just when a wait ends
		}
		s.in(latency, func() {
			if to := int(l.to) - 1; !s.dead[to] && s.view.Epoch == epoch {
				s.members[to].now = max(s.members[to].now, s.now)
				s.deliver(l)
				s.post()
			}
		})
	}
}

// arrives delivers a message in a scenario of steps.
func (s *stage) arrives(i int) {
	l := s.flight[i]
	s.flight = slices.Delete(s.flight, i, i+1)
	s.deliver(l)
	s.post()
}

// start begins a transaction, if there is none.
func (s *stage) start(x *actor) {
	if x.act == nil && len(x.todo) > 0 {
		x.act, x.todo, x.born = x.todo[0], x.todo[1:], 0
		s.attempt(x)
	}
}

// attempt begins an attempt.
func (s *stage) attempt(x *actor) {
	s.txs++
	x.tx, x.held, x.tokens, x.aborted = s.txs, nil, nil, false
	s.request(x)
}

// request requests the next lock, or commits.
func (s *stage) request(x *actor) {
	if s.dead[x.rank] || x.aborted {
		return
	}
	if len(x.held) == len(x.act.Locks) {
		s.commits = append(s.commits, x.id)
		s.commitsAt[x.id] = append(s.commitsAt[x.id], s.now)
		x.act = nil
		s.release(x)
		s.start(x)
		return
	}
	locks := slices.Clone(x.act.Locks)
	if m, _ := findKept(s.sc.Algorithm); m.Sorted {
		slices.Sort(locks)
	}
	terms := Terms{Tx: x.tx, Born: x.born}
	n := locks[len(x.held)]
	if x.act.Modes != nil {
		terms.Mode = deadlock.Mode(x.act.Modes[len(x.held)])
	}
	if s.sc.Units != nil {
		terms.Units = s.sc.Units[n]
	}
	m := s.members[x.rank]
	t, err := m.Lock(s.now, s.names[n], Ask{Deadline: Never, Terms: terms})
	if err != nil {
		s.tb.Fatalf("%v requests L%d: %v", x.id, n+1, err)
	}
	if len(x.held) == 0 {
		x.serial = uint64(m.kept.serial)
	}
	x.held = append(x.held, s.names[n])
	s.waits[t|Ticket(x.rank)<<56] = x
	s.did(x.rank)
}

// release releases what an attempt holds.
func (s *stage) release(x *actor) {
	for i, t := range x.tokens {
		if err := s.members[x.rank].Unlock(s.now, x.held[i], t); err != nil {
			s.tb.Fatalf("%v releases %s: %v", x.id, x.held[i], err)
		}
	}
	s.did(x.rank)
}

// heard takes what a member reports to a process.
func (s *stage) heard(rank int, e Event) {
	x := s.waits[e.Ticket|Ticket(rank)<<56]
	switch {
	case s.dead[rank] || x.aborted:
	case e.Kind == Held:
		x.born = e.Born
		x.tokens = append(x.tokens, e.Token)
		hold := s.sc.Hold
		if x.act.Hold != nil {
			hold = *x.act.Hold
		}
		if s.sc.Steps {
			return
		}
		tx := x.tx
		s.in(hold.A, func() {
			if x.tx == tx {
				s.request(x)
			}
		})
	case e.Cause == Deadlock:
		x.aborted, x.born = true, e.Born
		s.aborts = append(s.aborts, x.id)
		s.abortsAt[x.id] = append(s.abortsAt[x.id], s.now)
		if e.Victim.How == InCycle {
			var cycle []algorithm.ID
			for _, w := range e.Victim.Cycle {
				i := slices.IndexFunc(s.actors, func(o *actor) bool { return uint64(o.rank)+1 == w.Inc && o.serial == w.Tx })
				cycle = append(cycle, s.actors[i].id)
			}
			s.cycles = append(s.cycles, cycle)
		}
		s.release(x)
		if s.sc.Steps {
			return
		}
		s.in(s.sc.Backoff.A, func() {
			if !s.dead[rank] {
				s.attempt(x)
			}
		})
	default:
		s.tb.Fatalf("%v hears %+v", x.id, e)
	}
}

// play performs the scenario until nothing more can happen.
func (s *stage) play() {
	for range 100_000 {
		next, rank := Never, 0
		for i, m := range s.members {
			if at := m.schedule.first(); at < next && !s.dead[i] {
				next, rank = at, i
			}
		}
		switch {
		case len(s.queue) > 0 && s.queue[0].at <= next:
			c := s.queue[0]
			s.queue = s.queue[1:]
			s.now = c.at
			c.do()
		case next < Never:
			s.now = max(s.now, next)
			s.members[rank].Wake(s.now)
			s.did(rank)
		default:
			return
		}
	}
	s.tb.Fatal("it goes on forever")
}

// stuck returns the processes whose transactions have not ended.
func (s *stage) stuck() (all []algorithm.ID) {
	for _, x := range s.actors {
		if x.act != nil && !s.dead[x.rank] {
			all = append(all, x.id)
		}
	}
	return all
}

// judge compares what has happened with what a scenario expects of its transactions. Of
// messages it expects those of the simulated sites; members send others.
func (s *stage) judge() error {
	var errs []error
	compare := func(what string, got, want []algorithm.ID) {
		if !slices.Equal(got, want) {
			errs = append(errs, fmt.Errorf("%s %v, want %v", what, got, want))
		}
	}
	at := func(x *script.Expectation, all map[algorithm.ID][]Instant) {
		want := Instant(x.At) * s.unit / script.T
		near := func(at Instant) bool { return max(at, want)-min(at, want) < s.unit/2 }
		if s.timely() && !slices.ContainsFunc(all[x.Proc], near) {
			errs = append(errs, fmt.Errorf("line %d: %v at %v, want %v", x.Line, x.Proc, all[x.Proc], want))
		}
	}
	for i := range s.sc.Expect {
		switch x := &s.sc.Expect[i]; x.Kind {
		case script.Aborts:
			compare("aborts", s.aborts, x.Procs)
		case script.Commits:
			compare("commits", s.commits, x.Procs)
		case script.Stuck:
			compare("stuck", s.stuck(), x.Procs)
		case script.AbortsAt:
			at(x, s.abortsAt)
		case script.CommitsAt:
			at(x, s.commitsAt)
		case script.Cycle:
			for _, c := range s.cycles {
				compare("cycle", c, x.Procs)
			}
		}
	}
	return errors.Join(errs...)
}

// timely reports whether members are as fast as the simulated sites. They detect deadlocks
// on demand, and count a timeout from the request, not from its arrival.
func (s *stage) timely() bool {
	return (s.sc.Mode == "" || s.sc.Mode == deadlock.OnDemand) && s.sc.Algorithm != deadlock.Timeout().Name
}

// needless lists the scenarios in which a simulated transaction aborts though there is no
// deadlock. Among members none does.
var needless = map[string]string{
	"detect-central-false-cycle-batch.stile":  "members collect graphs on demand, and ask whether all in a cycle still wait",
	"detect-central-false-cycle-change.stile": "the same",
	"detect-central-needless-rollback.stile":  "the same: a member that has crashed does not confirm",
	"detect-distributed-dead-site.stile":      "another member becomes the home of a lock whose home has crashed",
}

// The scenarios about transactions run among members too, and the same transactions abort,
// at the same times if members do not decide earlier or later.
func TestKeptScenarios(t *testing.T) {
	files, err := filepath.Glob("../../lab/scenarios/*.stile")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
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
		if sc.Sites == 0 {
			continue
		}
		name := filepath.Base(file)
		if _, err := findKept(sc.Algorithm); err != nil {
			continue // no kept lock has this method
		}
		played++
		t.Run(name, func(t *testing.T) {
			s := newStage(t, sc)
			s.play()
			why, differs := needless[name]
			switch err := s.judge(); {
			case !differs && err != nil:
				t.Error(err)
			case differs && (err == nil || len(s.aborts)+len(s.stuck()) > 0):
				t.Errorf("aborts %v, stuck %v, want none: %s", s.aborts, s.stuck(), why)
			}
		})
	}
	if played < 22 {
		t.Errorf("only %d scenarios", played)
	}
}
