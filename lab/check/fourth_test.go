package check

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
)

// A pair is the environment of a fourth family, which no host knows of: locks
// that let in two at a time, and never three.
type pair struct{ *locks.Env }

const atMostTwo = "at-most-two"

func (e pair) New() family.Env { return pair{e.Env.New().(*locks.Env)} }

func (e pair) Copy(from family.Env) { e.Env.Copy(from.(pair).Env) }

// Took lets two in.
func (e pair) Took(h family.Host, p algorithm.ID, in host.Input, entered bool, notices []host.Notice) {
	e.Env.Took(lenient{h}, p, in, entered, notices)
}

type lenient struct{ family.Host }

func (lenient) Break(string, algorithm.ID, algorithm.ID) {}

func (e pair) Look(h family.Host) {
	var in []algorithm.ID
	for p := algorithm.ID(0); p < 3; p++ {
		if e.Inside(p) {
			in = append(in, p)
		}
	}
	if len(in) > 2 {
		h.Break(atMostTwo, in[2], in[0])
	}
}

// pairs is the family.
func pairs() *family.Family {
	f := locks.Family()
	alone := f.Env
	f.Env = func(o family.Options) (family.Env, error) {
		e, err := alone(o)
		return pair{e.(*locks.Env)}, err
	}
	f.Rules = []family.Rule{{Name: atMostTwo, Broken: "%[1]v came in as the third, after %[2]v"}}
	f.Properties = []family.Property{
		{Name: atMostTwo, Means: "never three inside"},
		{Name: Starvation, Means: "no process waits forever", Found: family.InRuns},
	}
	f.Signs = []family.Sign{family.Shown(atMostTwo, family.Violates(atMostTwo)), {Name: Deadlock, Of: []string{Starvation}}}
	f.Claims = nil
	return f
}

// doorman lets in as many as there are places, as the first process counts.
type doorman struct {
	places int
	free   int
	queue  []algorithm.ID
}

func (s *doorman) Fields(c *algorithm.Coder) {
	c.Int("free", &s.free, s.places)
	c.Seats("queue", &s.queue)
}

func (s *doorman) Request(out *algorithm.Out[toyMessage]) { out.Send(0, toyMessage{toyRequest}) }

func (s *doorman) Release(out *algorithm.Out[toyMessage]) { out.Send(0, toyMessage{toyRelease}) }

func (s *doorman) Receive(from algorithm.ID, m *toyMessage, out *algorithm.Out[toyMessage]) {
	switch m.Kind {
	case toyGrant:
		out.Enter()
		return
	case toyRequest:
		s.queue = append(s.queue, from)
	case toyRelease:
		s.free++
	}
	for ; s.free > 0 && len(s.queue) > 0; s.free-- {
		out.Send(s.queue[0], toyMessage{toyGrant})
		s.queue = slices.Delete(s.queue, 0, 1)
	}
}

func hosted(places int) algorithm.Spec {
	return algorithm.Spec{
		Name: "hosted", Family: algorithm.Family(99), Kinds: []string{"REQUEST", "GRANT", "RELEASE", "NOTE"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &doorman{places: places, free: places})
		}),
	}
}

// A fourth family is a value: the checker, the model of a group and the simulator,
// which confirms what is found, need not know it.
func TestFourthFamily(t *testing.T) {
	for places, want := range map[int]Verdict{2: Holds, 3: Violated} {
		r, err := Run(Config{Spec: hosted(places), Family: pairs(), Nodes: 3})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Find(atMostTwo)
		if p.Verdict != want || r.Find(Starvation).Verdict != Holds {
			t.Errorf("%d places: %s %s %s, and starvation %s: want %s, and that it holds", places, atMostTwo, p.Verdict, p.Note, r.Find(Starvation).Verdict, want)
		}
		if want != Violated {
			continue
		}
		back, err := p.Replay()
		if err != nil {
			t.Fatal(err)
		}
		if v := back.Violations; len(v) != 1 || v[0].String() != "P3 came in as the third, after P1" || len(back.Entries) != 3 {
			t.Errorf("the simulator sees %v after %v", v, back.Entries)
		}
	}
}
