package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A clumsy lock does on request what it must not do.
type clumsy struct {
	state uint8
	count int
	slip  func(s *clumsy, out *algorithm.Out[clumsyMessage])
}

type clumsyMessage struct {
	Kind  uint8
	Count int
}

func (m *clumsyMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 0)
	c.Int("count", &m.Count, 3)
}

func (s *clumsy) Fields(c *algorithm.Coder) {
	c.Uint8("state", &s.state, "idle", "inside")
	c.Int("count", &s.count, 3)
}

func (s *clumsy) Request(out *algorithm.Out[clumsyMessage]) {
	s.slip(s, out)
	out.Enter()
}

func (s *clumsy) Release(*algorithm.Out[clumsyMessage]) {}

func (s *clumsy) Receive(from algorithm.ID, m *clumsyMessage, out *algorithm.Out[clumsyMessage]) {
	out.Send(0, *m)
}

func (s *clumsy) Expire(int, *algorithm.Out[clumsyMessage]) {}

// A deviant machine sets a timer that there is not, past what core refuses.
type deviant struct{ algorithm.Machine }

func (d deviant) Step(in host.Input, out *host.Output) error {
	err := d.Machine.Step(in, out)
	out.Notices = append(out.Notices, host.Notice{Kind: host.SetTimer, Timer: 1 << 24, After: 1})
	return err
}

// A crumbling lock panics in what it writes: from its birth on, once it has panicked
// in a step too, or when it is read.
type crumbling struct {
	where string
	hurt  bool
}

func (s *crumbling) Fields(c *algorithm.Coder) {
	c.Bool("hurt", &s.hurt)
	if s.hurt || s.where == "fields" {
		panic("crumbled")
	}
}

type crumb struct{ Kind uint8 }

func (m *crumb) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 1)
	if m.Kind == 1 {
		panic("crumb")
	}
}

func (s *crumbling) Request(out *algorithm.Out[crumb]) {
	switch s.where {
	case "step":
		s.hurt = true
		panic("hurt")
	case "message":
		out.Broadcast(crumb{1})
	}
}

func (s *crumbling) Release(*algorithm.Out[crumb]) {}

func (s *crumbling) Receive(algorithm.ID, *crumb, *algorithm.Out[crumb]) {}

func (s *crumbling) Clock() algorithm.Time {
	if s.where == "clock" {
		panic("stopped")
	}
	return algorithm.Time{}
}

func (s *crumbling) Hear(algorithm.Time) {}

// A panic is one wherever the checker uses a machine, and whatever state that leaves
// it in.
func TestPanicsOfTheAuthor(t *testing.T) {
	for where, want := range map[string]string{
		"plan":    ": planned, at mistakes_test.go:",
		"birth":   ": born, at mistakes_test.go:",
		"late":    ": back, at mistakes_test.go:",
		"fields":  ": crumbled, at mistakes_test.go:",
		"step":    ": hurt, at mistakes_test.go:",
		"clock":   ": stopped, at mistakes_test.go:",
		"message": ": crumb, at mistakes_test.go:",
	} {
		spec := algorithm.Spec{Name: "crumbling", Kinds: []string{"WHOLE", "CRUMB"}, Detects: where == "late", Theory: algorithm.Theory{ME3: where == "clock"}, Plan: func(int) (algorithm.Birth, error) {
			if where == "plan" {
				panic("planned")
			}
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				if where == "birth" && self == 1 {
					panic("born")
				}
				if where == "late" && v.Late {
					panic("back")
				}
				return algorithm.New(self, v, &crumbling{where: where})
			}, nil
		}}
		c := Config{Spec: spec, Nodes: 2, Requests: 1, Requesters: []algorithm.ID{0}}
		if where == "clock" {
			c.Requesters, c.Properties = nil, []string{OrderOpen}
		}
		if spec.Detects {
			c.Crashes, c.Comebacks = 1, 1
		}
		_, err := Run(c)
		if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v\nwant %q", where, err, want)
		}
	}
}

// What an author gets wrong ends a check with an error that says who has made the
// mistake, whatever it is: no panic, no host, and no bytes are to blame.
func TestMistakesOfTheAuthor(t *testing.T) {
	spec := func(slip func(s *clumsy, out *algorithm.Out[clumsyMessage])) algorithm.Spec {
		return algorithm.Spec{Name: "clumsy", Kinds: []string{"NOTE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &clumsy{slip: slip})
		})}
	}
	astray := spec(func(*clumsy, *algorithm.Out[clumsyMessage]) {})
	plan := astray.Plan
	astray.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return deviant{birth(self, v)} }, err
	}
	for _, c := range []struct {
		spec algorithm.Spec
		want string
	}{
		{spec(func(s *clumsy, _ *algorithm.Out[clumsyMessage]) { s.count = 4 }), "malformed bytes: field count"},
		{spec(func(s *clumsy, _ *algorithm.Out[clumsyMessage]) { s.state = 2 }), "malformed bytes: field state"},
		{spec(func(_ *clumsy, out *algorithm.Out[clumsyMessage]) { out.Send(1, clumsyMessage{Count: 4}) }), "malformed bytes"},
		{spec(func(_ *clumsy, out *algorithm.Out[clumsyMessage]) { out.Send(0, clumsyMessage{}) }), "100000 messages"},
		{spec(func(_ *clumsy, out *algorithm.Out[clumsyMessage]) { out.SetTimer(1<<24, 1) }), "P1 set timer 16777216"},
		{spec(func(_ *clumsy, out *algorithm.Out[clumsyMessage]) { out.Deny() }), "P1 denied a request"},
		{spec(func(s *clumsy, _ *algorithm.Out[clumsyMessage]) { panic("out of order") }), ": out of order, at mistakes_test.go:"},
		{spec(func(s *clumsy, _ *algorithm.Out[clumsyMessage]) { s.count = []int{}[s.count] }), "index out of range [0] with length 0, at mistakes_test.go:"},
		{astray, "timer 16777216"},
	} {
		_, err := Run(Config{Spec: c.spec, Nodes: 2, Requests: 1, Requesters: []algorithm.ID{0}})
		if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %q", err, c.want)
		}
	}
}

// A doubly wrong lock lets everybody in, and does something else wrong on the way out.
type doublyWrong struct {
	self algorithm.ID
	time algorithm.Time
	out  func(s *doublyWrong, out *algorithm.Out[clumsyMessage])
}

func (s *doublyWrong) Fields(c *algorithm.Coder)                                           { c.Time("time", &s.time) }
func (s *doublyWrong) Request(out *algorithm.Out[clumsyMessage])                           { out.Enter() }
func (s *doublyWrong) Release(out *algorithm.Out[clumsyMessage])                           { s.out(s, out) }
func (s *doublyWrong) Receive(algorithm.ID, *clumsyMessage, *algorithm.Out[clumsyMessage]) {}

// A violation is told, and the mistake beside it, though both are steps out of the same
// state, or of states that are equally deep.
func TestViolationBesideAMistake(t *testing.T) {
	for want, out := range map[string]func(s *doublyWrong, out *algorithm.Out[clumsyMessage]){
		"no way out":                func(*doublyWrong, *algorithm.Out[clumsyMessage]) { panic("no way out") },
		"sent NOTE to seat 10 of 3": func(_ *doublyWrong, out *algorithm.Out[clumsyMessage]) { out.Send(9, clumsyMessage{}) },
		"a logical time reached": func(s *doublyWrong, _ *algorithm.Out[clumsyMessage]) {
			for range 70 {
				s.time.Tick()
			}
		},
	} {
		for _, only := range []algorithm.ID{algorithm.None, 0, 2} { // who makes the mistake
			spec := algorithm.Spec{Name: "doubly-wrong", Kinds: []string{"NOTE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				s := &doublyWrong{self: self, out: out}
				if only != algorithm.None && only != self {
					s.out = func(*doublyWrong, *algorithm.Out[clumsyMessage]) {}
				}
				return algorithm.New(self, v, s)
			})}
			var told []string
			r, err := Run(Config{
				Spec: spec, Nodes: 3, Requests: 1, Properties: []string{MutualExclusion, Fence},
				Found: func(p Property) { told = append(told, p.Name) },
			})
			if err != nil {
				t.Errorf("%s, %v: %v", want, only, err)
				continue
			}
			p, other := r.Find(MutualExclusion), r.Find(Fence)
			if p.Verdict != Violated || len(p.Trace) != 2 || len(told) == 0 || told[0] != MutualExclusion {
				t.Errorf("%s, %v: mutual exclusion is %s: %s %q; told of %v", want, only, p.Verdict, p.Note, p.Trace, told)
			}
			if !strings.Contains(other.Note, want) && other.Verdict != Violated {
				t.Errorf("%s, %v: %s is %s: %s", want, only, other.Name, other.Verdict, other.Note)
			}
		}
	}
}
