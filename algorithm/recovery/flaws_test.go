package recovery_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/sim"
)

// A flawed machine breaks one rule of the view change. Frames begin with their
// kind and epoch.
type flawed struct {
	algorithm.Machine
	n     int
	kinds []string
	take  func(f *flawed, in *host.Input) bool   // false: it is not taken
	give  func(f *flawed, kind string, b []byte) // changes what is sent
	mute  func(f *flawed, in *host.Input) bool   // true: STOP is not sent
}

func (f *flawed) Step(in host.Input, out *host.Output) error {
	out.Reset()
	if f.take != nil && !f.take(f, &in) {
		return nil
	}
	mute := f.mute != nil && f.mute(f, &in)
	err := f.Machine.Step(in, out)
	if mute {
		out.Sends = slices.DeleteFunc(out.Sends, func(s host.Send) bool { return f.kinds[s.Kind] == "STOP" })
	}
	for i, s := range out.Sends {
		if f.give != nil {
			f.give(f, f.kinds[s.Kind], out.Bytes(i))
		}
	}
	return err
}

// epoch returns the machine's epoch.
func (f *flawed) epoch() byte {
	for _, field := range f.Machine.Describe() {
		if field.Name == "epoch" {
			n, _ := strconv.Atoi(field.Value)
			return byte(n)
		}
	}
	return 0
}

// ofLock reports whether the input is a frame of the lock.
func (f *flawed) ofLock(in *host.Input) bool {
	if in.Kind != host.Receive {
		return false
	}
	switch f.kinds[in.Bytes[0]] {
	case "ELECTION", "ANSWER", "COORDINATOR", "REPORT", "VIEW", "JOIN", "STOP", "DOUBT", "WHO", "HERE":
		return false
	}
	return true
}

// Each rule of the view change is needed: without it a lock breaks.
func TestFlawsAreCaught(t *testing.T) {
	for name, flaw := range map[string]flawed{
		"a report does not say who is inside": {give: func(_ *flawed, kind string, b []byte) {
			if kind == "REPORT" {
				b[3] = 0
			}
		}},
		"frames of an older epoch are taken": {take: func(f *flawed, in *host.Input) bool {
			if f.ofLock(in) && in.Bytes[1] < f.epoch() {
				in.Bytes = append([]byte{in.Bytes[0], f.epoch()}, in.Bytes[2:]...)
			}
			return true
		}},
		"frames of a newer epoch are lost": {take: func(f *flawed, in *host.Input) bool {
			return !f.ofLock(in) || in.Bytes[1] <= f.epoch()
		}},
		"one is not told of the view": {give: func(_ *flawed, kind string, b []byte) {
			if kind == "VIEW" {
				b[1] = 0
			}
		}},
	} {
		if !simulated(t, flaw) && !explored(t, flaw) {
			t.Errorf("nobody noticed: %s", name)
		}
	}
}

// spoilt is a lock with a flaw.
func spoilt(lock recovery.Lock, flaw flawed) algorithm.Spec {
	return spoil(recovery.With(lock, election.Bully()), flaw)
}

// spoil puts a flaw into a lock.
func spoil(spec algorithm.Spec, flaw flawed) algorithm.Spec {
	plan := spec.Plan
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			m := flaw
			m.Machine, m.n, m.kinds = birth(self, v), n, spec.Kinds
			return &m
		}, err
	}
	return spec
}

// simulated reports whether the simulator finds a flaw.
func simulated(t *testing.T, flaw flawed) bool {
	t.Helper()
	for _, lock := range []recovery.Lock{plain(mutex.RicartAgrawala), plain(mutex.SuzukiKasami)} {
		spec := spoilt(lock, flaw)
		for seed := range uint64(400) {
			sc := random(spec.Name, 3+int(seed%4), seed)
			back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(back.Violations) > 0 || all(sc, back) != nil {
				return true
			}
		}
	}
	return false
}

// explored reports whether the checker finds a flaw. With four processes, of
// which one dies, a frame can come before the view that it belongs to.
func explored(t *testing.T, flaw flawed) bool {
	t.Helper()
	r, err := check.Run(check.Config{
		Spec: spoilt(plain(mutex.TokenRingLazy), flaw), Nodes: 4, Requests: 1, Requesters: []algorithm.ID{0, 1}, Crashes: 1, Pace: check.Quick, First: true,
	})
	if errors.Is(err, host.ErrMalformed) {
		return true // a frame of another view does not decode
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Verdict == check.Violated
}

// A lock that lets two in is found out, also where a view is made meanwhile,
// which knows of one of them.
func TestTwoInsideAndADeath(t *testing.T) {
	nightly.Only(t)
	spec := recovery.With(plain(mutex.BakeryNaive), election.Bully())
	r, err := check.Run(check.Config{Spec: spec, Nodes: 3, Requests: 1, Requesters: []algorithm.ID{0, 1}, Crashes: 1, Pace: check.Quick})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Properties {
		want := check.HoldsBounded
		if p.Name == check.MutualExclusion {
			want = check.Violated
		}
		if p.Verdict != want {
			t.Errorf("%s is %s, want %s: %s", p.Name, p.Verdict, want, p.Note)
		}
	}
}

// timed sets a timer whenever it is asked for something.
type timed struct{ algorithm.Machine }

func (m timed) Step(in host.Input, out *host.Output) error {
	err := m.Machine.Step(in, out)
	if in.Kind == host.Request {
		out.Notices = append(out.Notices, host.Notice{Kind: host.SetTimer, Timer: 7, After: 1})
	}
	return err
}

// A lock that needs timers is refused: it would wait for them in vain.
func TestRefusesTimersOfTheLock(t *testing.T) {
	spec := recovery.With(func(coordinator algorithm.ID) algorithm.Spec {
		spec := mutex.Central(coordinator)
		plan := spec.Plan
		spec.Plan = func(n int) (algorithm.Birth, error) {
			birth, err := plan(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return timed{birth(self, v)} }, err
		}
		return spec
	}, election.Bully())
	_, err := check.Run(check.Config{Spec: spec, Nodes: 2, Requests: 1, Pace: check.Quick})
	if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), "sets timer 7") {
		t.Errorf("got %v, want an error of the algorithm that names the timer", err)
	}
}
