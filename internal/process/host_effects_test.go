package process

import (
	"encoding/binary"
	"fmt"
	"google.golang.org/protobuf/proto"
	"hash/maphash"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views/raft"
	pb "go.etcd.io/raft/v3/raftpb"
)

// step hands an input to a process and carries out the effects.
func (n *node) step(in Input) {
	n.c.t.Helper()
	if n.down {
		n.c.t.Fatalf("%s takes %v, but it is not running", n.name, in.Kind)
	}
	if n.sum != n.hash() {
		n.c.t.Fatalf("%s: what the effects of the last step point to has changed before %v", n.name, in.Kind)
	}
	for i := range n.in.Bytes { // the process may keep nothing of it
		n.in.Bytes[i] = 0xa5
	}
	n.in = in
	n.in.Bytes = slices.Clone(in.Bytes)
	n.in.At = n.c.now
	was := n.Phase()
	n.Step(&n.in)
	n.effects = n.Out.Effects
	n.sum = n.hash()
	if in.Kind == Lock && n.Out.Err == nil {
		n.requests[n.Out.Ticket] = in.Text
	}
	n.check(was)
	n.carryOut()
	if n.Member() != nil {
		n.lease = n.Member().Deadline() + act
	}
	if n.Phase() == Over && !n.down {
		n.stop()
	}
}

var seed = maphash.MakeSeed()

// hash is of all that effects point to.
func (n *node) hash() uint64 {
	if n.Process == nil {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range n.Out.Effects {
		e := &n.Out.Effects[i]
		h.WriteByte(byte(e.Kind))
		h.Write(e.Bytes)
		if e.Question != nil {
			h.Write(e.Question.Bytes)
		}
		if e.Record != nil {
			h.Write(e.Record.AppendTo(nil))
		}
	}
	return h.Sum64()
}

// first reports whether an effect must come before those of which others can learn.
func first(k EffectKind) bool { return k <= RolledBack || k > Failed }

// check judges what came of a step: the order of the effects, and that nothing comes
// of one that has ended.
func (n *node) check(was Phase) {
	t, out := n.c.t, &n.Out
	t.Helper()
	if was == Over && (len(out.Effects) > 0 || out.Err != ErrOver) {
		t.Fatalf("%s has ended, and takes %v: %d effects, error %v", n.name, n.in.Kind, len(out.Effects), out.Err)
	}
	if n.Phase() == Over && out.Wake != member.Never {
		t.Fatalf("%s has ended, and wants to be woken at %d", n.name, out.Wake)
	}
	others := false // effects by which others learn of something
	for i := range out.Effects {
		e := &out.Effects[i]
		switch {
		case e.Kind == Failed:
			if others || i != len(out.Effects)-1 {
				t.Fatalf("%s fails, and does something else too: %s", n.name, list(out.Effects))
			}
		case first(e.Kind):
			if others {
				t.Fatalf("%s: effect %d comes too late: %s", n.name, i, list(out.Effects))
			}
		default:
			others = true
		}
		n.note(e)
	}
}

// list names effects.
func list(all []Effect) string {
	s := ""
	for i := range all {
		s += fmt.Sprint(" ", all[i].Kind)
	}
	return s
}

// note adds an effect to the digest of what a process does.
func (n *node) note(e *Effect) {
	if !n.digests {
		return
	}
	var h maphash.Hash
	h.SetSeed(seed)
	maphash.WriteComparable(&h, n.sums)
	fmt.Fprint(&h, n.c.now, e.Kind, e.Lossy, e.Last, e.How, e.To, e.Conn, e.Number, e.Peer, e.Event, e.Err)
	h.Write(e.Bytes)
	if e.Record != nil {
		h.Write(e.Record.AppendTo(nil))
	}
	n.sums = h.Sum64()
}

// carryOut does what a process wants done.
func (n *node) carryOut() {
	c := n.c
	c.t.Helper()
	for i := range n.Out.Effects {
		switch e := &n.Out.Effects[i]; e.Kind {
		case Notify:
			n.notify(&e.Event)
		case View:
			if n.asks != nil && e.Record == n.asks.Record() {
				c.t.Fatalf("%s hands out its own record, which may change within the step", n.name)
			}
			if e.Record.Epoch <= n.view {
				c.t.Fatalf("%s installs epoch %d after %d", n.name, e.Record.Epoch, n.view)
			}
			n.view = e.Record.Epoch
			n.views = append(n.views, n.view)
		case Ended:
			n.view = 0
			n.ended = append(n.ended, e.How)
			if len(n.held) > 0 {
				c.t.Fatalf("%s is no longer a member, and its applications hold %d locks", n.name, len(n.held))
			}
		case Send:
			n.send(e)
		case Reply:
			n.replies = append(n.replies, keep(e))
			n.reply(e)
		case Ask:
			n.asked = append(n.asked, keep(e))
		case RolledBack:
			n.back = append(n.back, [2]uint64{e.Number, e.Record.Before})
		case Save, Erase, Remember:
			if n.number++; e.Number != n.number {
				c.t.Fatalf("%s: save %d after %d others", n.name, e.Number, n.number-1)
			}
			n.saves = append(n.saves, save{e.Number, e.Kind == Erase, e.Kind == Remember, slices.Clone(e.Bytes)})
			n.runDisk()
		case HangUp:
			n.hangUps = append(n.hangUps, keep(e))
			n.hangUp(e.To)
		case Cut:
			n.cuts = append(n.cuts, keep(e))
			if l := c.line(e.Conn); l != nil {
				l.breaks()
			}
		case ClaimEnded:
			n.claims = append(n.claims, keep(e))
		case LinkEnded:
			n.linkEnds = append(n.linkEnds, keep(e))
		case Failed:
			n.failed = e.Err
		}
	}
}

// keep returns an effect whose bytes stay.
func keep(e *Effect) Effect {
	k := *e
	k.Bytes = slices.Clone(e.Bytes)
	if e.Question != nil {
		q := *e.Question
		q.Bytes = slices.Clone(q.Bytes)
		k.Question = &q
	}
	return k
}

// send sends a message.
func (n *node) send(e *Effect) {
	c := n.c
	c.t.Helper()
	m := &message{n.name, e.To, slices.Clone(e.Bytes), e.Lossy}
	switch m.bytes[0] {
	case Packet:
		epoch, from, _, err := member.PacketEnds(m.bytes[1:])
		if err != nil || epoch != n.view || from != n.Inc() {
			c.t.Fatalf("%s has installed epoch %d as incarnation %d, and sends a packet of epoch %d from %d: %v", n.name, n.view, n.Inc(), epoch, from, err)
		}
		if m.lossy {
			c.t.Fatalf("%s: a packet may get lost", n.name)
		}
	case voterMessage:
		n.promised(m.bytes[1:])
	}
	if c.sent != nil {
		c.sent(m)
	}
	to := c.at(m.to)
	if to == nil || c.lost != nil && c.lost(m) {
		return
	}
	delay := ms
	if c.delay != nil {
		delay = c.delay(m)
	}
	broken := c.breaks[pair(m.from, m.to)]
	if c.cut[pair(m.from, m.to)] || to.down {
		return
	}
	arrive := func() {
		if !to.down && c.breaks[pair(m.from, m.to)] == broken {
			to.step(Input{Kind: Message, Text: m.from, Bytes: m.bytes})
		}
	}
	c.after(delay, arrive)
	if c.rng != nil && c.rng.IntN(30) == 0 { // it comes twice
		c.after(delay+member.Instant(c.rng.Int64N(int64(50*ms))), arrive)
	}
}

// promised checks that what a voter says to others is on its disk, as far as they rely
// on that: its vote, and the entries that it confirms.
func (n *node) promised(b []byte) {
	t, s := n.c.t, &n.durable
	t.Helper()
	to, k := binary.Uvarint(b)
	from, l := binary.Uvarint(b[k:])
	_, j := binary.Uvarint(b[k+l:])
	m := new(pb.Message)
	if err := proto.Unmarshal(b[k+l+j+1+8:], m); err != nil {
		t.Fatal(err)
	}
	switch {
	case from != s.ID:
		t.Fatalf("%s speaks as voter %d, and its disk is that of %d", n.name, from, s.ID)
	case m.GetType() == pb.MsgVoteResp && !m.GetReject() && (s.Hard.Term < m.GetTerm() || s.Hard.Term == m.GetTerm() && s.Hard.Vote != to):
		t.Fatalf("%s votes for %d in term %d before that is durable: %+v", n.name, to, m.GetTerm(), s.Hard)
	case m.GetType() == pb.MsgAppResp && !m.GetReject() && (s.Hard.Term < m.GetTerm() || s.Last() < m.GetIndex()):
		t.Fatalf("%s confirms index %d in term %d before that is durable: %d, %+v", n.name, m.GetIndex(), m.GetTerm(), s.Last(), s.Hard)
	}
}

// hangUp breaks a connection, which is made again soon.
func (n *node) hangUp(to string) {
	c := n.c
	if o := c.at(to); o != nil && o != n {
		life := n.life
		c.after(0, func() {
			if n.life == life && !n.down && !c.cut[pair(n.name, to)] {
				c.part(n, o)
				c.after(10*ms, func() { c.join(n, o) })
			}
		})
	}
}

// runDisk has the disk begin the next save, unless it is doing one.
func (n *node) runDisk() {
	if n.saving || n.stalled || len(n.saves) == 0 {
		return
	}
	n.saving = true
	life := n.life
	n.c.after(n.slow, func() {
		if n.life != life || n.down {
			return
		}
		if n.saving = false; n.stalled {
			return
		}
		s := n.saves[0]
		n.saves = n.saves[1:]
		in := Input{Kind: Saved, Number: s.number}
		if err := n.do(s); err != nil {
			in.Text = err.Error()
		}
		n.step(in)
		n.runDisk()
	})
}

// do has the disk do something.
func (n *node) do(s save) error {
	if s.past {
		n.past = s.bytes
		return nil
	}
	if s.erase {
		n.durable = raft.State{}
		return n.drive.Erase()
	}
	if err := n.drive.Write(s.bytes); err != nil {
		return err
	}
	n.c.founded = true
	b, err := raft.ParseBatch(s.bytes)
	if err == nil {
		err = n.durable.Apply(b)
	}
	return err
}

// stall makes the disk stop, or continue.
func (n *node) stall(stalled bool) {
	n.stalled = stalled
	n.runDisk()
}

// notify tells an application what became of its request.
func (n *node) notify(e *member.Event) {
	c := n.c
	c.t.Helper()
	name, ok := n.requests[e.Ticket]
	if !ok {
		c.t.Fatalf("%s tells %+v of a request that is not known", n.name, *e)
	}
	n.told = append(n.told, *e)
	if e.Kind == member.Held {
		h := &hold{who: n.name, name: name, token: e.Token}
		h.until = func() member.Instant { return n.lease }
		n.held[e.Ticket] = h
		c.grant(h)
		return
	}
	if h := n.held[e.Ticket]; h != nil {
		if e.Kind != member.Lost || e.Token != h.token {
			c.t.Fatalf("%s held %s with %v, and is told %+v", n.name, name, h.token, *e)
		}
		until := c.now
		if e.Cause == member.Lease { // one that looked just before may still act
			until = n.lease
		}
		h.until = func() member.Instant { return until }
	}
	delete(n.held, e.Ticket)
	delete(n.requests, e.Ticket)
}

// grant judges that a lock is granted: it is not held elsewhere, and its token is
// higher than all before.
func (c *cluster) grant(h *hold) {
	c.t.Helper()
	c.grants++
	c.holds[h.name] = slices.DeleteFunc(c.holds[h.name], func(o *hold) bool { return o.until() <= c.now })
	for _, o := range c.holds[h.name] {
		c.t.Fatalf("%d: %s acquires %s with %v, and %s holds it with %v until %d", c.now/ms, h.who, h.name, h.token, o.who, o.token, o.until())
	}
	c.holds[h.name] = append(c.holds[h.name], h)
	if last := c.tokens[h.name]; !last.Less(h.token) {
		c.t.Fatalf("%s acquires %s with %v after %v", h.who, h.name, h.token, last)
	}
	c.tokens[h.name] = h.token
}

// over records that a hold can no longer be acted on.
func (c *cluster) over(h *hold) {
	c.holds[h.name] = slices.DeleteFunc(c.holds[h.name], func(o *hold) bool { return o == h })
}

// release notes that an application no longer holds a lock.
func (n *node) release(t member.Ticket) {
	n.c.over(n.held[t])
	delete(n.held, t)
	delete(n.requests, t)
}

// ask requests a lock.
func (n *node) ask(name string) member.Ticket {
	n.c.t.Helper()
	n.step(Input{Kind: Lock, Text: name})
	if n.Out.Err != nil {
		n.c.t.Fatalf("%s requests %s: %v", n.name, name, n.Out.Err)
	}
	return n.Out.Ticket
}

// lock requests a lock, and waits until it is held.
func (n *node) lock(name string) member.Ticket {
	n.c.t.Helper()
	t := n.ask(name)
	n.c.until(n.name+" holds "+name, func() bool { return n.held[t] != nil })
	return t
}

// unlock releases a lock that is held.
func (n *node) unlock(t member.Ticket) {
	n.c.t.Helper()
	h := n.held[t]
	n.release(t)
	if n.step(Input{Kind: Unlock, Text: h.name, Token: h.token}); n.Out.Err != nil {
		n.c.t.Fatalf("%s releases %s: %v", n.name, h.name, n.Out.Err)
	}
}

// lostOnes returns the causes of what was lost or stopped.
func (n *node) lostOnes(kind member.EventKind) (all []member.Cause) {
	for _, e := range n.told {
		if e.Kind == kind {
			all = append(all, e.Cause)
		}
	}
	return all
}
