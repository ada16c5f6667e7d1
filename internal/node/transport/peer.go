package transport

import (
	"fmt"
	"slices"
	"sync"
)

// A peer is an address that is dialled, or that links came from.
type peer struct {
	addr string
	turn sync.Mutex // held while links change, until the Owner is notified

	// Guarded by the pool.
	users    int // goroutines that use it; without one it is forgotten
	links    []*tie
	best     *tie // link to send on; nil if there is none
	dialling bool // a goroutine is dialling, or waiting to retry
	wanted   bool // something was sent since the link was lost
	cancel   func()
}

// A tie is a link in the pool.
type tie struct {
	*Link
	peer    *Peer
	dialled bool          // by this process
	done    chan struct{} // closed when it is out of the pool

	// Guarded by the pool.
	dirty bool // has something to flush
	bye   bool // is being given up
}

// hold returns the peer of an address, which is kept until release.
func (p *Pool) hold(addr string) *peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holdLocked(addr)
}

func (p *Pool) holdLocked(addr string) *peer {
	pr := p.peers[addr]
	if pr == nil {
		pr = &peer{addr: addr}
		p.peers[addr] = pr
	}
	pr.users++
	return pr
}

func (p *Pool) release(pr *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pr.users--; pr.users == 0 {
		delete(p.peers, pr.addr)
	}
}

// claim refuses a process whose address is that of another, linked node. It also refuses an
// unknown process when there are many: processes that this one wants to reach always have a
// place.
func (p *Pool) claim(other *Peer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pr := p.peers[other.Addr]; pr == nil {
		links := 0
		for _, pr := range p.peers {
			links += len(pr.links)
		}
		if links >= p.c.Peers {
			return fmt.Errorf("%d nodes are connected, the maximum for unknown nodes: check that %s belongs to this cluster", links, other.Name)
		}
	} else {
		for _, t := range pr.links {
			if t.peer.Name != other.Name {
				return fmt.Errorf("node %s claims the address %s, but node %s is connected from there: give each node its own address", other.Name, other.Addr, t.peer.Name)
			}
		}
	}
	return nil
}

// run keeps a link in the pool until it ends.
func (p *Pool) run(pr *peer, t *tie) error {
	if err := p.adopt(pr, t); err != nil {
		return t.Fail(err)
	}
	t.Flush()
	err := t.Run(func(b []byte) error { return p.owner.Message(t.peer, b, t.in.ready()) })
	p.Flush() // the message that should have followed may have been malformed
	p.part(pr, t, err)
	return err
}

// adopt adds a link to the pool. The link that it replaces is removed first.
func (p *Pool) adopt(pr *peer, t *tie) error {
	for {
		pr.turn.Lock()
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			pr.turn.Unlock()
			return errClosed
		}
		old := pr.replaced(t)
		if old == nil {
			break
		}
		p.mu.Unlock()
		pr.turn.Unlock()
		old.Fail(fmt.Errorf("replaced by a new connection from %s", t.peer.Remote))
		<-old.done
	}
	pr.links = append(pr.links, t)
	delete(p.told, pr.addr)
	loser := pr.choose(p.c.Nonce)
	first := len(pr.links) == 1
	p.mu.Unlock()
	defer pr.turn.Unlock()
	if first {
		p.c.Log.Info("linked", "address", pr.addr, "peer", t.peer.Name, "dialled", t.dialled)
		p.owner.Up(pr.addr, t.peer)
		return nil
	}
	for _, other := range pr.links {
		switch {
		case other == loser && other.dialled:
			other.put(kindBye)
		case other != t:
			other.put(kindBeat) // find out whether it is dead
		}
		other.Flush()
	}
	return nil
}

// replaced returns a link that cannot coexist with t: one of another process, or one
// dialled by the same side.
func (pr *peer) replaced(t *tie) *tie {
	for _, old := range pr.links {
		if old.peer.Nonce != t.peer.Nonce || old.dialled == t.dialled {
			return old
		}
	}
	return nil
}

// choose selects the link to send on, and returns the one that is given up.
func (pr *peer) choose(nonce uint64) (loser *tie) {
	pr.best = nil
	for _, t := range pr.links {
		wins := t.dialled == (nonce < t.peer.Nonce)
		if len(pr.links) == 2 && !wins && t.dialled {
			t.bye = true
		}
		if len(pr.links) == 2 && !wins {
			loser = t
		}
		if !t.bye && (pr.best == nil || wins) {
			pr.best = t
		}
	}
	return loser
}

// part removes a link from the pool.
func (p *Pool) part(pr *peer, t *tie, err error) {
	pr.turn.Lock()
	defer pr.turn.Unlock()
	p.mu.Lock()
	pr.links = slices.DeleteFunc(pr.links, func(other *tie) bool { return other == t })
	pr.choose(p.c.Nonce)
	last := len(pr.links) == 0
	p.mu.Unlock()
	if last {
		p.c.Log.Warn("link lost", "address", pr.addr, "peer", t.peer.Name, "err", err)
		p.owner.Down(pr.addr, err)
	}
	close(t.done)
}
