// Package first holds the algorithms that docs/your-first-algorithm.md writes.
package first

import "github.com/stile-lock/stile/core"

// The kinds of messages.
const want, pass uint8 = 0, 1

type message struct{ Kind uint8 }

func (m *message) Fields(c *core.Coder) {
	c.Kind(&m.Kind, pass)
	if m.Kind == pass {
		c.Token()
	}
}

// Where a process stands.
const idle, waiting, inside uint8 = 0, 1, 2

type baton struct {
	self  core.ID
	state uint8
	here  bool     // the baton is here
	wants core.Set // who has shouted, and has not had the baton from here since
}

func (b *baton) Fields(c *core.Coder) {
	c.Uint8("state", &b.state, "idle", "waiting", "inside")
	c.Bool("baton", &b.here)
	c.Set("wants", &b.wants)
	if b.here {
		c.Token()
	}
}

func (b *baton) Request(out *core.Out[message]) {
	if b.here {
		b.state = inside
		out.Enter()
		return
	}
	b.state = waiting
	out.Broadcast(message{Kind: want})
}

func (b *baton) Release(out *core.Out[message]) {
	b.state = idle
	b.handOn(out)
}

// handOn gives the baton to the next one round the table who wants it.
func (b *baton) handOn(out *core.Out[message]) {
	if !b.here || b.state == inside || b.wants.Empty() {
		return
	}
	next := b.wants.Next(b.self + 1)
	if next == core.None {
		next = b.wants.Next(0)
	}
	b.wants.Remove(next)
	b.here = false
	out.Send(next, message{Kind: pass})
}

func (b *baton) Receive(from core.ID, m *message, out *core.Out[message]) {
	switch m.Kind {
	case want:
		b.wants.Add(from)
	case pass:
		b.here = true
		if b.state == waiting {
			b.state = inside
			out.Enter()
		}
	}
	b.handOn(out)
}

// Baton is a toy: who has the baton may enter.
func Baton() core.Spec {
	atMost := func(n int) core.Range { return core.Range{Hi: 2 * float64(n-1)} }
	return core.Spec{
		Name: "baton", Title: "The baton",
		Network: core.Unordered,
		Endless: "an old shout may still be under way when the next one is sent",
		Kinds:   []string{"WANT", "BATON"},
		Theory:  core.Theory{Messages: core.Cost{Text: "at most 2(N-1)", Any: atMost}, Order: "round the table"},
		Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			b := &baton{self: self, here: self == v.Holder}
			if b.here && v.Busy {
				b.state = inside
			}
			return core.New(self, v, b)
		}),
	}
}
