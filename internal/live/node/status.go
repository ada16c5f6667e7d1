package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/live/session"
	"github.com/stile-lock/stile/internal/live/views"
)

// What a client can ask a node besides locks. The answers are JSON.
const (
	AskStatus  uint64 = iota + 1 // a Status
	AskLocks                     // locks in use, with a LockQuery as JSON; a LockPage
	AskRelease                   // force-release, with the name of a lock; a Released
	AskLeave                     // the node leaves the cluster gracefully
)

// A Status is the status of a node and its cluster.
type Status struct {
	Node      string       `json:"node"`
	Address   string       `json:"address"`
	State     string       `json:"state"`
	Why       string       `json:"why,omitempty"` // why it takes no part at present
	Cluster   string       `json:"cluster"`
	Epoch     uint64       `json:"epoch"`
	Lease     float64      `json:"lease_s"`      // duration of a lease
	Left      float64      `json:"lease_left_s"` // time left of this node's own lease
	Leader    string       `json:"leader"`       // leader of the view service; empty if unknown to this node
	Term      uint64       `json:"term"`
	Settled   bool         `json:"settled"` // this node leads, and no change of voters is in progress
	Algorithm string       `json:"algorithm"`
	Members   []MemberInfo `json:"members"`
	Ghosts    int          `json:"ghosts"` // evicted members whose leases may still run
	Clients   int          `json:"clients"`
	Held      int          `json:"held"`    // locks held through this node
	Waiting   int          `json:"waiting"` // requests that wait at this node
	Known     int          `json:"known"`   // locks that this node knows
}

// Member reports whether the node is a member of its cluster, including while it leaves.
func (s *Status) Member() bool {
	return len(s.Members) > 0 && (s.State == Member.String() || s.State == Draining.String() || s.State == Leaving.String())
}

// A MemberInfo is a member of the cluster.
type MemberInfo struct {
	Name        string `json:"name"`
	Address     string `json:"address"`
	Voter       bool   `json:"voter"`
	Incarnation uint64 `json:"incarnation"`
	Linked      bool   `json:"linked"` // this node has a connection to it, or is it
}

// tellAbout answers a question.
func (n *Node) tellAbout(q *session.Question) ([]byte, error) {
	switch q.What {
	case AskStatus:
		return json.Marshal(n.status())
	case AskLocks:
		var l LockQuery
		if err := json.Unmarshal(q.Bytes, &l); err != nil {
			return nil, fmt.Errorf("malformed query: %w: use the same version of stile on both sides", err)
		}
		return n.locks(&l)
	case AskRelease:
		r, err := n.forceRelease(string(q.Bytes))
		if err != nil {
			return nil, err
		}
		return json.Marshal(r)
	case AskLeave:
		go n.stopSoon()
		return []byte("{}"), nil
	}
	return nil, fmt.Errorf("the node does not know query %d: use the same version of stile on both sides", q.What)
}

func seconds(d time.Duration) float64 { return max(0, d.Seconds()) }

// Status returns the status of the node and its cluster.
func (n *Node) Status() Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.status()
}

func (n *Node) status() Status {
	r := n.p.Record()
	now := n.clock()
	s := Status{
		Node: n.c.Name, Address: n.address, State: n.state().String(), Cluster: fmt.Sprintf("%016x", r.Cluster),
		Epoch: r.Epoch, Lease: seconds(time.Duration(r.Settings.Lease)), Members: []MemberInfo{}, Ghosts: len(r.Ghosts),
	}
	if n.state() == Joining {
		s.Why = n.lately
		if c := n.fallback.client; c != nil {
			s.State = "client of " + c.Node()
		}
	}
	if n.state() == Member && !n.usable() {
		s.Why = "no lease, because a majority of the voters is unreachable: start the other nodes, or check the network"
	}
	for _, c := range r.Choices {
		if c.Prefix == "" {
			s.Algorithm = c.Algorithm
		}
	}
	for _, m := range r.Members {
		s.Members = append(s.Members, MemberInfo{m.Name, m.Address, votes(r, m.Voter), m.Inc, m.Address == n.address || n.p.Linked(m.Address)})
	}
	if c := n.p.Voter(); c != nil {
		l := c.Lead()
		s.Term = l.Term
		s.Settled = l.Settled && sameVoters(r, l.Voters)
		if i := slices.IndexFunc(r.Voters, func(v views.Voter) bool { return v.ID == l.Leader }); i >= 0 {
			s.Leader = r.Voters[i].Name
		}
	}
	n.p.Clients(func(session.ClientInfo) { s.Clients++ })
	if m := n.p.Member(); m != nil {
		s.Left = seconds(until(now, m.Deadline()))
		s.Known, _, _ = m.Known()
		for w := range m.Each {
			if w.Holder != nil {
				s.Held++
			}
			s.Waiting += len(w.Waiters)
		}
	}
	return s
}

func votes(r *views.Record, voter uint64) bool {
	return slices.ContainsFunc(r.Voters, func(v views.Voter) bool { return v.ID == voter && !v.Leaves })
}

// sameVoters reports whether the log has the voters that the record calls for.
func sameVoters(r *views.Record, list []uint64) bool {
	stay := slices.DeleteFunc(slices.Clone(r.Voters), func(v views.Voter) bool { return v.Leaves })
	return slices.EqualFunc(stay, list, func(v views.Voter, id uint64) bool { return v.ID == id })
}
