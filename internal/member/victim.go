package member

import "github.com/stile-lock/stile/internal/codec"

// maxCycle bounds the bytes of a cycle that clients are sent. One Wait is always sent.
const maxCycle = 2048

// Clip returns a victim that is short enough for a client.
func (v *Victim) Clip() *Victim {
	size := 0
	for i, w := range v.Cycle {
		if size += len(w.Node) + len(w.Lock) + 24; size > maxCycle && i > 0 {
			return &Victim{v.How, v.Cycle[:i], v.More + len(v.Cycle) - i}
		}
	}
	return v
}

// Code codes a victim that Clip has returned.
func (v *Victim) Code(c *codec.Coder) {
	codec.Within(c, &v.How, 0, uint64(hows)-1)
	codec.List(c, &v.Cycle, maxCycle, func(w *Wait) {
		c.Text(&w.Node, MaxName)
		c.Number(&w.Inc)
		c.Number(&w.Tx)
		c.Text(&w.Lock, MaxName)
	})
	codec.Within(c, &v.More, 0, 1<<31-1)
	if c.Reads() && v.How != TimedOut && len(v.Cycle) == 0 {
		c.Fail("victim without a reason")
	}
}
