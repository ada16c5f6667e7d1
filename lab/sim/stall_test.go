package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/scenario"
)

// Whoever asks again and again while somebody is inside for long has lost
// nothing. A request that nobody ever grants is lost, though messages go on for
// ever.
func TestStall(t *testing.T) {
	for _, c := range []struct {
		spec algorithm.Spec
		want []string
	}{
		{mutex.BakeryPolling(), nil},
		{mutex.CentralDeny(0), nil},
		{deaf(), []string{family.LostRequest}},
	} {
		config := constant(c.spec, 3, 4)
		config.Hold = scenario.Always(60_000 * scenario.T)
		r, err := Run(config)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Compact(broken(r.Found)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v broken, want %v", c.spec.Name, got, c.want)
		}
	}
}

// A lock that denies every request does not run for ever.
func TestDeniedForEver(t *testing.T) {
	_, err := Run(constant(algorithm.Spec{Name: "aloof", TryLock: true, Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &denier{})
	})}, 3, 4))
	if err == nil || !strings.Contains(err.Error(), "were denied") {
		t.Errorf("got %v", err)
	}
}

// A denier lets nobody in.
type denier struct{ eager }

func (*denier) Request(out *algorithm.Out[nothing]) { out.Deny() }

// deaf returns a token ring whose token runs round for ever, past all who wait.
func deaf() algorithm.Spec {
	s := mutex.TokenRing()
	plan := s.Plan
	s.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return &unheard{birth(self, v)} }, err
	}
	return s
}

// An unheard machine is not told that its application requests.
type unheard struct{ algorithm.Machine }

func (u *unheard) Step(in host.Input, out *host.Output) error {
	if in.Kind == host.Request {
		*out = host.Output{}
		return nil
	}
	return u.Machine.Step(in, out)
}

// A run that was cut says so, and not that somebody waits for ever.
func TestCutRunsSaySo(t *testing.T) {
	r, err := Run(constant(deaf(), 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	const want = "P1 asked and was not granted before the run was cut, after 130001 events without progress"
	if len(r.Found) == 0 || r.Found[0].String() != want || !r.Stalled {
		t.Errorf("got %v, stalled %v", r.Found, r.Stalled)
	}

	sc, err := scenario.Parse("", "algorithm token-ring\nprocesses 3\nat 0 P2 asks\n")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Replay(deaf(), sc, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Violations) != 1 || !strings.Contains(b.Violations[0].String(), "P2 asked and was not granted before the run was cut, after 13001 events") {
		t.Errorf("got %v", b.Violations)
	}
	if last := b.Events[len(b.Events)-1]; !strings.Contains(last.Words, "before the run was cut") {
		t.Errorf("the trace says %q", last.Words)
	}
}

// An election that never ends is cut, and so is one that elects nobody as often
// as somebody notices; one that agrees at once is not.
func TestCutElections(t *testing.T) {
	for _, c := range []struct {
		spec algorithm.Spec
		want string // how agreement is told to be broken
	}{
		{election.Bully(), ""},
		{endless(true), "not every live process followed P2, the highest, when the run was cut, after 16900 events"},
		{endless(false), "not every live process followed P2, the highest, when the run was cut, after 130 elections without a result"},
	} {
		o, err := RunElection(Election{Spec: c.spec, Nodes: 3, Dead: []algorithm.ID{2}, Starters: []algorithm.ID{0}, Latency: scenario.Always(scenario.T), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(o.Found) > 0 {
			got = o.Found[0].String()
		}
		if got != c.want || o.Stalled != (c.want != "") {
			t.Errorf("%s: got %q, stalled %v; want %q", c.spec.Name, got, o.Stalled, c.want)
		}
	}
}

// endless makes an election that elects nobody. If it talks, its messages go round
// for ever.
func endless(talks bool) algorithm.Spec {
	return algorithm.Spec{Name: "endless", Family: algorithm.Election, Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.NewElection(self, v, &talker{self, talks})
	})}
}

type talker struct {
	self  algorithm.ID
	talks bool
}

func (*talker) Fields(*algorithm.Coder) {}

func (s *talker) Request(out *algorithm.Out[nothing]) {
	if s.talks {
		out.Send(1-s.self, nothing{})
	}
}

func (s *talker) Receive(_ algorithm.ID, _ *nothing, out *algorithm.Out[nothing]) { s.Request(out) }
