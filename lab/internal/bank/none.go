package bank

import "github.com/stile-lock/stile/algorithm"

// NoLock is the algorithm of machines that do not take turns: a machine that asks is in
// at once, without a message.
func NoLock() algorithm.Spec {
	return algorithm.Spec{
		Name: "none", Title: "No lock",
		Wrong:   "there is no mutual exclusion",
		Network: algorithm.Lossy,
		Kinds:   []string{"NOTHING"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &open{})
		}),
	}
}

// nothing is the message that is never sent.
type nothing struct{ kind uint8 }

func (m *nothing) Fields(c *algorithm.Coder) { c.Kind(&m.kind, 0) }

// open is a door that is never closed.
type open struct{}

func (*open) Fields(*algorithm.Coder)                                 {}
func (*open) Request(out *algorithm.Out[nothing])                     { out.Enter() }
func (*open) Release(*algorithm.Out[nothing])                         {}
func (*open) Receive(algorithm.ID, *nothing, *algorithm.Out[nothing]) {}
