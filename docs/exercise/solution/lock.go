// Package exercise holds Ricart and Agrawala's algorithm, which the reader of
// docs/exercise.md writes.
package exercise

import "github.com/stile-lock/stile/algorithm"

// The kinds of messages.
const request, ok uint8 = 0, 1

type message struct {
	Kind  uint8
	Clock algorithm.Time // the sender's clock
	Time  algorithm.Time // REQUEST: its stamp
}

func (m *message) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, ok)
	c.Time("clock", &m.Clock)
	if m.Kind == request {
		c.Time("time", &m.Time)
	}
}

// The states of a process.
const released, wanted, held uint8 = 0, 1, 2

type lock struct {
	self algorithm.ID
	n    int // number of processes

	state    uint8
	clock    algorithm.Time // stamp of the next request
	asked    algorithm.Time // WANTED: stamp of our request; none otherwise
	missing  algorithm.Set  // WANTED: processes whose OK we do not have
	deferred algorithm.Set  // processes to which we owe an OK
}

func (l *lock) Fields(c *algorithm.Coder) {
	c.Uint8("state", &l.state, "RELEASED", "WANTED", "HELD")
	c.Time("clock", &l.clock)
	c.Time("asked", &l.asked)
	c.Set("missing", &l.missing)
	c.Set("deferred", &l.deferred)
}

// Request is called when this process wants to enter.
func (l *lock) Request(out *algorithm.Out[message]) {
	l.state = wanted
	l.asked = l.clock.Tick()
	l.missing.Fill(l.n)
	l.missing.Remove(l.self)
	out.Broadcast(message{Kind: request, Clock: l.clock, Time: l.asked})
	l.enter(out)
}

// enter enters if all other processes have sent OK.
func (l *lock) enter(out *algorithm.Out[message]) {
	if l.state == wanted && l.missing.Empty() {
		l.state = held
		l.asked = algorithm.Time{}
		out.Enter()
	}
}

// Receive is called when a message arrives.
func (l *lock) Receive(from algorithm.ID, m *message, out *algorithm.Out[message]) {
	l.clock.See(m.Clock)
	if m.Kind == ok {
		l.missing.Remove(from)
		l.enter(out)
		return
	}
	if l.first(algorithm.Stamp{Time: m.Time, ID: from}) {
		l.deferred.Add(from)
		return
	}
	out.Send(from, message{Kind: ok, Clock: l.clock})
}

// first reports whether this process goes before another's request.
func (l *lock) first(other algorithm.Stamp) bool {
	ours := algorithm.Stamp{Time: l.asked, ID: l.self}
	return l.state == held || l.state == wanted && ours.Less(other)
}

// Release is called when this process leaves.
func (l *lock) Release(out *algorithm.Out[message]) {
	l.state = released
	out.Multicast(&l.deferred, message{Kind: ok, Clock: l.clock})
	l.deferred.Clear()
}

// Clock returns the clock that is sent along when applications talk.
func (l *lock) Clock() algorithm.Time { return l.clock }

// Hear merges the clock that arrives with a message between applications.
func (l *lock) Hear(t algorithm.Time) { l.clock.See(t) }

// Mine returns the lock for the hosts: the simulator, the checker and the bank.
func Mine() algorithm.Spec {
	return algorithm.Spec{
		Name: "mine", Title: "My Ricart-Agrawala",
		Network: algorithm.Unordered,
		Kinds:   []string{"REQUEST", "OK"},
		Theory:  algorithm.Theory{Order: "by stamp"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			l := &lock{self: self, n: v.N, clock: algorithm.First()}
			if v.Busy && self == v.Holder {
				l.state = held
			}
			return algorithm.New(self, v, l)
		}),
	}
}
