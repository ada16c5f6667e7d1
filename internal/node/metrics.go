package node

import (
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/process"
)

// Metrics are measurements of a node, since it was started or at present.
type Metrics struct {
	meter.Totals
	process.Traffic
	Locks       []LockMetrics
	Longest     int             // number of requests that wait here for one lock, at most
	Known       int             // locks
	Sessions    int             // of clients
	Connections int             // of clients
	SaveLog     meter.Histogram // saves of the view log
	SavePast    meter.Histogram // saves of what the node must know when it starts again

	Lease  time.Duration // duration of a lease; 0 if unknown
	Left   time.Duration // time left of this node's own lease
	Margin time.Duration // least time that was left of the lease when it was renewed, in the last one to two minutes; -1 if it was not

	AuditLost uint64 // audit lines that could not be written

	Ready   bool // clients can acquire locks through this node now
	Epoch   uint64
	Members int
	Voters  int
	Ghosts  int
	Leads   bool // this node leads the view service
}

// LockMetrics are measurements of the locks with one prefix and one algorithm.
type LockMetrics struct {
	meter.Series
	Held    int
	Waiting int
}

// Metrics returns measurements. Without Config.Metrics, there are only those of the present.
func (n *Node) Metrics() Metrics {
	n.mu.Lock()
	defer n.mu.Unlock()
	r, all := n.p.Record(), n.meter
	if all == nil {
		all = meter.New()
	}
	x := Metrics{
		Totals: all.Totals, Traffic: n.p.Traffic(), Sessions: n.p.Sessions(), Connections: len(n.conns),
		Lease: time.Duration(r.Settings.Lease), Margin: -1, AuditLost: n.audit.file.Lost(),
		Ready: n.unready() == "", Epoch: r.Epoch, Members: len(r.Members), Ghosts: len(r.Ghosts),
	}
	if least, ok := all.Least(); ok {
		x.Margin = time.Duration(least)
	}
	for _, v := range r.Voters {
		if !v.Leaves {
			x.Voters++
		}
	}
	if v := n.p.Voter(); v != nil {
		x.Leads = v.Lead().Leader == v.ID()
	}
	n.queues(&x, all)
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	x.SaveLog, x.SavePast = n.disk.took[saveLog], n.disk.took[savePast]
	return x
}

// queues adds what is measured by prefix, and how many requests wait. It looks at all locks
// in use, for a few dozen nanoseconds each.
func (n *Node) queues(x *Metrics, all *meter.Meter) {
	held, waiting := map[*meter.Series]int{}, map[*meter.Series]int{}
	if m := n.p.Member(); m != nil {
		x.Known, _, _ = m.Known()
		x.Left = max(0, until(n.clock(), m.Deadline()))
		for q := range m.Queues {
			s := all.Of(string(q.Name))
			if q.Held {
				held[s]++
			}
			waiting[s] += q.Waiting
			x.Longest = max(x.Longest, q.Waiting)
		}
	}
	for s := range all.Series {
		x.Locks = append(x.Locks, LockMetrics{*s, held[s], waiting[s]})
	}
}

// measureLease notes that the end of the lease has moved.
func (n *Node) measureLease(was, is member.Instant) {
	if n.meter != nil && n.p.Phase() == process.Member {
		n.meter.Leased(n.in.At, was, is)
	}
}

// Unready returns why clients cannot acquire a lock through this node now; empty if they
// can.
func (n *Node) Unready() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.unready()
}

func (n *Node) unready() string {
	s := n.state()
	switch {
	case s == Joining:
		return "the node is not a member of the cluster: " + n.waits()
	case s != Member || n.stopping:
		return "the node is " + s.String()
	case !n.usable():
		return "the node has no lease: " + n.noMajority(n.p.Record())
	}
	return ""
}
