// Package first holds the algorithms developed in docs/your-first-algorithm.md.
package first

import "github.com/stile-lock/stile/algorithm"

// The kinds of messages.
const want, pass uint8 = 0, 1

type message struct{ Kind uint8 }

func (m *message) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, pass)
	if m.Kind == pass {
		c.Token()
	}
}

// The states of a process.
const idle, waiting, inside uint8 = 0, 1, 2

type baton struct {
	self  algorithm.ID
	state uint8
	here  bool          // whether the baton is here
	wants algorithm.Set // processes that have shouted, and have not had the baton from here since
}

func (b *baton) Fields(c *algorithm.Coder) {
	c.Uint8("state", &b.state, "idle", "waiting", "inside")
	c.Bool("baton", &b.here)
	c.Set("wants", &b.wants)
	if b.here {
		c.Token()
	}
}

func (b *baton) Request(out *algorithm.Out[message]) {
	if b.here {
		b.state = inside
		out.Enter()
		return
	}
	b.state = waiting
	out.Broadcast(message{Kind: want})
}

func (b *baton) Release(out *algorithm.Out[message]) {
	b.state = idle
	b.handOn(out)
}

// handOn passes the baton to the next process round the table that wants it.
func (b *baton) handOn(out *algorithm.Out[message]) {
	if !b.here || b.state == inside || b.wants.Empty() {
		return
	}
	next := b.wants.Next(b.self + 1)
	if next == algorithm.None {
		next = b.wants.Next(0)
	}
	b.wants.Remove(next)
	b.here = false
	out.Send(next, message{Kind: pass})
}

func (b *baton) Receive(from algorithm.ID, m *message, out *algorithm.Out[message]) {
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

// Baton returns a toy algorithm: the process that has the baton may enter.
func Baton() algorithm.Spec {
	atMost := func(n int) algorithm.Range { return algorithm.Range{Hi: 2 * float64(n-1)} }
	return algorithm.Spec{
		Name: "baton", Title: "The baton",
		Network: algorithm.Unordered,
		Endless: "an old shout may still be under way when the next one is sent",
		Kinds:   []string{"WANT", "BATON"},
		Theory:  algorithm.Theory{Messages: algorithm.Cost{Text: "at most 2(N-1)", Any: atMost}, Order: "round the table"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			b := &baton{self: self, here: self == v.Holder}
			if b.here && v.Busy {
				b.state = inside
			}
			return algorithm.New(self, v, b)
		}),
	}
}
