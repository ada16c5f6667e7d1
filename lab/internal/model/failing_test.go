package model

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// failures makes one call of a group's machines fail.
type failures struct {
	at     int            // call that fails, from 1; 0 if none does
	panics bool           // it panics, too
	calls  int            // so far
	first  map[string]int // first call from each place in the model
}

// here counts a call, and returns an error if it should fail.
func (f *failures) here(may bool) error {
	f.calls++
	if f.first != nil && (may || f.panics) {
		var pcs [40]uintptr
		var place strings.Builder
		for frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])]); ; {
			frame, more := frames.Next()
			if name := frame.Function; strings.Contains(name, "/model.") && !strings.Contains(frame.File, "_test.go") {
				fmt.Fprintf(&place, " %s:%d", name, frame.Line)
			}
			if !more {
				break
			}
		}
		if _, known := f.first[place.String()]; !known {
			f.first[place.String()] = f.calls
		}
	}
	if f.calls != f.at {
		return nil
	}
	if f.panics {
		panic("a machine panics")
	}
	return fmt.Errorf("%w: a call fails", host.ErrAlgorithm)
}

// A flimsy machine fails now and then.
type flimsy struct {
	algorithm.Machine
	*failures
}

func (m flimsy) Step(in host.Input, out *host.Output) error {
	if err := m.here(true); err != nil {
		return err
	}
	return m.Machine.Step(in, out)
}

func (m flimsy) LoadState(b []byte) error {
	if err := m.here(true); err != nil {
		return err
	}
	return m.Machine.LoadState(b)
}

func (m flimsy) VisitMessageTimes(b []byte, v host.TimeVisitor) error {
	if err := m.here(true); err != nil {
		return err
	}
	return m.Machine.VisitMessageTimes(b, v)
}

func (m flimsy) RecodeMessage(dst, b []byte, v host.TimeVisitor) ([]byte, error) {
	if err := m.here(true); err != nil {
		return nil, err
	}
	return m.Machine.RecodeMessage(dst, b, v)
}

func (m flimsy) Mark(b []byte) (host.Mark, error) {
	if err := m.here(true); err != nil {
		return host.Mark{}, err
	}
	return m.Machine.Mark(b)
}

func (m flimsy) AppendState(b []byte) []byte {
	_ = m.here(false)
	return m.Machine.AppendState(b)
}

func (m flimsy) VisitTimes(v host.TimeVisitor) {
	_ = m.here(false)
	m.Machine.VisitTimes(v)
}

func (m flimsy) Clock() uint64 {
	_ = m.here(false)
	return m.Machine.Clock()
}

// failsWith explores and validates a group whose machines fail once.
func failsWith(c Config, f *failures) error {
	plan := c.Spec.Plan
	c.Spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return flimsy{birth(self, v), f} }, err
	}
	m, err := New(c)
	if err != nil {
		return err
	}
	if _, err := explore.Explore(m, explore.Limits{Workers: 1}); err != nil {
		return err
	}
	return m.Validate(explore.Limits{}, 50, 1)
}

// Wherever a machine fails, it is reported: nothing is explored further as if nothing had
// happened.
func TestEveryFailureIsReported(t *testing.T) {
	for _, c := range []Config{
		setup{Spec: mutex.RicartAgrawala(), Nodes: 2, Network: algorithm.Unordered}.config(t),
		setup{Spec: mutex.CentralStamped(0), Nodes: 2, Watch: family.OrderOpen}.config(t),
		setup{Spec: mutex.SuzukiKasami(), Nodes: 2}.config(t),
		setup{Spec: mutex.SuzukiKasami(), Nodes: 3, Requests: 1}.config(t), // counters lag behind
		vote{election.Bully(), 2, 1, 1, AnyPace}.config(),
	} {
		for _, panics := range []bool{false, true} {
			if panics && c.Tagged && !c.Settles {
				continue // when applications talk, some calls are not guarded that were made before
			}
			f := &failures{panics: panics, first: map[string]int{}}
			if err := failsWith(c, f); err != nil {
				t.Fatalf("%s: %v", c.Spec.Name, err)
			}
			for place, call := range f.first {
				if err := failsWith(c, &failures{at: call, panics: panics}); !errors.Is(err, host.ErrAlgorithm) {
					t.Errorf("%s: call %d fails (panics: %v), but the error is %v:%s", c.Spec.Name, call, panics, err, place)
				}
			}
			if len(f.first) < 10 {
				t.Errorf("%s: only %d places can fail", c.Spec.Name, len(f.first))
			}
		}
	}
}

// A step that fails is not among those that are made, and all others are.
func TestOtherStepsAreMade(t *testing.T) {
	f := &failures{}
	s := setup{Spec: mutex.Central(0), Nodes: 2, Requests: 1}
	plan := s.Spec.Plan
	s.Spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return flimsy{birth(self, v), f} }, err
	}
	m := mustModel(t, s)
	made := func(state []byte) (n, calls int, err error) {
		w, before := m.worker(), f.calls
		_, err = w.Next(state, func(explore.Step, []byte) { n++ })
		return n, f.calls - before, err
	}
	failed := 0
	walk(t, m, func(_ *worker, g *state) {
		state := m.pack(nil, g)
		f.at = 0
		all, calls, err := made(state)
		if err != nil {
			t.Fatal(err)
		}
		for k := range calls {
			f.at = f.calls + k + 1
			n, _, err := made(state)
			if err != nil && n != all-1 || err == nil && n != all {
				t.Fatalf("%s: %d steps with error %v, %d without", contents(g), n, err, all)
			}
			if err != nil {
				failed++
			}
		}
		f.at = 0
	})
	if failed < 20 {
		t.Errorf("%d steps fail: too few to tell", failed)
	}
}

// A checked machine fails if it gets an input that it should not, or adds to its output.
type checked struct {
	algorithm.Machine
	step func(in *host.Input, out *host.Output) error
}

func (m checked) Step(in host.Input, out *host.Output) error {
	if err := m.Machine.Step(in, out); err != nil {
		return err
	}
	return m.step(&in, out)
}

// explored explores a group whose machines run step after each of their steps.
func explored(c Config, step func(self algorithm.ID, in *host.Input, out *host.Output) error) error {
	plan := c.Spec.Plan
	c.Spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return checked{birth(self, v), func(in *host.Input, out *host.Output) error { return step(self, in, out) }}
		}, err
	}
	m, err := New(c)
	if err != nil {
		return err
	}
	_, err = explore.Explore(m, explore.Limits{Workers: 1})
	return err
}

// A process that returns is trusted by the others, and does not hear about itself.
func TestTrustedByOthers(t *testing.T) {
	trusted := 0
	err := explored(vote{election.Bully(), 2, 1, 1, Quick}.config(), func(self algorithm.ID, in *host.Input, _ *host.Output) error {
		if in.Kind != host.Trust {
			return nil
		}
		if trusted++; in.From == self {
			return fmt.Errorf("%v is told to trust itself", self)
		}
		return nil
	})
	if err != nil || trusted == 0 {
		t.Errorf("%v, %d times a process was trusted", err, trusted)
	}
}

// A timer whose number is out of range is an error of the algorithm.
func TestTimersOutOfRange(t *testing.T) {
	for timer, good := range map[int]bool{-1: false, 0: true, host.MaxTimer: true, host.MaxTimer + 1: false} {
		err := explored(setup{Spec: mutex.RicartAgrawala(), Nodes: 2, Requests: 1}.config(t), func(_ algorithm.ID, in *host.Input, out *host.Output) error {
			if in.Kind == host.Request {
				out.Notices = append(out.Notices, host.Notice{Kind: host.SetTimer, Timer: timer, After: 1})
			}
			return nil
		})
		if good != (err == nil) || !good && !errors.Is(err, host.ErrAlgorithm) {
			t.Errorf("timer %d: %v", timer, err)
		}
	}
}

// A machine may use the memory of its notices again.
func TestNoticesAreCopied(t *testing.T) {
	cycle := []algorithm.ID{0, 1}
	c := setup{Spec: mutex.RicartAgrawala(), Nodes: 2, Requests: 1}.config(t)
	plan := c.Spec.Plan
	c.Spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return checked{birth(self, v), func(_ *host.Input, out *host.Output) error {
				out.Notices = append(out.Notices, host.Notice{Kind: host.Victim, Cycle: cycle})
				return nil
			}}
		}, err
	}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	w := m.worker()
	if err := w.Init(func(s []byte) bool { w.unpack(s, w.from); return false }); err != nil {
		t.Fatal(err)
	}
	e, err := w.effect(w.from.seats[0].blob, &host.Input{Kind: host.Request, From: algorithm.None}, 0)
	if err != nil {
		t.Fatal(err)
	}
	cycle[0] = 1
	if len(e.notices) != 1 || e.notices[0].Cycle[0] != 0 {
		t.Errorf("the notices have become %v", e.notices)
	}
}

// The smallest effort is one step of a walk.
func TestShortestWalk(t *testing.T) {
	steps := 0
	c := setup{Spec: mutex.RicartAgrawala(), Nodes: 2, Requests: 1}.config(t)
	plan := c.Spec.Plan
	c.Spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return checked{birth(self, v), func(in *host.Input, _ *host.Output) error {
				if in.Kind == host.Request {
					steps++
				}
				return nil
			}}
		}, err
	}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.walk(explore.Limits{}.Ends(), 1, 1, false); err != nil || steps == 0 {
		t.Errorf("%d requests, %v", steps, err)
	}
}
