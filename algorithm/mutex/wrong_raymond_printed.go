package mutex

import "github.com/stile-lock/stile/algorithm"

// RaymondPrinted is Raymond as some lectures print it: a process asks the holder
// only when a request comes and it has not ASKED yet.
//
// K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion. ACM
// Transactions on Computer Systems 7(1), 1989, pages 61-77.
//
// Two lines of the paper are missing: to ask again after the privilege has been
// passed on while others still wait, and to forget ASKED when it comes. So those
// behind the head of a queue are forgotten, and a process that has passed the
// privilege on believes for ever that its REQUEST is under way.
//
// Departures, where the print is silent: a process with the privilege that is
// not inside enters, or passes it on, when a request comes, as by the rule for
// getting rid of it; while it is inside it asks nobody. The head leaves the queue
// when it is served, a process that gets the privilege is its holder, and USING
// ends with the section also if nobody waits.
func RaymondPrinted(tree TreeOf) algorithm.Spec {
	s := Raymond(tree)
	s.Name, s.Title = "raymond-printed", "Raymond as printed"
	s.Wrong = "it can come to a standstill: who passes the privilege on does not ask for it again, although others wait"
	s.Fixed = "raymond"
	s.Shown = "stile check raymond-printed --requests 1"
	s.Plan = func(n int) (algorithm.Birth, error) {
		t, err := tree(n)
		if err != nil {
			return nil, err
		}
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &raymondPrinted{*newRaymond(self, v, t)})
		}, nil
	}
	return s
}

type raymondPrinted struct{ raymond }

func (s *raymondPrinted) Request(out *algorithm.Out[raymondMessage]) {
	s.queueUp(s.self, out)
}

func (s *raymondPrinted) Receive(from algorithm.ID, m *raymondMessage, out *algorithm.Out[raymondMessage]) {
	if m.Kind == raymondRequest {
		s.queueUp(from, out)
		return
	}
	s.holder = s.self
	asked := s.asked
	s.passOn(out)
	s.asked = asked // as it was: only leaving resets it
}

func (s *raymondPrinted) Release(out *algorithm.Out[raymondMessage]) {
	s.using = false
	s.passOn(out)
}

// queueUp lets id wait, and asks the holder, once.
func (s *raymondPrinted) queueUp(id algorithm.ID, out *algorithm.Out[raymondMessage]) {
	s.enqueue(id)
	if s.holder == s.self {
		s.passOn(out)
		return
	}
	s.ask(out)
}
