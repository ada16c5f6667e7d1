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
	all := n.meter
	if all == nil {
		all = meter.New()
	}
	queues := n.queues(all)
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.p.Record()
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
	if m := n.p.Member(); m != nil {
		x.Known = m.Names()
		x.Left = max(0, until(n.clock(), m.Deadline()))
	}
	for s := range all.Series {
		x.Locks = append(x.Locks, LockMetrics{*s, queues.held[s], queues.waiting[s]})
	}
	x.Longest = queues.longest
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	x.SaveLog, x.SavePast = n.disk.took[saveLog], n.disk.took[savePast]
	return x
}

// queues are how many locks are held, and how many requests wait, by prefix and algorithm.
type queues struct {
	held, waiting map[*meter.Series]int
	longest       int // number of requests that wait for one lock, at most
}

// queues counts them, a few locks at a time.
func (n *Node) queues(all *meter.Meter) queues {
	x := queues{held: map[*meter.Series]int{}, waiting: map[*meter.Series]int{}}
	kept := map[string]*member.Queue{} // whose requests come one by one
	l := listing{n: n, q: &LockQuery{}}
	_ = l.scan(func(q *member.Queue) (member.Instant, bool) {
		s := all.Of(string(q.Name))
		first := q.Held
		x.waiting[s] += q.Waiting
		if q.Part {
			sum := kept[string(q.Name)]
			if sum == nil {
				sum = &member.Queue{}
				kept[string(q.Name)] = sum
			}
			first = q.Held && !sum.Held
			sum.Held, sum.Waiting = sum.Held || q.Held, sum.Waiting+q.Waiting
			q.Waiting = sum.Waiting
		}
		if first {
			x.held[s]++
		}
		x.longest = max(x.longest, q.Waiting)
		return 0, false
	}, nil) // a node that is not a member has none
	return x
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
