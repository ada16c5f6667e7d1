package node

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// installed handles a new view of the member.
func (n *Node) installed(r *views.Record) {
	n.keepLinks(r)
	n.missesDisk(r)
	n.noteView(r)
	n.logView(r)
	if err := n.pool.SetExtra(greeting(r.Cluster, r)); err != nil {
		n.c.Log.Error("cluster not added to greetings", "err", err)
	}
	n.pool.SetHeartbeat(min(time.Duration(r.Settings.Renew)/2, time.Second))
	n.disk.remember(r)
	n.cluster = r.Cluster
	n.cease()
	n.wakeAllPolls()
}

// missesDisk reports, when the node becomes a member, that a voter had its name, and that
// the node does not have the disk of that voter.
func (n *Node) missesDisk(r *views.Record) {
	i := slices.IndexFunc(r.Voters, func(v views.Voter) bool { return v.Name == n.c.Name && !v.Leaves })
	if i < 0 || len(n.lastView) > 0 || slices.ContainsFunc(r.Members, func(m views.Member) bool { return m.Voter == r.Voters[i].ID }) {
		return
	}
	n.c.Log.Warn("voter's data directory lost: the node was a voter, and its directory is not the one that it had then; it votes again as a new voter, if the other voters are a majority", "data", n.c.Data)
}

// rolledBack reports that the cluster has lost an epoch.
func (n *Node) rolledBack(seen uint64, r *views.Record) {
	n.c.Log.Error(fmt.Sprintf("the cluster has gone back from epoch %d to %d: voters were restored from older copies of their data directories: if this node is a voter, move its data directory away and start it again with --join", seen, r.Before), "epoch", r.Epoch)
}

// keepLinks dials all members, so that a broken connection is detected before it is needed.
func (n *Node) keepLinks(r *views.Record) {
	for _, m := range r.Members {
		if m.Address != n.address {
			n.pool.Dial(m.Address)
		}
	}
	for _, o := range n.lastView {
		here := slices.ContainsFunc(r.Members, func(m views.Member) bool { return m.Address == o.Address })
		votes := slices.ContainsFunc(r.Voters, func(v views.Voter) bool { return v.Address == o.Address })
		if !here && !votes {
			n.pool.Drop(o.Address)
		}
	}
}

// logView logs one line for a view, which states what has changed.
func (n *Node) logView(r *views.Record) {
	d := r.Since(n.lastView)
	var joined, gone, votes []string
	for _, x := range []struct {
		all  []views.Member
		to   *[]string
		what string
	}{{d.Joined, &joined, ""}, {d.Evicted, &gone, " was evicted"}, {d.Left, &gone, " left"}, {d.Promoted, &votes, " votes"}, {d.Retired, &votes, " no longer votes"}} {
		for _, m := range x.all {
			*x.to = append(*x.to, m.Name+x.what)
		}
	}
	n.lastView = slices.Clone(r.Members)
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
		args = append(args, "votes", votes)
	}
	if len(r.Ghosts) > 0 {
		args = append(args, "ghosts", len(r.Ghosts))
	}
	n.c.Log.Info("view begun", args...)
}

// An owner is what the pool sees of a node. Its methods are called without the mutex.
type owner struct{ *Node }

// Check decides whether a peer may have a link.
func (o owner) Check(p *transport.Peer) error {
	theirs, err := readGreeting(p.Extra)
	if err != nil {
		return err
	}
	o.mu.Lock()
	r, inc := o.p.Record().Clone(), o.p.Inc()
	ours := hello{cluster: cmp.Or(r.Cluster, o.cluster), earlier: r.Earlier, epoch: r.Epoch}
	o.mu.Unlock()
	if err := strangers(o.c.Name, &ours, p.Name, &theirs); err != nil {
		if slices.Contains(ours.earlier, theirs.cluster) { // it is refused, but no epoch may be below its own
			m := views.Message{Kind: views.Fetch, Cluster: theirs.cluster, Seen: theirs.epoch}
			o.use(process.Input{Kind: process.Message, Text: p.Addr, Bytes: m.AppendTo([]byte{process.Service})})
		}
		if p.Dialled != "" { // what the view service there would answer
			m := views.Message{Kind: views.Other, Cluster: theirs.cluster, Inc: inc, Former: ours.cluster, Newer: slices.Contains(theirs.earlier, ours.cluster)}
			o.use(process.Input{Kind: process.Message, Text: p.Dialled, Bytes: m.AppendTo([]byte{process.Service})})
		}
		return err
	}
	for _, c := range r.Choices {
		if !theirs.knows(c.Algorithm, c.Version) {
			return fmt.Errorf("%s lacks version %d of %s, which the cluster uses: run the same version of stile on all nodes", p.Name, c.Version, c.Algorithm)
		}
	}
	return nil
}

// strangers returns why two nodes must not be linked; nil if their clusters are the same, or
// one of them is not known yet.
func strangers(us string, ours *hello, them string, theirs *hello) error {
	older, old, newer, now := us, ours, them, theirs
	if slices.Contains(ours.earlier, theirs.cluster) {
		older, old, newer, now = them, theirs, us, ours
	}
	switch {
	case ours.cluster == 0 || theirs.cluster == 0 || ours.cluster == theirs.cluster:
		return nil
	case slices.Contains(now.earlier, old.cluster):
		return fmt.Errorf("%s belongs to cluster %016x (epoch %d), which was recovered as cluster %016x of %s: move the data directory of %s away, and start it with --join", older, old.cluster, old.epoch, now.cluster, newer, older)
	}
	return fmt.Errorf("%s belongs to cluster %016x, and %s to cluster %016x: clusters cannot be merged; start one of the nodes with an empty data directory", them, theirs.cluster, us, ours.cluster)
}

// Up reports that there is a connection to a node.
func (o owner) Up(address string, p *transport.Peer) {
	o.budget.Node(p.Remote)
	o.use(process.Input{Kind: process.Up, Text: address})
}

// Down reports that there is no longer a connection.
func (o owner) Down(address string, err error) {
	o.enter()
	if o.over {
		o.mu.Unlock()
		return
	}
	o.lately = err.Error()
	o.step(process.Input{Kind: process.Down, Text: address})
	o.leave()
}

// Message handles a message from another node. An error closes the connection. If another
// message follows at once, what both want sent is sent after that one.
func (o owner) Message(p *transport.Peer, b []byte, follows bool) error {
	o.enter()
	if o.over {
		o.mu.Unlock()
		return nil
	}
	o.hung = nil
	o.step(process.Input{Kind: process.Message, Text: p.Addr, Bytes: b})
	o.carryOut()
	err := o.hung
	o.follows = follows
	o.leave()
	return err
}
