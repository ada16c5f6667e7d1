package storm

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A block is a lock that was delegated to a client, as the oracle knows it: the client may
// enter with each of its counts once, in their order.
type block struct {
	inc   uint64       // of the process that has delegated the lock
	first member.Token // with which the process has granted it
	last  uint64       // last count
	count uint64       // of the client's last entry
	over  bool         // the process no longer holds the lock for the client, or no longer as delegated
}

// granted records that a process has granted a lock to a client, perhaps as delegated.
func (o *oracle) granted(q *proc, x *ask) {
	l := &o.locks[x.lock]
	if l.grants == nil {
		l.grants = map[member.Token]bool{}
	}
	l.grants[x.token] = true
	if x.last == 0 {
		return
	}
	o.w.result.Delegations++
	if x.last < x.token.Count {
		o.w.broken(Events, "%s: m%d delegates it with %v to %d", o.w.names[x.lock], q.no, x.token, x.last)
	}
	l.blocks = append(l.blocks, block{inc: q.inc, first: x.token, last: x.last, count: x.token.Count - 1})
}

// block returns the block that contains a token, or nil.
func (l *judged) block(t member.Token) *block {
	for i := len(l.blocks) - 1; i >= 0; i-- {
		if b := &l.blocks[i]; b.first.Epoch == t.Epoch && b.first.Count <= t.Count && t.Count <= b.last {
			return b
		}
	}
	return nil
}

// next judges the token of a client's entry: a process has granted it, or a block that is
// delegated to the client contains it. Each entry takes the next count of the block, and none
// comes when the delegation has ended, unless an operator has ended it and the client does
// not know.
func (o *oracle) next(l *judged, name string, h *hold) {
	w, t, b := o.w, h.token, l.block(h.token)
	if c := h.c.c; !c.session.Valid(h.c.request, c.now()) {
		w.broken(Leased, "%s: %s enters with %v, and its session has expired", name, h.name(), t)
	}
	if granted := l.grants[t]; b == nil || t == b.first {
		if delete(l.grants, t); !granted {
			w.broken(Tokens, "%s: %s enters with %v, which no process has granted", name, h.name(), t)
		}
	}
	if b == nil {
		return
	}
	was := member.Token{Epoch: t.Epoch, Count: b.count}
	if b.count++; t.Count != b.count {
		w.broken(Tokens, "%s: %s enters with %v after %v", name, h.name(), t, was)
	}
	if t == b.first {
		return // judged at the process
	}
	w.result.Reentries++
	freed := l.freedBy(b.first)
	switch h.freed = h.freed || freed != nil; {
	case h.freed || !w.within():
	case b.over:
		w.broken(Tokens, "%s: %s enters with %v, but is no longer delegated the lock", name, h.name(), t)
	case !l.last.Less(t):
		w.broken(Tokens, "%s: token %v of %s follows %v", name, t, h.name(), l.last)
	case t.Epoch < l.letGo:
		w.broken(Clearing, "%s: %s enters with %v after the home of epoch %d has released or lent the lock", name, h.name(), t, l.letGo)
	}
	for i := range l.holds {
		if other := &l.holds[i]; other.c == nil && other.granted == b.first {
			other.token = t
		}
	}
	l.done = slices.DeleteFunc(l.done, func(d member.Token) bool { return d == was })
	if l.last.Less(t) {
		l.last, l.alone = t, t
	}
	c := o.counted(h.c.lock, t.Epoch)
	*c = max(*c, t.Count)
}

// kept judges a client that keeps a delegated lock as an ordinary one, with the token of its
// present entry.
func (q *proc) kept(x *ask, t member.Token) {
	o := &q.w.oracle
	o.named(q, x, t.Count)
	l := &o.locks[x.lock]
	for i := range l.holds {
		if h := &l.holds[i]; h.q == q && h.c == nil && h.granted == x.token {
			h.granted, h.token = t, t
		}
	}
	x.token, x.last = t, 0
}

// named judges the count of a client's last entry, as the client has named it.
func (o *oracle) named(q *proc, x *ask, count uint64) {
	b := o.locks[x.lock].block(x.token)
	if b == nil || b.first != x.token || x.last == 0 {
		o.w.broken(Events, "%s: m%d ends a delegation with %d, but there is none", o.w.names[x.lock], q.no, count)
		return
	}
	if b.over = true; count != b.count && (count != b.first.Count || b.count >= count) {
		o.w.broken(Tokens, "%s: its client has entered last with %d.%d, and m%d learns %d", o.w.names[x.lock], b.first.Epoch, b.count, q.no, count)
	}
	*o.counted(x.lock, x.token.Epoch) = b.last // the client could prove that it has later ones
}

// usedUp records that a process no longer holds a delegated lock, whose counts are all used up. If the process has lost the
// lock, the client may enter until it is notified or its session expires; until then no other
// process is granted the lock, unless an operator has released it.
func (o *oracle) usedUp(x *ask, lost bool) {
	b := o.locks[x.lock].block(x.token)
	if x.last == 0 || b == nil {
		return
	}
	b.over = !lost
	*o.counted(x.lock, x.token.Epoch) = x.last
}
