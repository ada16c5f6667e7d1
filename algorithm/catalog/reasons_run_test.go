package catalog

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// unfired lists the rules that follow only from messages that no correct process sends, or
// that the runs of these tests do not bring about, by algorithm and ID.
func unfired() map[string]string {
	return map[string]string{
		"* void":          "no correct process sends such a message",
		"sanders 5":       "by default only a process itself has its vote",
		"sanders 6e":      "likewise",
		"maekawa-naive 5": "no process enters without all votes",
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
					err = b.lock(400, 1+int(seed%5))
				}
				judged(t, b, err)
			}
			covered(t, spec, fired)
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
		why := unfired()[spec.Name+" "+r.ID]
		if why == "" {
			why = unfired()["* "+r.ID]
		}
		switch {
		case r.ID == "":
		case !fired[i] && why == "":
			t.Errorf("no run follows rule %s: %s", r.ID, r.Text)
		}
	}
	if len(spec.Rules) == 0 {
		t.Errorf("%s has no rules", spec.Name)
	}
}

// lock runs a lock with applications that request and release at random, more seldom the
// larger rest is.
func (b *bench) lock(steps, rest int) error {
	phases := make([]phase, len(b.ms))
	act := func(self algorithm.ID, in host.Input) error {
		if err := b.step(self, in); err != nil {
			return err
		}
		if b.out.Entered {
			phases[self] = inside
		}
		for _, n := range b.out.Notices {
			if n.Kind == host.Denied {
				phases[self] = idle
			}
		}
		return nil
	}
	for self := range b.ms {
		if err := act(algorithm.ID(self), host.Input{Kind: host.Start}); err != nil {
			return err
		}
	}
	for range steps {
		self := algorithm.ID(b.dice.below(len(b.ms)))
		var err error
		switch roll := b.dice.below(10); {
		case roll < 6 && len(b.flight) > 0:
			l := b.next()
			err = act(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
		case roll == 9 && b.spec.Upset != nil:
			err = b.step(self, host.Input{Kind: host.Expire})
		case phases[self] == idle && b.dice.below(rest) > 0:
		case phases[self] == idle:
			phases[self] = waiting
			err = act(self, host.Input{Kind: host.Request})
		case phases[self] == inside:
			phases[self] = idle
			err = act(self, host.Input{Kind: host.Release})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
