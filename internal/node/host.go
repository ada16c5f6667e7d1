package node

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/wire"
	"github.com/stile-lock/stile/internal/peer"
)

// A host is what the core knows of a node. It is called with the mutex.
type host struct{ *Node }

// Send sends a message to a process. Links see to it that packets arrive; all else
// may be lost.
func (h host) Send(to string, b []byte) {
	h.sent = true
	err := h.pool.Send(to, b, b[0] != peer.Packet)
	if err != nil && !errors.Is(err, wire.ErrDown) && !errors.Is(err, wire.ErrDropped) {
		h.c.Log.Debug("a message is not sent", "to", to, "err", err)
	}
}

// Installed tells that the member has begun a view.
func (h host) Installed(r *engine.Record) {
	h.keepLinks(r)
	h.logView(r)
	if err := h.pool.SetExtra(greeting(r.Cluster)); err != nil {
		h.c.Log.Error("greetings do not name the cluster", "err", err)
	}
	if h.folder != nil {
		if err := h.folder.keep(r); err != nil {
			h.c.Log.Error("where the members are cannot be kept", "err", err)
		}
	}
	h.cluster = r.Cluster
	if h.state == Joining {
		h.cease()
		h.become(Taking)
	}
}

// keepLinks dials all members, so that a broken connection is found out before it
// is needed.
func (h host) keepLinks(r *engine.Record) {
	for _, m := range r.Members {
		if m.Address != h.address {
			h.pool.Dial(m.Address)
		}
	}
	for _, o := range h.lastView {
		here := slices.ContainsFunc(r.Members, func(m engine.Member) bool { return m.Address == o.Address })
		votes := slices.ContainsFunc(r.Voters, func(v engine.Voter) bool { return v.Address == o.Address })
		if !here && !votes {
			h.pool.Drop(o.Address)
		}
	}
}

// Ended tells that the process is a member no more.
func (h host) Ended(how engine.Ending) {
	if how == engine.Left {
		h.c.Log.Info("has left the cluster", "name", h.c.Name)
		h.stop()
		return
	}
	why := "the others go on without it"
	if how == engine.Replaced {
		why = "its voters are of another cluster now"
		h.cluster = 0
		_ = h.pool.SetExtra(greeting(0)) // which is not too long
	}
	if h.state >= Draining {
		h.c.Log.Warn("is a member no more", "name", h.c.Name, "why", why)
		h.stop()
		return
	}
	h.c.Log.Warn("is a member no more, and joins again", "name", h.c.Name, "why", why)
	h.away, h.leased = true, false
	h.become(Joining)
	h.seek()
}

// logView writes one line for a view, which says what has changed.
func (h host) logView(r *engine.Record) {
	old := h.lastView
	var joined, gone, votes []string
	for _, m := range r.Members {
		i := slices.IndexFunc(old, func(o engine.Member) bool { return o.Inc == m.Inc })
		switch {
		case i < 0:
			joined = append(joined, m.Name)
		case old[i].Voter == 0 && m.Voter != 0:
			votes = append(votes, m.Name+" votes")
		case old[i].Voter != 0 && m.Voter == 0:
			votes = append(votes, m.Name+" votes no more")
		}
	}
	for _, m := range old {
		if r.Rank(m.Inc) < 0 {
			how := " left"
			if slices.ContainsFunc(r.Ghosts, func(g engine.Ghost) bool { return g.Inc == m.Inc }) {
				how = " was evicted"
			}
			gone = append(gone, m.Name+how)
		}
	}
	h.lastView = slices.Clone(r.Members)
	voters := 0
	for _, v := range r.Voters {
		if !v.Leaves {
			voters++
		}
	}
	args := []any{"epoch", r.Epoch, "members", len(r.Members), "voters", voters}
	if len(joined) > 0 {
		args = append(args, "joined", joined)
	}
	if len(gone) > 0 {
		args = append(args, "gone", gone)
	}
	if len(votes) > 0 {
		args = append(args, "now", votes)
	}
	if len(r.Ghosts) > 0 {
		args = append(args, "ghosts", len(r.Ghosts))
	}
	h.c.Log.Info("a view begins", args...)
}

// An owner is what the pool knows of a node. It is called without the mutex.
type owner struct{ *Node }

// Check judges who wants a link.
func (o owner) Check(p *wire.Peer) error {
	theirs, err := readGreeting(p.Extra)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ours := cmp.Or(o.core.Record().Cluster, o.cluster)
	if ours != 0 && theirs.cluster != 0 && ours != theirs.cluster {
		return fmt.Errorf("%s is of cluster %016x, and %s of %016x: they cannot be joined; start one of them without its data folder", p.Name, theirs.cluster, o.c.Name, ours)
	}
	for _, c := range o.core.Record().Choices {
		if !theirs.knows(c.Algorithm, c.Version) {
			return fmt.Errorf("%s does not know version %d of %s, which the cluster uses: run the same version of stile there", p.Name, c.Version, c.Algorithm)
		}
	}
	return nil
}

// Up says that there is a connection to a process.
func (o owner) Up(address string, p *wire.Peer) {
	o.use(func(now member.Instant) { o.core.Up(now, address) })
}

// Down says that there is none any more.
func (o owner) Down(address string, err error) {
	o.use(func(now member.Instant) {
		o.lately = err.Error()
		o.core.Down(now, address)
	})
}

// Message takes a message of another process.
func (o owner) Message(p *wire.Peer, b []byte) error {
	var err error
	o.use(func(now member.Instant) { err = o.core.Receive(now, p.Addr, b) })
	return err
}
