package storm

import (
	"encoding/binary"
	"errors"
	"slices"

	talk "github.com/stile-lock/stile/internal/session"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
)

// A line is a connection between a client and a process: what is sent on it arrives in
// order, or the line breaks, and nothing sent later arrives. Its ends need not be notified
// of that. One line may be slower than another, so that what was sent on an older one
// arrives after what was sent on a newer one.
type line struct {
	w      *world
	no     int     // among all lines, from 1
	number uint64  // as the client's session counts
	c      *client // nil: it is the thief's
	of     int     // how often the client had been started
	q      *proc
	boots  int // how often the process had; 0 before it has received anything
	broken bool
	prey   uint64      // the session that the thief tries to resume on it; 0 for none
	late   [2][][]byte // what has arrived at the client or the process, and is not handed over yet
}

// dial starts another connection.
func (c *client) dial(d talk.Dial) {
	w := c.w
	l := &line{w: w, no: len(w.lines) + 1, number: d.Conn, c: c, of: c.boots, q: w.addressed(d.Address)}
	w.lines = append(w.lines, l)
	c.lines = append(c.lines, l)
}

// lined returns the client's connection of this number, or nil.
func (c *client) lined(number uint64) *line {
	for _, l := range c.lines {
		if l.number == number {
			return l
		}
	}
	return nil
}

// drop forgets a connection of the client.
func (c *client) drop(l *line) {
	c.lines = slices.DeleteFunc(c.lines, func(o *line) bool { return o == l })
}

// hang closes a connection of the client; the process may be notified.
func (c *client) hang(l *line) {
	c.drop(l)
	if !l.broken && c.chance.Below(2) == 0 {
		l.send(c.id, nil)
	}
}

// send sends a frame; an empty one means that the connection is closed.
func (l *line) send(from algorithm.ID, frame []byte) {
	w := l.w
	if l.broken {
		return
	}
	kind, to := clientMsg, l.q.id
	if from == l.q.id {
		kind, to = nodeMsg, l.c.id
	}
	b := append(binary.AppendUvarint(append(w.buf[:0], kind), uint64(l.no)), frame...)
	w.buf = b
	if !w.network.send(from, to, b) || len(frame) == 0 {
		l.broken = true
	}
}

// arrived handles what has arrived on a connection.
func (w *world) arrived(to algorithm.ID, b []byte) {
	x := numbers(b[1:])
	l := w.lines[x.next()-1]
	end := 0
	if to == l.q.id {
		end = 1
	}
	if len(l.late[end]) == 0 && w.phase == stormy && w.Faults.has(Delay|Client|Break) && w.network.chance.Below(60) == 0 {
		w.At(w.Now()+1+w.network.chance.Below(int64(w.Settings.Lease)/2), overdue, algorithm.None, l.no<<1|end)
		l.late[end] = append(l.late[end], slices.Clone([]byte(x)))
		return
	}
	if len(l.late[end]) > 0 {
		l.late[end] = append(l.late[end], slices.Clone([]byte(x)))
		return
	}
	l.hand(end, x)
}

// overdue hands over what was late.
func (w *world) overdue(arg int) {
	l, end := w.lines[arg>>1-1], arg&1
	if id := [...]algorithm.ID{l.c.id, l.q.id}[end]; w.Paused(id) {
		w.At(w.Now()+ms, overdue, algorithm.None, arg)
		return
	}
	all := l.late[end]
	l.late[end] = nil
	for _, b := range all {
		l.hand(end, b)
	}
}

// hand hands over a frame, or that the connection is closed.
func (l *line) hand(end int, frame []byte) {
	if end == 1 {
		l.q.serve(l, frame)
		return
	}
	c := l.c
	if !c.up || l.of != c.boots {
		return
	}
	c.rush()
	if len(frame) == 0 {
		c.drop(l)
		c.session.Disconnected(c.now(), l.number)
	} else if err := c.session.Receive(c.now(), l.number, frame); err != nil {
		if f, _ := talk.Parse(frame); c.lost(err, &f) {
			c.crash()
			c.begin()
			return
		}
		c.w.broken(Errors, "%s refuses frame %x: %v", c.w.Name(c.id), frame, err)
	}
	c.take()
}

// lost reports whether a client refuses a WELCOME because its own cluster is lost, and was not
// recovered as the one that there is now: an older backup was. An operator then starts the client
// again.
func (c *client) lost(err error, f *talk.Frame) bool {
	var other *talk.OtherCluster
	return errors.As(err, &other) && c.w.backups.noted > 0 && !slices.Contains(f.Earlier, other.Own)
}

// snap breaks a connection of a client, and notifies both ends.
func (c *client) snap() {
	if len(c.lines) == 0 {
		return
	}
	l := c.lines[c.chance.Below(int64(len(c.lines)))]
	l.broken = true
	c.drop(l)
	c.session.Disconnected(c.now(), l.number)
	c.take()
	if l.q.state != dead && l.boots == l.q.boots && !c.w.Paused(l.q.id) {
		l.q.step(process.Input{Kind: process.Closed, Number: uint64(l.no)})
	}
}

// serve hands a client's frame to the process. A restarted process knows nothing of the
// connection.
func (q *proc) serve(l *line, frame []byte) {
	if q.state == dead {
		return
	}
	if l.boots == 0 {
		l.boots = q.boots
		q.step(process.Input{Kind: process.Opened, Number: uint64(l.no), Text: l.c.identity()})
	}
	switch {
	case l.boots != q.boots:
		l.send(q.id, nil)
	case len(frame) == 0:
		q.step(process.Input{Kind: process.Closed, Number: uint64(l.no)})
	default:
		q.step(process.Input{Kind: process.Frame, Number: uint64(l.no), Bytes: frame})
		q.robbed(l, frame)
	}
}

// reply sends the process's frame to a client.
func (q *proc) reply(e *process.Effect) {
	l := q.w.lines[e.Conn-1]
	if l.overheard(e.Bytes) {
		return
	}
	if len(e.Bytes) > 0 {
		l.send(q.id, e.Bytes)
	}
	if e.Last {
		l.send(q.id, nil)
	}
}

// known records the outcome of a client's request, if there is one.
func (q *proc) known(t member.Ticket, f func(x *ask)) {
	if x := q.asked(t); x != nil {
		f(x)
		return
	}
	q.w.broken(Events, "m%d reports the end of a client's request that has already ended", q.no)
}
