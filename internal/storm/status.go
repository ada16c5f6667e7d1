package storm

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// Clients ask for the record now and then, like an operator who checks the state of the
// cluster, and the oracle judges the answers.

// A curious is what a client has asked, and the voter that it asks.
type curious struct {
	chance kernel.Rand
	number uint64
	open   []question
	voter  algorithm.ID // the leader as last reported; None if it was not
}

// A question is a question that is not answered yet.
type question struct {
	number uint64
	epoch  uint64 // epoch of the newest committed view when it was asked
}

// maxOpen is the maximum number of unanswered questions.
const maxOpen = 16

// wonder asks some process, or the reported leader, for the record now and then.
func (c *client) wonder() {
	x, w := &c.curious, c.w
	if x.chance.Below(3) > 0 {
		return
	}
	to := w.procs[x.chance.Below(int64(len(w.procs)))].id
	if x.voter != algorithm.None && x.chance.Below(4) > 0 {
		to = x.voter
	}
	if x.number++; len(x.open) == maxOpen {
		x.open = append(x.open[:0], x.open[1:]...)
	}
	x.open = append(x.open, question{x.number, w.oracle.epoch()})
	m := views.Message{Kind: views.Status, Number: x.number}
	w.buf = m.AppendTo(append(w.buf[:0], process.Service))
	w.network.send(c.id, to, w.buf)
}

// answered handles the answer of a process.
func (c *client) answered(b []byte) {
	if !c.up {
		return
	}
	m, err := views.ParseMessage(b)
	switch {
	case err != nil:
		c.w.broken(Errors, "%s receives a malformed message: %v", c.w.Name(c.id), err)
	case m.Kind == views.NotLeader:
		c.curious.voter = algorithm.None
		if q := c.w.addressed(m.Address); q != nil {
			c.curious.voter = q.id
		}
	case m.Kind == views.State:
		c.learn(&m)
	}
}

// learn judges an answer: it is a committed view that was not outdated when the client
// asked.
func (c *client) learn(m *views.Message) {
	w := c.w
	for i, x := range c.curious.open {
		if x.number != m.Number {
			continue
		}
		c.curious.open = append(c.curious.open[:i], c.curious.open[i+1:]...)
		w.result.Reads++
		r, err := views.ParseRecord(m.Record)
		switch {
		case err != nil || !w.oracle.isView(r.Epoch, sum(m.Record)) && !w.oracle.was(r.Epoch, sum(m.Record)):
			w.broken(Views, "%s receives a view of epoch %d that was not committed: %v", w.Name(c.id), r.Epoch, err)
		case len(r.Keys) > 0:
			w.broken(Owners, "%s receives the keys for tickets", w.Name(c.id))
		case r.Epoch < x.epoch:
			w.broken(Reads, "%s receives the view of epoch %d, but that of epoch %d was committed when it asked", w.Name(c.id), r.Epoch, x.epoch)
		}
		return
	}
}
