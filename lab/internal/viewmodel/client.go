package viewmodel

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A Client is the only client of a model. It acquires the lock through one member, and
// claims it through others.
//
// There is no clock. The client holds the lock through one member, and until then that
// member neither ends the client's session nor loses its lease: the client's deadline
// passes before. It stops holding the lock at any step, because it releases it, crashes,
// or its deadline passes. Afterwards each member that it was attached to hears its word,
// or ends its session by time.
type Client struct {
	Through uint64   // the member through which it acquires the lock; 0 if there is no client
	To      []uint64 // members that it may attach to
	Claims  int      // number of claims, each at any time after it has acquired the lock
	Block   uint64   // number of entries of a delegation; 0 if nothing is delegated
	Moves   bool     // it closes its session at a member when it holds the lock through another one
}

// A client is the client in a world. Sets of processes are bits.
type client struct {
	asks    int          // requests that it may still make
	claims  int          // claims that it may still make
	token   member.Token // what it was granted
	holds   int          // 1 + the process through which it holds the lock, and which its deadline follows; 0 if it does not
	by      uint64       // epoch in which it was confirmed to hold the lock by a claim; 0 if it was not
	rests   int          // the last of holds that was not 0
	through byte         // processes through which it was confirmed to hold the lock
	told    byte         // processes whose confirmation is on the way to it
	proved  byte         // processes to which a confirmed renewal is on the way that they sent after the client's hold was lost
	newest  int          // newest view that was installed anywhere

	lent delegation
}

// sessionLength is any: the model says when a session ends.
const sessionLength = member.Second

func (c *client) append(b []byte) []byte {
	b = append(b, byte(c.asks), byte(c.claims), byte(c.holds), byte(c.rests), byte(c.newest), c.through, c.told, c.proved)
	return c.lent.append(binary.AppendUvarint(appendToken(b, c.token), c.by))
}

func (c *client) read(r *reader) {
	c.asks, c.claims, c.holds, c.rests, c.newest = r.byte(), r.byte(), r.byte(), r.byte(), r.byte()
	c.through, c.told, c.proved = byte(r.byte()), byte(r.byte()), byte(r.byte())
	c.token, c.by = r.token(), r.number()
	c.lent.read(r)
}

// stopped reports whether the client has held the lock, and no longer does.
func (c *client) stopped() bool { return c.holds == 0 && !c.token.IsNone() }

// ended notes that the client's time through a process is over.
func (c *client) ended(i int) { c.told &^= 1 << i }

// holdsThrough reports whether the client holds the lock through a process, so that the
// process can lose neither its lease nor the client's session.
func (w *worker) holdsThrough(i int) bool { return w.now.client.holds == i+1 }

// clients is what the client can do without a member.
func (w *worker) clients() {
	c := &w.now.client
	if c.holds > 0 {
		w.alone(deed{label: label(Quit, w.index(w.Client.Through), 0), proc: c.holds - 1, must: !w.lasts()}, func(n *world) explore.Broken {
			n.client.holds, n.client.by, n.client.told = 0, 0, 0
			n.client.lent.ends()
			return 0
		})
	}
	w.delegates()
	for i := range w.now.procs {
		if c.told>>i&1 == 1 {
			w.alone(deed{label: label(Confirmed, i, 0), proc: i}, func(n *world) explore.Broken {
				n.client.holds, n.client.rests = i+1, i+1
				n.client.by, n.client.through = w.epoch(i), n.client.through|1<<i
				n.client.told &^= 1 << i
				return n.alone()
			})
		}
	}
}

// alone makes a step in which no member acts.
func (w *worker) alone(d deed, f func(n *world) explore.Broken) {
	if w.err != nil || w.left(d) {
		return
	}
	w.next.copy(&w.now)
	w.give(d, f(&w.next))
}

// alone judges whether the client is the only one inside.
func (n *world) alone() explore.Broken {
	for i := range n.procs {
		if !n.procs[i].inside.IsNone() {
			return Mutual
		}
	}
	return 0
}

// attached is what the client can do at a process, and what time does to its session
// there.
func (w *worker) attached(i int) {
	c, p, inc := &w.now.client, &w.now.procs[i], w.procs[i].Inc
	if w.Client.Through == 0 || w.epoch(i) == 0 {
		return
	}
	part := &p.state.Present
	if inc == w.Client.Through && c.asks > 0 && p.state.Session && !p.left {
		w.do(deed{label(ClientAsk, i, 0), i, false}, func(n *world, m *member.Member) error {
			n.client.asks--
			_, err := m.Lock(0, w.Lock, member.Ask{Client: member.TheClient, Deadline: member.Never, Block: w.Client.Block})
			return err
		})
	}
	if w.mayClaim(i) {
		w.claim(i)
	}
	if uses(part) && !w.holdsThrough(i) && !p.ended {
		w.do(deed{label(SessionEnd, i, 0), i, c.stopped()}, func(n *world, m *member.Member) error {
			n.client.ended(i)
			w.templates[i].EndSession()
			m.Wake(0)
			return nil
		})
	}
	if w.Client.Moves && part.Holder.Client && c.holds > 0 && !w.holdsThrough(i) && c.through>>i&1 == 1 {
		w.do(deed{label(Moved, i, 0), i, false}, func(n *world, m *member.Member) error {
			m.Close(0, member.TheClient)
			return nil
		})
	}
	w.keeps(i)
	if c.stopped() {
		w.word(i)
	}
	if part.Lapsed && part.Proof {
		w.proof(i)
	}
}

// uses reports whether the client has a request at a member.
func uses(part *member.Part) bool {
	return part.Holder.Client || part.Claim != 0 || slices.ContainsFunc(part.Waiters, func(r member.Request) bool { return r.Client })
}

// mayClaim reports whether the client may claim the lock through a process.
func (w *worker) mayClaim(i int) bool {
	c, s := &w.now.client, &w.now.procs[i].state
	for _, inc := range w.Client.To {
		if inc == w.procs[i].Inc {
			return c.claims > 0 && !c.token.IsNone() && !c.lent.idle && !w.holdsThrough(i) && s.Lease == member.Runs && !s.Gone && s.Present.Claim == 0 && !s.Present.Client
		}
	}
	return false
}

// claim attaches the client to a process and claims the lock there. It may do so after
// it has stopped holding it, because what it sends may be late.
func (w *worker) claim(i int) {
	w.do(deed{label(Claim, i, 0), i, false}, func(n *world, m *member.Member) error {
		n.client.claims--
		n.client.ended(i)
		n.client.lent.moves()
		var through []uint64
		for j := range w.procs {
			if n.client.through>>j&1 == 1 && j+1 != n.client.rests {
				through = append(through, w.procs[j].Inc)
			}
		}
		through = append(through, w.procs[n.client.rests-1].Inc)
		if _, err := m.Renew(0, member.TheClient, sessionLength); err != nil {
			return err
		}
		if _, err := m.Claim(0, w.Lock, n.client.token, member.TheClient, through, member.Terms{}); !errors.Is(err, member.ErrNotHeld) {
			return err
		}
		return nil // the process is inside
	})
}

// word is the client's word, at a process, that it no longer holds the lock.
func (w *worker) word(i int) {
	c, s := &w.now.client, &w.now.procs[i].state
	part := &s.Present
	if part.Last > 0 && part.Client && part.Token == c.lent.first {
		w.giveBack(i)
	} else if part.Client && part.Token == c.token || part.Claim != 0 {
		w.do(deed{label(Word, i, 0), i, false}, func(_ *world, m *member.Member) error {
			if part.Claim != 0 {
				m.Cancel(0, part.Claim)
			} else if err := m.Unlock(0, w.Lock, c.token); err != nil && !errors.Is(err, member.ErrNotHeld) {
				return err // it may be late
			}
			return nil
		})
	}
}

// proof is the proof of membership of a process that has lost what the client held: the
// view service confirms a renewal, if the process is a member of the newest view, and the
// confirmation arrives later.
func (w *worker) proof(i int) {
	c, p := &w.now.client, &w.now.procs[i]
	if w.procs[i].ghost && p.state.Lease != member.Runs {
		return // its lease expires for good
	}
	if c.proved>>i&1 == 1 {
		w.do(deed{label(Proof, i, 0), i, true}, func(n *world, m *member.Member) error {
			n.client.proved &^= 1 << i
			m.Renewed(0, member.AfterLoss)
			return nil
		})
	} else if w.Views[c.newest].Rank(w.procs[i].Inc) >= 0 {
		w.alone(deed{label: label(Prove, i, 0), proc: i, must: !w.procs[i].ghost}, func(n *world) explore.Broken {
			n.client.proved |= 1 << i
			return 0
		})
	}
}

// granted judges what a process grants to the client: the lock, or its claim.
func (w *worker) granted(n *world, at int, e *member.Event) explore.Broken {
	t := e.Token
	c := &n.client
	if c.token == t {
		if c.holds > 0 {
			c.told |= 1 << at // or else it comes too late, and is ignored
		}
		return 0
	}
	broken := w.entry(n, at, t)
	c.token, c.holds, c.rests, c.through = t, at+1, at+1, 1<<at
	c.lent.begins(e)
	return broken
}
