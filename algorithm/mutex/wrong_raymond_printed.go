package mutex

import "github.com/stile-lock/stile/algorithm"

// RaymondPrinted returns Raymond as some lectures print it: a process asks the holder
// only when a request arrives and it has not ASKED yet.
//
// K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion. ACM Transactions
// on Computer Systems 7(1), 1989, pages 61-77.
//
// Two lines of the paper are missing: asking again after the privilege has been passed on
// while others still wait, and resetting ASKED when the privilege arrives. So the
// processes behind the head of a queue are forgotten, and a process that has passed the
// privilege on believes forever that its REQUEST is in flight.
//
// Departures, where the print is silent: a process with the privilege that is not inside
// enters, or passes it on, when a request arrives, as by the rule for giving up the
// privilege; while it is inside it asks no process. The head leaves the queue when it is
// served, a process that gets the privilege is its holder, and USING ends with the
// critical section even if no process waits.
func RaymondPrinted(tree TreeOf) algorithm.Spec {
	s := Raymond(tree)
	s.Name, s.Title = "raymond-printed", "Raymond as printed"
	s.Wrong = "it can deadlock: a process that passes the privilege on does not ask for it again, although others wait"
	s.Fixed = "raymond"
	s.Shown = "stile-lab check raymond-printed --requests 1"
	s.Rules[raymondAsk].Text = "A process without the privilege asks for it when a request arrives, if it has not asked."
	s.Rules[raymondAsked].Text = "A process that has asked does not ask again."
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
	s.asked = asked // unchanged: only leaving resets it
}

func (s *raymondPrinted) Release(out *algorithm.Out[raymondMessage]) {
	s.using = false
	s.passOn(out)
}

// queueUp makes id wait, and asks the holder, once.
func (s *raymondPrinted) queueUp(id algorithm.ID, out *algorithm.Out[raymondMessage]) {
	enqueue(&s.raymond, id, out)
	if s.holder == s.self {
		s.passOn(out)
		return
	}
	s.ask(out)
}
