package recovery

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// Hasty returns a lock that follows the first rule that comes to mind when a token can be
// lost: a process that has waited for long makes a new one. It is wrong: no process knows
// that the old token is lost, and it stays valid if it was only late, or in use.
func Hasty(lock algorithm.Spec) algorithm.Spec {
	spec := lock
	spec.Name += "+hasty"
	spec.Title += ", a process that has waited too long makes a token"
	spec.Wrong = "two processes can be inside: a process makes a token although the old one is not lost, or another process makes one too"
	spec.Fixed = lock.Name + "+ring-election"
	spec.Weaker, spec.Shown = "", ""
	spec.Network = algorithm.FIFO
	spec.Spreads, spec.Detects, spec.Upset = false, true, nil
	spec.Theory.ME3, spec.Theory.Bypass = false, nil
	spec.Rules = append(slices.Clone(lock.Rules), algorithm.Rule{ID: "H", Text: "A process that has waited too long makes a token.", Why: "{self} has waited too long, and makes a token"})
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := lock.Birth(n)
		if err != nil {
			return nil, err
		}
		if m := birth(0, algorithm.View{N: n}); m.Tokens() == 0 {
			return nil, fmt.Errorf("%s has no token to lose: want a lock such as token-ring+hasty", lock.Name)
		}
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			s := &hasty{birth: birth, self: self, n: v.N, rule: len(lock.Rules)}
			s.lock = birth(self, v)
			return algorithm.New(self, v, s)
		}, nil
	}
	return spec
}

// A hasty process makes a token when it has waited for long.
type hasty struct {
	birth   algorithm.Birth
	self    algorithm.ID
	n       int
	rule    int // index of its own rule
	lock    algorithm.Machine
	lockOut host.Output
}

// A letter is a message of the lock.
type letter struct {
	Kind  uint8
	Bytes []byte
}

func (m *letter) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, uint8(c.Kinds()-1))
	c.Bytes("message", &m.Bytes)
}

func (s *hasty) Fields(c *algorithm.Coder) { c.Inner("lock", s.lock, nil) }

// Carried implements algorithm.Carrier.
func (s *hasty) Carried(m algorithm.Fielder) (algorithm.Machine, []byte, []algorithm.ID) {
	return s.lock, m.(*letter).Bytes, nil
}

func (s *hasty) Start(o *algorithm.Out[letter]) { s.step(host.Input{Kind: host.Start}, o) }

func (s *hasty) Request(o *algorithm.Out[letter]) {
	o.SetTimer(0, LeastPatience(s.n))
	s.step(host.Input{Kind: host.Request}, o)
}

func (s *hasty) Release(o *algorithm.Out[letter]) {
	s.step(host.Input{Kind: host.Release}, o)
}

func (s *hasty) Receive(from algorithm.ID, m *letter, o *algorithm.Out[letter]) {
	s.step(host.Input{Kind: host.Receive, From: from, Bytes: m.Bytes}, o)
}

// Expire makes a token, without asking any other process.
func (s *hasty) Expire(_ int, o *algorithm.Out[letter]) {
	o.Because(s.rule, facts{})
	s.lock = s.birth(s.self, algorithm.View{N: s.n, Holder: s.self})
	s.step(host.Input{Kind: host.Request}, o)
}

// step gives the lock an input, and sends its messages.
func (s *hasty) step(in host.Input, o *algorithm.Out[letter]) {
	if err := o.StepInner(s.lock, in, &s.lockOut, 0, nil); err != nil {
		o.Fail(err)
		return
	}
	for i, m := range s.lockOut.Sends {
		o.Send(m.To, letter{Kind: m.Kind, Bytes: s.lockOut.Bytes(i)})
	}
	if s.lockOut.Entered {
		o.StopTimer(0)
		o.Enter()
	}
}
