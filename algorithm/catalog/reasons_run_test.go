package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// unfired lists the rules that follow only from messages that no correct process sends, or
// that the runs of these tests do not bring about, by algorithm and ID.
func unfired() map[string]string {
	return map[string]string{
		"deadlock 6b":           "a death is reported after everything that the site sent has arrived",
		"banker 1b":             "the banker is a live site",
		"wait-die-restamped 5c": "not brought about here",
		"central+bully V6a":     "what the coordinator sends is behind its VIEW",
		"* void":                "no correct process sends such a message",
		"sanders 5":             "by default only a process itself has its vote",
		"sanders 6e":            "likewise",
		"maekawa-naive 5":       "no process enters without all votes",
	}
}

// TestReasonsOfLocks runs every lock, and compares the reason that it gives for every
// decision with what it does.
func TestReasonsOfLocks(t *testing.T) {
	for _, spec := range All() {
		t.Run(spec.Name, func(t *testing.T) {
			fired := make(map[int]bool)
			for seed := range uint64(42) {
				n := 1 + int(seed%7)
				if spec.Accepts(n) != nil {
					continue
				}
				b, err := newBench(spec, n, 1+seed*7919, fired)
				if err == nil {
					err = b.lock(400, 1+4*int(seed%5))
				}
				judged(t, b, err)
			}
			covered(t, spec, fired)
		})
	}
}

// TestReasonsOfElections does the same for elections, whose processes crash and return.
func TestReasonsOfElections(t *testing.T) {
	for _, spec := range Elections() {
		t.Run(spec.Name, func(t *testing.T) {
			fired := make(map[int]bool)
			for seed := range uint64(60) {
				b, err := newBench(spec, 1+int(seed%6), 1+seed*7919, fired)
				if err == nil {
					err = b.elect(300)
				}
				judged(t, b, err)
			}
			covered(t, spec, fired)
		})
	}
}

// TestReasonsOfRecovery does the same for locks that survive crashes, whose processes
// crash and return, and messages are lost.
func TestReasonsOfRecovery(t *testing.T) {
	for _, name := range []string{"central+bully", "ricart-agrawala+ring-election", "raymond+chang-roberts", "token-ring+hasty"} {
		t.Run(name, func(t *testing.T) {
			var views algorithm.Spec
			fired := make(map[int]bool)
			for seed := range uint64(60) {
				n, o := 2+int(seed%4), algorithm.Options{}
				if o.Patience = 0; seed%2 == 0 {
					o.Patience = Patience(name, n)
				}
				spec, err := Make(name, o)
				if err != nil {
					t.Fatal(err)
				}
				if o.Patience > 0 || views.Name == "" {
					views = spec
				}
				b, err := newBench(spec, n, 1+seed*7919, fired)
				if err == nil {
					err = b.recover(300)
				}
				judged(t, b, err)
			}
			for i, r := range views.Rules {
				if !strings.HasPrefix(r.ID, "V") && !strings.HasPrefix(r.ID, "H") {
					fired[i] = true // other tests look for the rules of locks and elections
				}
			}
			covered(t, views, fired)
		})
	}
}

// judged reports what is wrong with a run.
func judged(t *testing.T, b *bench, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(b.faults) > 0 {
		t.Fatalf("%d faults, the first: %s", len(b.faults), b.faults[0])
	}
}

// covered reports the rules that no run has followed.
func covered(t *testing.T, spec algorithm.Spec, fired map[int]bool) {
	t.Helper()
	for i, r := range spec.Rules {
		known := unfired()
		why := known[spec.Name+" "+r.ID] + known[spec.Family.String()+" "+r.ID] + known["* "+r.ID]
		if r.ID != "" && !fired[i] && why == "" {
			t.Errorf("no run follows rule %s: %s", r.ID, r.Text)
		}
	}
	if len(spec.Rules) == 0 {
		t.Errorf("%s has no rules", spec.Name)
	}
}

// elect runs an election whose processes crash and return at random.
func (b *bench) elect(steps int) error {
	for range steps {
		self := algorithm.ID(b.dice.below(len(b.ms)))
		var err error
		switch roll := b.dice.below(20); {
		case roll < 10 && len(b.flight) > 0:
			l := b.next()
			err = b.step(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
		case roll < 13 && len(b.timers) > 0:
			a := b.timers[b.dice.below(len(b.timers))]
			b.timers = slices.DeleteFunc(b.timers, func(o alarm) bool { return o == a })
			err = b.step(a.at, host.Input{Kind: host.Expire, Timer: a.timer})
		case b.dead.Has(self) && roll > 17:
			err = b.returns(self)
		case b.dead.Has(self):
		case roll == 19 && b.dead.Len() < len(b.ms)-1:
			err = b.crash(self)
		case roll > 16:
			err = b.step(self, host.Input{Kind: host.Request})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// crash ends a process, and notifies the others.
func (b *bench) crash(self algorithm.ID) error {
	b.dead.Add(self)
	b.flight = slices.DeleteFunc(b.flight, func(l letter) bool { return l.to == self })
	b.timers = slices.DeleteFunc(b.timers, func(a alarm) bool { return a.at == self })
	return b.others(self, host.Suspect)
}

// returns replaces a dead process by one that remembers nothing, and notifies the others.
func (b *bench) returns(self algorithm.ID) error {
	b.dead.Remove(self)
	v := algorithm.View{N: len(b.ms), Late: true}
	var err error
	if b.ms[self], err = b.spec.New(self, v); err != nil {
		return err
	}
	if b.twins[self], err = b.spec.New(self, v); err != nil {
		return err
	}
	for dead := range b.dead.All() {
		if err := b.step(self, host.Input{Kind: host.Suspect, From: dead}); err != nil {
			return err
		}
	}
	if err := b.others(self, host.Trust); err != nil {
		return err
	}
	return b.step(self, host.Input{Kind: host.Start})
}

// others notifies the other live processes of one.
func (b *bench) others(of algorithm.ID, kind host.InputKind) error {
	for id := range algorithm.ID(len(b.ms)) {
		if id == of || b.dead.Has(id) {
			continue
		}
		if err := b.step(id, host.Input{Kind: kind, From: of}); err != nil {
			return err
		}
	}
	return nil
}

// recover runs a lock that survives crashes.
func (b *bench) recover(steps int) error {
	for range steps {
		self := algorithm.ID(b.dice.below(len(b.ms)))
		var err error
		switch roll := b.dice.below(60); {
		case roll < 38 && len(b.flight) > 0:
			l := b.next()
			err = b.step(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
		case roll < 42 && len(b.timers) > 0:
			a := b.timers[b.dice.below(len(b.timers))]
			b.timers = slices.DeleteFunc(b.timers, func(o alarm) bool { return o == a })
			err = b.step(a.at, host.Input{Kind: host.Expire, Timer: a.timer})
		case b.dead.Has(self) && roll > 55:
			err = b.returns(self)
		case b.dead.Has(self):
		case roll == 59 && b.dead.Len() < len(b.ms)-1:
			b.phases[self] = idle
			err = b.crash(self)
		case b.phases[self] == idle:
			b.phases[self] = waiting
			err = b.step(self, host.Input{Kind: host.Request})
		case b.phases[self] == inside:
			b.phases[self] = idle
			err = b.step(self, host.Input{Kind: host.Release})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lock runs a lock with applications that request and release at random, more seldom the
// larger rest is.
func (b *bench) lock(steps, rest int) error {
	for self := range b.ms {
		if err := b.step(algorithm.ID(self), host.Input{Kind: host.Start}); err != nil {
			return err
		}
	}
	for range steps {
		self := algorithm.ID(b.dice.below(len(b.ms)))
		var err error
		switch roll := b.dice.below(10); {
		case roll < 6 && len(b.flight) > 0:
			l := b.next()
			err = b.step(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
		case roll == 9 && b.spec.Upset != nil:
			err = b.step(self, host.Input{Kind: host.Expire})
		case b.phases[self] == idle && b.dice.below(rest) > 0:
		case b.phases[self] == idle:
			b.phases[self] = waiting
			err = b.step(self, host.Input{Kind: host.Request})
		case b.phases[self] == inside:
			b.phases[self] = idle
			err = b.step(self, host.Input{Kind: host.Release})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
