package sim

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A fragile machine, of a lock or of an election, panics where it is told to.
type fragile struct {
	where string
	list  []int
	timed bool
}

type fragileNote struct{ Kind uint8 }

func (m *fragileNote) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, 1) }

// at panics, if this is where.
func (s *fragile) at(where string) {
	if s.where == where {
		s.list[3]++
	}
}

func (s *fragile) Fields(c *algorithm.Coder) {
	c.Bool("timed", &s.timed)
	if s.timed {
		s.at("state")
	}
}

func (s *fragile) Start(*algorithm.Out[fragileNote]) { s.at("start") }

func (s *fragile) Request(out *algorithm.Out[fragileNote]) {
	s.at("request")
	out.Broadcast(fragileNote{Kind: 1})
	out.SetTimer(7, 1)
	s.timed = true
	out.Enter()
}

func (s *fragile) Release(*algorithm.Out[fragileNote]) { s.at("release") }

func (s *fragile) Receive(algorithm.ID, *fragileNote, *algorithm.Out[fragileNote]) { s.at("receive") }

func (s *fragile) Expire(int, *algorithm.Out[fragileNote]) { s.at("expire") }

func (s *fragile) Suspect(algorithm.ID, *algorithm.Out[fragileNote]) { s.at("suspect") }

func (s *fragile) Trust(algorithm.ID, *algorithm.Out[fragileNote]) { s.at("trust") }

func (s *fragile) Hear(algorithm.Time) { s.at("hear") }

func (s *fragile) Clock() algorithm.Time {
	s.at("clock")
	return algorithm.Time{}
}

func fragileSpec(where string) algorithm.Spec {
	return algorithm.Spec{Name: "fragile", Kinds: []string{"NONE", "NOTE"}, Detects: true, Plan: func(int) (algorithm.Birth, error) {
		(&fragile{where: where}).at("plan")
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			s := &fragile{where: where}
			if self == 1 {
				s.at("birth")
			}
			if v.Late {
				s.at("rebirth")
			}
			return algorithm.New(self, v, s)
		}, nil
	}}
}

// panicked complains unless a run has ended with the error of a panic.
func panicked(t *testing.T, where string, err error, want string) {
	t.Helper()
	why := ": runtime error: index out of range [3] with length 0, at panic_test.go:"
	if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: got  %v\nwant %s...%s", where, err, want, why)
	}
}

// An algorithm that panics ends a run with an error that says at whom, when, on what
// and where in its code.
func TestPanicOfTheAlgorithm(t *testing.T) {
	for where, want := range map[string]string{
		"plan":    "cannot simulate fragile",
		"birth":   "the birth of P2",
		"start":   "fragile: P1 at 0",
		"request": "fragile: P1 at 1.5",
		"receive": "fragile: P2 at 2.5",
		"expire":  "fragile: P1 at 2.5",
		"release": "fragile: P1 at 3.5",
	} {
		_, err := Run(Config{
			Spec: fragileSpec(where), Nodes: 3, Entries: 1, Requesters: []algorithm.ID{0}, Seed: 1,
			Latency: scenario.Always(scenario.T), Think: scenario.Always(3 * scenario.T / 2), Hold: scenario.Always(2 * scenario.T),
		})
		panicked(t, where, err, want)
	}
}

// In a replay it is on the line that made it happen, if one did.
func TestPanicInAReplay(t *testing.T) {
	for where, c := range map[string]struct{ lines, want string }{
		"request": {"P2 asks", "line 5: P2 asks: fragile: P2 in step 1"},
		"state":   {"P2 asks", "line 5: P2 asks: fragile: P2 in step 1"},
		"receive": {"P2 asks\ndeliver 2 -> 3", "line 6: deliver 2 -> 3: fragile: P3 in step 2"},
		"suspect": {"crash P3\nP2 suspects P3", "P2 in step 2"},
		"rebirth": {"crash P3\nrestart P3", "line 6: restart P3: fragile: P3 in step 2"},
		"trust":   {"crash P3\nrestart P3", "P1 in step 2"},
		"clock":   {"P2 tells P3", "P2 in step 1"},
		"hear":    {"P2 tells P3", "P3 in step 1"},
		"start":   {"P2 asks", "fragile: P1 at the start"},
	} {
		sc, err := scenario.Parse("", "algorithm fragile\nprocesses 3\nschedule steps\n\n"+c.lines)
		if err != nil {
			t.Fatal(err)
		}
		for _, brief := range []bool{false, true} {
			_, err = Replay(fragileSpec(where), sc, ReplayOptions{Brief: brief, Skip: func(int, error) bool { return true }})
			if want := c.want; brief && where == "state" {
				panicked(t, where, err, "P2 in step 1")
			} else {
				panicked(t, where, err, want)
			}
		}
	}
}

// In a section processes have their own names, and not those of their seats.
func TestPanicInASection(t *testing.T) {
	_, err := RunSections(Config{
		Spec: fragileSpec("receive"), Nodes: 4, Entries: 1, Requesters: []algorithm.ID{2}, Seed: 1, Latency: scenario.Always(scenario.T), Hold: scenario.Always(2 * scenario.T),
	}, []script.Section{{Name: "printer", Members: []algorithm.ID{1, 2, 3}}})
	panicked(t, "section", err, "fragile: P2 at 1")
}

// What panics beside an algorithm is a bug, and is not taken for one of its mistakes.
func TestPanicOfTheHost(t *testing.T) {
	defer func() {
		if why := recover(); why != "enough" {
			t.Errorf("recovered %v, want what the observer panicked with", why)
		}
	}()
	_, err := Run(Config{
		Spec: fragileSpec(""), Nodes: 3, Entries: 10, Seed: 1, Latency: scenario.Always(scenario.T), Hold: scenario.Always(2 * scenario.T),
		Observe: func(e trace.Event) {
			if e.Kind == trace.Receive {
				panic("enough")
			}
		},
	})
	t.Errorf("the run has survived the panic of its observer, with %v", err)
}

// In elections too.
func TestPanicInAnElection(t *testing.T) {
	spec := fragileSpec("trust")
	spec.Family = algorithm.Election
	spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.NewElection(self, v, &fragile{where: "trust"})
	})
	_, err := RunElection(Election{
		Spec: spec, Nodes: 3, Latency: scenario.Always(scenario.T), Seed: 1, Outages: []Outage{{Proc: 2, At: 0, Back: scenario.T}},
	})
	panicked(t, "trust", err, "fragile: P1 at 1")
}

// A brittle machine panics itself, and not the one within it.
type brittle struct {
	algorithm.Machine
	on host.InputKind
}

func (m brittle) Unwrap() algorithm.Machine { return m.Machine }

func (m brittle) Step(in host.Input, out *host.Output) error {
	if in.Kind == m.on {
		(&fragile{where: "step"}).at("step")
	}
	return m.Machine.Step(in, out)
}

// At sites, it is a site that panics, and a process that asks it.
func TestPanicAtASite(t *testing.T) {
	sc, err := scenario.Parse("", "algorithm wait-die\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nschedule steps\n\nP2 takes L1 L2\ndeliver 2 -> 1")
	if err != nil {
		t.Fatal(err)
	}
	for on, want := range map[host.InputKind]string{
		host.Request: "site 2 in step 1",
		host.Receive: "site 1 in step 2",
	} {
		spec, err := SiteSpec(sc)
		if err != nil {
			t.Fatal(err)
		}
		plan := spec.Plan
		spec.Plan = func(n int) (algorithm.Birth, error) {
			birth, err := plan(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return brittle{birth(self, v), on} }, err
		}
		_, err = Replay(spec, sc, ReplayOptions{})
		panicked(t, "site", err, want)
	}
}
