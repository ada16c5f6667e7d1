package node

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/process"
	"github.com/stile-lock/stile/internal/live/session"
	"github.com/stile-lock/stile/internal/live/views"
	"github.com/stile-lock/stile/internal/words"
)

// What a client can ask a node besides locks. The answers are JSON.
const (
	AskStatus  uint64 = iota + 1 // a Status
	AskLocks                     // a list of LockInfo
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

// A LockInfo is a lock in use, as one node knows it.
type LockInfo struct {
	Name      string       `json:"name"`
	Node      string       `json:"node"` // the node that reports it
	Algorithm string       `json:"algorithm"`
	Home      string       `json:"home"`
	Holder    *HolderInfo  `json:"holder"` // holder through this node; null if there is none
	Waiters   []WaiterInfo `json:"waiters"`
	Why       string       `json:"why"` // why requests wait here
}

// A HolderInfo is the holder of a lock.
type HolderInfo struct {
	Who   string  `json:"who"`
	Token string  `json:"token"`
	Held  float64 `json:"held_s"` // time since it was acquired
	Left  float64 `json:"lease_left_s"`
}

// A WaiterInfo is a request that waits for a lock.
type WaiterInfo struct {
	Who    string  `json:"who"`
	Waited float64 `json:"waited_s"`
}

// A Released is the outcome of a forced release.
type Released struct {
	Name  string `json:"name"`
	Token string `json:"token"` // fencing token of the entry that was ended
	Who   string `json:"who"`
}

// tellAbout answers a question.
func (n *Node) tellAbout(q *session.Question) ([]byte, error) {
	switch q.What {
	case AskStatus:
		return json.Marshal(n.status())
	case AskLocks:
		all, err := n.locks(string(q.Bytes))
		if err != nil {
			return nil, err
		}
		return json.Marshal(all)
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

// The minimum size of the JSON of a lock, and of its holder or a waiter.
const (
	lockBytes   = len(`{"name":"","node":"","algorithm":"","home":"","holder":null,"waiters":[],"why":""}`)
	holderBytes = len(`{"who":"","token":"","held_s":0,"lease_left_s":0}`)
	waiterBytes = len(`{"who":"","waited_s":0}`)
)

// errAnswer replaces an answer that is too long.
var errAnswer = fmt.Errorf("the answer exceeds %d bytes: ask for fewer locks, with a prefix of their names", maxAnswer)

// locks returns all locks in use at this node whose names have a prefix. It gives up as
// soon as they are too many for one answer, because everything else waits for the mutex.
func (n *Node) locks(prefix string) ([]LockInfo, error) {
	all, size := []LockInfo{}, 0
	m := n.p.Member()
	if m == nil {
		return all, nil
	}
	now := n.clock()
	for w := range m.Each {
		if !strings.HasPrefix(w.Name, prefix) {
			continue
		}
		size += lockBytes + len(w.Name) + len(n.c.Name)
		l := LockInfo{Name: w.Name, Node: n.c.Name, Algorithm: w.Algorithm, Home: w.Home.Name, Waiters: []WaiterInfo{}}
		if h := w.Holder; h != nil {
			l.Holder = &HolderInfo{n.who(h.Client), h.Token.String(), seconds(until(h.Since, now)), seconds(until(now, m.Deadline()))}
			size += holderBytes + len(l.Holder.Who)
		}
		for _, x := range w.Waiters {
			who := n.who(x.Client)
			l.Waiters = append(l.Waiters, WaiterInfo{who, seconds(until(x.Since, now))})
			if size += waiterBytes + len(who); size > maxAnswer {
				return nil, errAnswer
			}
		}
		if size > maxAnswer {
			return nil, errAnswer
		}
		if len(l.Waiters) > 0 {
			l.Why = n.reason(&w, now)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b LockInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// who names a holder or a waiter.
func (n *Node) who(session uint64) string {
	if session == 0 {
		return n.c.Name
	}
	if c, ok := n.p.Client(session); ok && c.Name != "" {
		return words.Quoted(c.Name) + " at " + n.c.Name
	}
	return fmt.Sprintf("client %x at %s", session, n.c.Name)
}

// reason explains why requests wait here.
func (n *Node) reason(w *member.Why, now member.Instant) string {
	switch {
	case w.Holder != nil:
		return "held by " + n.who(w.Holder.Client)
	case w.Pending:
		return "granted, but " + n.c.Name + " has no lease at present, because a majority of the voters is unreachable"
	case w.Lapsed:
		return "the previous holder was notified that it lost the lock; waiting for its lease to expire"
	case len(w.Recovering) > 0:
		return "recovering: " + suspects(w, now)
	case w.Lent != nil:
		return "lent to " + w.Lent.Name
	case w.Carried:
		return "waiting since an earlier view, for its turn from home " + w.Home.Name
	case w.Asked:
		return "requested from the other members with " + w.Algorithm
	}
	return "about to request it from the other members"
}

// suspects lists the members that may still hold a lock, as far as is known.
func suspects(w *member.Why, now member.Instant) string {
	var all []string
	for _, s := range w.Recovering {
		name := cmp.Or(s.Name, fmt.Sprintf("evicted member %d", s.Inc))
		switch {
		case s.Reason == member.Holds:
			all = append(all, "held by "+name+" since an earlier view")
		case s.Reason == member.Ghostly && s.Until > now:
			all = append(all, fmt.Sprintf("waiting up to %.1f s for the lease of %s", seconds(until(now, s.Until)), name))
		case s.Reason == member.Ghostly:
			all = append(all, "the lease of "+name+" has expired")
		default:
			all = append(all, "waiting for the report of "+name)
		}
	}
	return strings.Join(all, "; ")
}

// forceRelease takes a lock from its holder, if it is held through this node.
func (n *Node) forceRelease(name string) (Released, error) {
	m := n.p.Member()
	if m == nil {
		return Released{}, errors.New("the node is not a member at present: no lock is held through it")
	}
	w, ok := m.Explain(name)
	if !ok || w.Holder == nil {
		return Released{}, fmt.Errorf("force-release %q: not held through %s: 'stile locks' shows through which node it is held", name, n.c.Name)
	}
	r := Released{name, w.Holder.Token.String(), n.who(w.Holder.Client)}
	n.step(process.Input{Kind: process.Release, Text: name, Token: w.Holder.Token})
	return r, n.p.Out.Err
}
