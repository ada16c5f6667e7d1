package bank

import "github.com/stile-lock/stile/core"

// NoLock is the algorithm of machines that do not take turns: whoever asks is
// in, without a message.
func NoLock() core.Spec {
	return core.Spec{
		Name: "none", Title: "No lock",
		Wrong:   "there is no exclusion",
		Network: core.Lossy,
		Kinds:   []string{"NOTHING"},
		Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, &open{})
		}),
	}
}

// nothing is the message that is never sent.
type nothing struct{ kind uint8 }

func (m *nothing) Fields(c *core.Coder) { c.Kind(&m.kind, 0) }

// open is a door that is never closed.
type open struct{}

func (*open) Fields(*core.Coder)                            {}
func (*open) Request(out *core.Out[nothing])                { out.Enter() }
func (*open) Release(*core.Out[nothing])                    {}
func (*open) Receive(core.ID, *nothing, *core.Out[nothing]) {}
