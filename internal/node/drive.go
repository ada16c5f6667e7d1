package node

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// A tail is what remains to be done after the mutex is released.
type tail struct {
	client  *clientConn   // with something to send
	clients []*clientConn // others with something to send
	nodes   bool          // something is queued in the pool
	woken   *Hold         // holds whose callers must be woken
}

// use hands an input to the process and carries out its effects.
func (n *Node) use(in process.Input) {
	n.enter()
	if n.over {
		n.mu.Unlock()
		return
	}
	n.step(in)
	n.leave()
}

// step hands an input to the process. Its effects must be carried out next.
func (n *Node) step(in process.Input) {
	n.in = in
	n.take()
}

// take hands the input that is in place to the process, like step.
func (n *Node) take() {
	n.in.At = n.clock()
	n.p.Step(&n.in)
	n.stepped = true
	if n.meter != nil {
		if n.meter.Took(&n.in, &n.p.Out); len(n.meter.Victims) > 0 {
			n.noteVictims()
		}
	}
}

// enter acquires the mutex for the network, the disk or the timer. Applications that
// constantly lock and unlock would keep it waiting, so they check for it and give way.
func (n *Node) enter() {
	if !n.mu.TryLock() {
		n.queued.Add(1)
		n.mu.Lock()
		n.queued.Add(-1)
	}
}

// enterHere acquires the mutex for an application. If it is not free, applications queue at
// the gate.
func (n *Node) enterHere() {
	if n.queued.Load() == 0 && n.mu.TryLock() {
		return
	}
	n.gate.Lock()
	if n.queued.Load() > 0 {
		runtime.Gosched()
	}
	n.mu.Lock()
	n.gated = true
}

// leaveHere is leave for an application.
func (n *Node) leaveHere() {
	gated := n.gated
	n.gated = false
	t := n.end()
	if gated {
		n.gate.Unlock()
	}
	n.finish(&t)
}

// turnBack releases the mutex for an application that has changed nothing.
func (n *Node) turnBack() {
	gated := n.gated
	n.gated = false
	n.mu.Unlock()
	if gated {
		n.gate.Unlock()
	}
}

// leave carries out the effects of the process, releases the mutex, and sends.
func (n *Node) leave() {
	t := n.end()
	n.finish(&t)
}

// end carries out the effects of the process, sets the timer, and releases the mutex.
func (n *Node) end() (t tail) {
	n.carryOut()
	if !n.over {
		n.settle()
	}
	if len(n.dirty) > 0 {
		t.client, t.clients = n.dirtied()
	}
	t.nodes, t.woken = n.sent && !n.follows, n.woken
	n.sent, n.follows, n.woken = n.sent && n.follows, false, nil
	n.mu.Unlock()
	return t
}

// finish does what must not be done with the mutex held.
func (n *Node) finish(t *tail) {
	for h := t.woken; h != nil; {
		next := h.next
		h.next = nil
		close(h.done) // nothing uses it any longer
		h = next
	}
	if t.nodes {
		n.pool.Flush()
	}
	for _, v := range t.clients {
		v.flush()
	}
	if t.client != nil {
		t.client.flush() // last: it may have released what the others wait for
	}
}

// carryOut carries out the effects of the process, with the mutex held. Saves of a node
// without a disk count as durable at once, and questions of clients may take a step of
// their own.
func (n *Node) carryOut() {
	for n.stepped {
		n.stepped = false
		n.lease(false)
		for i := range n.p.Out.Effects {
			n.carry(&n.p.Out.Effects[i])
		}
		n.lease(true)
		for _, name := range n.p.Out.Shown {
			n.shown(name)
		}
		switch {
		case n.over:
		case len(n.acks) > 0:
			s := n.acks[0]
			n.acks = n.acks[1:]
			n.step(s)
		case len(n.asks) > 0:
			q := n.asks[0]
			n.asks = n.asks[1:]
			n.answer(&q)
		}
	}
}

// carry carries out one effect.
func (n *Node) carry(e *process.Effect) {
	switch e.Kind {
	case process.Notify:
		n.notify(&e.Event)
	case process.View:
		n.installed(e.Record)
	case process.Ended:
		n.ending(e.How)
	case process.Send:
		n.sent = true
		err := n.pool.Send(e.To, e.Bytes, e.Lossy)
		if err != nil && !errors.Is(err, transport.ErrDown) && !errors.Is(err, transport.ErrDropped) {
			n.c.Log.Debug("message not sent", "address", e.To, "err", err)
		}
	case process.Reply:
		n.reply(e)
	case process.Ask:
		q := *e.Question
		q.Bytes = append([]byte(nil), q.Bytes...)
		n.asks = append(n.asks, q)
	case process.RolledBack:
		n.rolledBack(e.Number, e.Record)
	case process.Save, process.Erase, process.Remember:
		n.disk.put(e)
	case process.HangUp:
		n.hung = e.Err
	case process.Cut:
		n.cut = e.Err
	case process.ClaimEnded:
		n.claimed(e)
	case process.Marked:
		n.marked(e.Mark)
	case process.LinkEnded:
		n.c.Log.Warn("link ended until the next view", "peer", n.named(e.Peer), "address", e.To, "err", e.Err)
	case process.Failed:
		n.fail(e.Err)
	}
}

// lease publishes how long locks may be held through this node, for holders that check
// without the mutex. An earlier deadline is published before the effects of the step, so before
// anything that it sends leaves the node, and a later one after them: a holder whose lock is
// lost in the step must not read the deadline of those that enter in it.
func (n *Node) lease(later bool) {
	d := member.Instant(0)
	if m := n.p.Member(); m != nil && m.Usable(n.in.At) {
		d = m.Deadline()
	}
	if d == n.known || d > n.known != later || n.over {
		return
	}
	n.measureLease(n.known, d)
	n.known = d
	n.deadline.Store(int64(d))
}

// usable reports whether locks may be held through this node now. The mutex must be held.
func (n *Node) usable() bool {
	m := n.p.Member()
	return m != nil && m.Usable(n.clock())
}

// settle runs when all effects are carried out: it notifies waiting goroutines and sets the
// timer.
func (n *Node) settle() {
	phase := n.p.Phase()
	if leased := phase == process.Member && (n.leased || n.usable()); phase != n.phase || leased != n.leased {
		n.phase, n.leased = phase, leased
		n.tell()
	}
	n.endFallback()
	if len(n.tails) > 0 {
		n.dropTails()
	}
	due := n.p.Out.Wake
	if due >= n.armed {
		return
	}
	n.armed = due
	// A timer does not count the time during which the machine is suspended, so it fires
	// now and then to check.
	n.timer.Reset(min(max(until(n.in.At, due), 0), time.Duration(n.c.Settings.Renew)/2))
}

// Turn takes one turn of the node's loop, as its timer does, and returns when that is done:
// a node that is stuck never returns. A node that has ended does nothing.
func (n *Node) Turn() { n.wake() }

// ticks wakes the node whenever its timer fires. A goroutine for each time would have to
// grow its stack each time.
func (n *Node) ticks() {
	for {
		select {
		case <-n.timer.C:
			n.wake()
		case <-n.ended:
			return
		}
	}
}

// wake is called when the timer has fired.
func (n *Node) wake() {
	n.enter()
	if n.over {
		n.mu.Unlock()
		return
	}
	n.armed = member.Never
	n.step(process.Input{Kind: process.Wake})
	n.leave()
}

// tell wakes the goroutines that wait for a change, to check again.
func (n *Node) tell() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// named returns the name of a member, by its incarnation.
func (n *Node) named(inc uint64) string {
	r := n.p.Record()
	if i := r.Rank(inc); i >= 0 {
		return r.Members[i].Name
	}
	return ""
}

// ending handles the end of the node's membership.
func (n *Node) ending(how views.Ending) {
	n.loseLeaders()
	why := "the other members evicted it"
	if how == views.Replaced {
		why = "its voters now belong to another cluster"
		n.cluster = 0
		_ = n.pool.SetExtra(greeting(0, &views.Record{})) // it is not too long
	}
	switch {
	case how == views.Left:
		n.c.Log.Info("node left the cluster")
	case how == views.Stopped:
		n.c.Log.Info("node stopped, and keeps its place in the cluster")
	case n.p.Phase() == process.Over:
		n.c.Log.Warn("node is no longer a member", "why", why)
	default:
		n.c.Log.Warn("node is no longer a member: joining again", "why", why)
		n.seek()
	}
	if n.p.Phase() == process.Over {
		n.left, n.how = true, how
		n.tell()
	}
}

// answer answers a client's question, or makes it wait. A listing takes time: the goroutine
// that has received the question makes it when it has released the mutex.
func (n *Node) answer(q *session.Question) {
	if v := n.conns[q.Conn]; q.What == AskLocks && v != nil {
		v.lists = append(v.lists, *q)
		return
	}
	waits := n.awaitsEnd(q) || q.What == AskLeader && n.conns[q.Conn] != nil && n.postpone(&poll{Question: *q})
	if !waits {
		n.answerNow(q)
	}
}

// answerNow answers a client's question.
func (n *Node) answerNow(q *session.Question) {
	v := n.conns[q.Conn]
	if v == nil {
		return // it has disconnected
	}
	b, err := n.tellAbout(q, &v.who)
	if len(b) > maxAnswer {
		b, err = nil, errLong
	}
	n.sendAnswer(q, b, err)
}

var errLong = fmt.Errorf("the answer exceeds %d bytes", maxAnswer)

// sendAnswer sends the answer to a client's question.
func (n *Node) sendAnswer(q *session.Question, b []byte, err error) {
	for more := true; more; {
		b, err, more = n.sendPart(q, b, err)
	}
}

// sendPart sends a part of an answer, or of the error instead of it, and returns the rest.
func (n *Node) sendPart(q *session.Question, b []byte, err error) (rest []byte, _ error, more bool) {
	if err != nil && len(b) == 0 {
		b = []byte(err.Error())
	}
	part := b[:min(len(b), session.MaxBytes)]
	rest = b[len(part):]
	f := session.Frame{Kind: session.Answer, Number: q.Number, OK: err == nil, Bytes: part, Last: len(rest) == 0}
	n.post(q.Conn, f.AppendTo(nil), false)
	if n.meter != nil {
		n.meter.ToClients[session.Answer]++
	}
	return rest, err, !f.Last
}
