package measure

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/scenario"
)

// against compares measurements with theory, for a lock that only one member uses, and for
// one that all members request all the time. Messages in flight at the beginning and the
// end blur it a little.
func against(s algorithm.Spec, n int) error {
	const blur = 0.02
	in := func(what string, got float64, c algorithm.Cost, load algorithm.Load) error {
		if r, ok := c.At(n, load); ok && got >= 0 && (got < r.Lo-blur*max(1, r.Lo) || got > r.Hi+blur*max(1, r.Hi)) {
			return fmt.Errorf("%s among %d: %s %.3f, theory says %v to %v", s.Name, n, what, got, r.Lo, r.Hi)
		}
		return nil
	}
	l := Load{Choice: Hot, Locks: 1, Apps: 1, Latency: scenario.Always(T), Hold: scenario.Always(T), Think: exp(20_000 * T), Seed: 7}
	light, err := Costs(s, n, l, Budget{Warm: 100, Entries: 1000})
	if err != nil {
		return err
	}
	l.Think = scenario.Always(0)
	full, err := Costs(s, n, l, Budget{Warm: 100, Entries: 1000})
	if err != nil {
		return err
	}
	t := s.Theory
	for _, err := range []error{
		in("frames", light.Frames, t.Messages, algorithm.Light), in("client delay", light.Client, t.Client, algorithm.Light),
		in("frames under full load", full.Frames, t.Messages, algorithm.Saturated), in("synchronisation delay", full.Sync, t.Sync, algorithm.Saturated),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestTheory(t *testing.T) {
	for _, s := range catalog.Live() {
		for _, n := range []int{3, 5, 9} {
			if err := against(s, n); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestKeptCost: a kept lock costs no more than central's, however long requests wait.
func TestKeptCost(t *testing.T) {
	for _, n := range []int{3, 25} {
		l, _ := load(Hot, n)
		central, err := Costs(centrally(), n, l, Budget{Warm: 100, Entries: 1000})
		if err != nil {
			t.Fatal(err)
		}
		l.Kept = true
		kept, err := Costs(centrally(), n, l, Budget{Warm: 100, Entries: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if kept.Frames > 1.2*central.Frames || kept.Wait > 1.2*central.Wait {
			t.Errorf("among %d: %.2f frames and %.1f T, but central needs %.2f and %.1f", n, kept.Frames, kept.Wait, central.Frames, central.Wait)
		}
	}
}

// remote returns the frames per entry that is not at the home of the lock.
func remote(s algorithm.Spec) (float64, error) {
	l, b := load(Random, 5)
	r, err := newRun(s, 5, 0, l)
	if err != nil {
		return 0, err
	}
	others := 0
	r.entered = func(a int) {
		if x := &r.apps[a]; r.home(r.locks[x.lock].name) != x.place {
			others++
		}
	}
	if err := r.until(func() bool { return r.entries >= b.Entries }); err != nil {
		return 0, err
	}
	r.stopped = true
	end := r.Now() + 100*T
	if err := r.until(func() bool { return r.Now() > end }); err != nil {
		return 0, err
	}
	return float64(r.frames) / float64(others), nil
}

// An entry with central costs exactly three frames, and none at the home.
func TestCentral(t *testing.T) {
	s, err := catalog.MakeLive("central", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := remote(s); got != 3 || err != nil {
		t.Errorf("%v frames for an entry away from home, want 3: %v", got, err)
	}
}

// One more message per entry is noticed.
func TestChatter(t *testing.T) {
	s, err := catalog.MakeLive("central", 1)
	if err != nil {
		t.Fatal(err)
	}
	plan := s.Plan
	s.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return &chatter{birth(self, v), self} }, err
	}
	if got, err := remote(s); got != 4 || err != nil {
		t.Errorf("%v frames for an entry away from home, want the 3 of central and 1 more: %v", got, err)
	}
}

// A chatter is a client of central that sends its request to another client too, which
// ignores it.
type chatter struct {
	algorithm.Machine
	self algorithm.ID
}

func (c *chatter) Step(in host.Input, out *host.Output) error {
	if c.self != 0 && in.Kind == host.Receive && in.From != 0 {
		out.Reset()
		return nil
	}
	err := c.Machine.Step(in, out)
	if c.self != 0 && in.Kind == host.Request && err == nil {
		more := out.Sends[0]
		if more.To = 1; c.self == 1 {
			more.To = 2
		}
		out.Sends = append(out.Sends, more)
	}
	return err
}

// One algorithm does not pass for another.
func TestOtherTheory(t *testing.T) {
	for _, pair := range [][2]string{{"lamport", "ricart-agrawala"}, {"ricart-agrawala", "lamport"}, {"suzuki-kasami", "central"}, {"maekawa", "naimi-trehel"}} {
		s, err := catalog.MakeLive(pair[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		other, err := catalog.MakeLive(pair[1], 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Theory = other.Theory
		if against(s, 9) == nil {
			t.Errorf("%s passes for %s", pair[0], pair[1])
		}
	}
}
