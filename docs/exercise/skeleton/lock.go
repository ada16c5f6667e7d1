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
	// TODO, step 1: ask all other processes, and enter only when all have sent OK.
	l.state = held
	out.Enter()
}

// Receive is called when a message arrives.
func (l *lock) Receive(from algorithm.ID, m *message, out *algorithm.Out[message]) {
	// TODO, step 2: answer a REQUEST, or defer it; count an OK.
}

// Release is called when this process leaves.
func (l *lock) Release(out *algorithm.Out[message]) {
	// TODO, step 3: send OK to the processes whose request was deferred.
	l.state = released
}

// TODO, step 5: applications talk, too.

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
