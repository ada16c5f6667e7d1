package viewmodel

import (
	"encoding/binary"
	"errors"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A delegation is what the client knows of a lock that is delegated to it. Its applications
// enter and leave at any time, as often as the block has counts. RECALL, KEEP and RETURN take
// time; RETURN is the client's word. Without a recall the client may keep the lock forever: a
// run in which another process then waits has no further step that must happen.
type delegation struct {
	first  member.Token // with which the process has granted the lock
	last   uint64       // last count; 0 if the lock is not, or no longer, delegated
	idle   bool         // no application is inside
	wanted bool         // RECALL is on the way
	kept   bool         // KEEP is on the way, with the count of the present entry
	moved  bool         // the client has claimed the lock elsewhere: it no longer names a count
}

func (d *delegation) append(b []byte) []byte {
	b = appendToken(b, d.first)
	return binary.AppendUvarint(append(b, bit(d.idle, 1)|bit(d.wanted, 2)|bit(d.kept, 4)|bit(d.moved, 8)), d.last)
}

func (d *delegation) read(r *reader) {
	d.first = r.token()
	flags := r.byte()
	d.idle, d.wanted, d.kept, d.moved = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
	d.last = r.number()
}

// begins notes how the lock was granted.
func (d *delegation) begins(e *member.Event) {
	if *d = (delegation{}); e.Last > 0 {
		d.first, d.last = e.Token, e.Last
	}
}

// lasts reports whether the client may keep the lock forever: not through a process that is
// evicted at some time, because its deadline then passes.
func (w *worker) lasts() bool {
	c := &w.now.client
	d := &c.lent
	return d.last > 0 && !d.wanted && !w.procs[c.holds-1].ghost && (!d.idle || c.token.Count < d.last)
}

// ends notes that the client no longer holds the lock.
func (d *delegation) ends() { d.last, d.idle, d.wanted = 0, false, false }

// moves notes that the client claims the lock at another process.
func (d *delegation) moves() {
	if !d.first.IsNone() {
		d.ends()
		d.moved = true
	}
}

// delegates is what the client does with a lock that is delegated to it.
func (w *worker) delegates() {
	c := &w.now.client
	d := &c.lent
	if d.last == 0 || c.holds == 0 {
		return
	}
	at := c.holds - 1
	switch {
	case !d.idle:
		w.alone(deed{label: label(Vacate, at, 0), proc: at}, func(n *world) explore.Broken {
			n.client.lent.idle = true
			return 0
		})
	case c.token.Count < d.last:
		w.alone(deed{label: label(Reenter, at, 0), proc: at}, (*world).reenter)
	}
	if d.wanted {
		w.alone(deed{label: label(Recalled, at, 0), proc: at, must: true}, (*world).recalled)
	}
}

// reenter judges an entry of the client by itself.
func (n *world) reenter() explore.Broken {
	c := &n.client
	broken := n.alone()
	c.lent.idle = false
	if c.token.Count++; c.token.Epoch < n.opened && c.by <= n.opened {
		broken |= Older
	}
	if l := n.last; c.token.Epoch == l.Epoch && c.token.Count != l.Count+1 || !l.Less(c.token) {
		broken |= Tokens
	}
	n.last = c.token
	return broken
}

// recalled is what the client does when it hears RECALL: it returns what is idle, and keeps
// what is in use.
func (n *world) recalled() explore.Broken {
	c := &n.client
	if c.lent.idle {
		c.holds, c.by, c.told = 0, 0, 0
	} else {
		c.lent.kept = true
	}
	c.lent.ends()
	return 0
}

// keeps lets KEEP arrive at the process that has delegated the lock.
func (w *worker) keeps(i int) {
	c, p := &w.now.client, &w.now.procs[i]
	part := &p.state.Present
	if !c.lent.kept || part.Last == 0 || !part.Client || part.Token != c.lent.first {
		return
	}
	w.do(deed{label(Kept, i, 0), i, true}, func(n *world, m *member.Member) error {
		n.client.lent.kept = false
		_, err := m.Keep(0, w.Lock, c.lent.first, c.token.Count)
		return late(err)
	})
}

// giveBack lets the client's word arrive at the process that has delegated the lock: behind
// KEEP, or with the count of the last entry, which a client that has moved does not name.
func (w *worker) giveBack(i int) {
	c := &w.now.client
	if c.lent.kept && !c.lent.moved {
		return
	}
	w.do(deed{label(Word, i, 0), i, false}, func(_ *world, m *member.Member) error {
		if c.lent.moved {
			return late(m.Unlock(0, w.Lock, c.lent.first))
		}
		if err := m.Return(0, w.Lock, c.lent.first, c.token.Count); !errors.Is(err, member.ErrNotHeld) {
			return err
		}
		return late(m.Unlock(0, w.Lock, c.lent.first))
	})
}

// late is no error if the process has lost the lock before.
func late(err error) error {
	if errors.Is(err, member.ErrNotHeld) {
		return nil
	}
	return err
}

// usedUp notes that a process no longer holds a lock that was delegated in the present epoch, or
// no longer as delegated: all counts of the block are used up.
func (w *worker) usedUp(n *world, d deed) {
	was, is := &w.now.procs[d.proc].state.Present, &w.saved.Present
	if was.Last == 0 || was.Carried || is.Epoch != was.Epoch || is.Last > 0 && is.Token == was.Token {
		return
	}
	if n.last.Epoch == was.Epoch {
		n.last.Count = max(n.last.Count, was.Last)
	}
}
