package node

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// What a client can ask a node besides locks. The answers are JSON. Node.permission says who
// may ask what.
const (
	AskStatus   uint64 = iota + 1 // a Status
	AskLocks                      // locks in use, with a LockQuery as JSON; a LockPage
	AskRelease                    // force-release, with the name of a lock; a Released
	AskLeave                      // the node leaves the cluster gracefully; an Ordered, or with LeaveReport a Departed
	AskBackup                     // a BackupFile
	AskOrderFor                   // an order of a caller of another member, with an Order as JSON; as the order's own question
	AskLeader                     // leader of an election, with a LeaderQuery as JSON; a LeaderReport, possibly after a while
	AskEvict                      // the leader of the view service evicts a member, with its name; an Ordered
	AskChoose                     // the leader of the view service chooses other algorithms, with some in the form of Config.Algorithm; an Ordered
	AskPulse                      // what the node tells of itself for the console, with a PulseQuery as JSON; a Pulse
	AskPast                       // holds of a lock that have ended, with a PastQuery as JSON; a PastPage
	AskTrail                      // what happens to a lock here, step by step, with a TrailQuery as JSON; a TrailReport
	AskMove                       // the client of a session is asked to use another node, with the session's number; a Moving
)

// askNames names the questions, for the audit log.
var askNames = [...]string{
	AskStatus: "status", AskLocks: "locks", AskRelease: "force-release", AskLeave: "leave", AskBackup: "backup", AskOrderFor: "order", AskLeader: "leader",
	AskEvict: "evict", AskChoose: "choose", AskPulse: "pulse", AskPast: "past", AskTrail: "trail", AskMove: "move-session",
}

// A BackupFile is a backup of the cluster, as the contents of a file.
type BackupFile struct {
	Text string `json:"text"`
}

// A Status is the status of a node and its cluster.
type Status struct {
	Node      string       `json:"node"`
	Address   string       `json:"address"`
	State     string       `json:"state"`
	Why       string       `json:"why,omitempty"` // why it takes no part at present
	Cluster   string       `json:"cluster"`
	Recovered []string     `json:"recovered_from,omitempty"` // earlier clusters that this one was recovered from
	Epoch     uint64       `json:"epoch"`
	Lease     float64      `json:"lease_s"`      // duration of a lease
	Left      float64      `json:"lease_left_s"` // time left of this node's own lease
	Leader    string       `json:"leader"`       // leader of the view service; empty if unknown to this node
	Term      uint64       `json:"term"`
	Settled   bool         `json:"settled"`   // this node leads, and no change of voters is in progress
	Algorithm string       `json:"algorithm"` // all of them, in the form of Config.Algorithm
	Members   []MemberInfo `json:"members"`
	Ghosts    int          `json:"ghosts"` // evicted members whose leases may still run
	Clients   int          `json:"clients"`
	Held      int          `json:"held"`     // locks held through this node
	Waiting   int          `json:"waiting"`  // requests that wait at this node
	Known     int          `json:"known"`    // locks that this node knows
	Acquired  uint64       `json:"acquired"` // acquisitions through this node since it was started; 0 if it does not count them
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

// tellAbout answers a question of a caller who may ask it, other than AskLocks: see list.
func (n *Node) tellAbout(q *session.Question, who *Caller) ([]byte, error) {
	switch q.What {
	case AskStatus:
		return json.Marshal(n.status())
	case AskPulse:
		l, err := parseQuery[PulseQuery](q.Bytes)
		if err != nil {
			return nil, err
		}
		return n.pulse(&l, who)
	case AskPast:
		l, err := parseQuery[PastQuery](q.Bytes)
		if err != nil {
			return nil, err
		}
		return n.pastHolds(&l, who)
	case AskRelease, AskLeave, AskEvict, AskChoose, AskMove:
		return n.answerOrder(who, &Order{What: q.What, About: string(q.Bytes)})
	case AskOrderFor:
		o, err := parseOrder(q.Bytes)
		if err != nil {
			return nil, err
		}
		return n.answerOrder(who, &o)
	case AskLeader:
		l, err := parseQuery[LeaderQuery](q.Bytes)
		if err != nil {
			return nil, err
		}
		return json.Marshal(n.reportLeader(&l))
	case AskTrail:
		l, err := parseTrail(q.Bytes)
		if err != nil {
			return nil, err
		}
		r, err := n.trail(&l)
		if err != nil {
			return nil, err
		}
		return json.Marshal(r)
	case AskBackup:
		b, err := n.backup()
		n.audit.done(*who, askNames[q.What], err)
		if err != nil {
			return nil, err
		}
		return json.Marshal(BackupFile{b.Text()})
	}
	return nil, fmt.Errorf("the node does not know query %d: use the same version of stile on both sides", q.What)
}

// parseQuery reads the bytes of a question.
func parseQuery[Q any](b []byte) (q Q, err error) {
	if err := json.Unmarshal(b, &q); err != nil {
		return *new(Q), fmt.Errorf("malformed query: %w: use the same version of stile on both sides", err)
	}
	return q, nil
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
		Node: n.c.Name, Address: n.address, State: n.state().String(), Cluster: clusterID(cmp.Or(r.Cluster, n.cluster)),
		Epoch: r.Epoch, Lease: seconds(time.Duration(r.Settings.Lease)), Algorithm: chosen(r), Members: []MemberInfo{}, Ghosts: len(r.Ghosts),
	}
	for _, c := range r.Earlier {
		s.Recovered = append(s.Recovered, clusterID(c))
	}
	if n.state() == Joining {
		s.Why = n.waits()
		if c := n.fallback.client; c != nil {
			s.State = "client of " + c.Node()
		}
	}
	if n.state() == Member && !n.usable() {
		s.Why = "no lease, because " + n.noMajority(r)
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
	s.Clients = n.p.Sessions()
	if n.meter != nil {
		for x := range n.meter.Series {
			s.Acquired += x.Acquired
		}
	}
	if m := n.p.Member(); m != nil {
		s.Left = seconds(until(now, m.Deadline()))
		s.Known = m.Names()
		s.Held, s.Waiting = m.Counts()
	}
	return s
}

// chosen returns the algorithms of a cluster, in the form of Config.Algorithm.
func chosen(r *views.Record) string {
	var all []string
	for _, c := range r.Choices {
		if c.Prefix != "" {
			c.Algorithm = c.Prefix + "=" + c.Algorithm
		}
		all = append(all, c.Algorithm)
	}
	return strings.Join(all, ",")
}

// clusterID returns the number of a cluster as people see it.
func clusterID(cluster uint64) string { return fmt.Sprintf("%016x", cluster) }

// waits says why the node is not a member, as far as is known.
func (n *Node) waits() string {
	why, r, at := n.p.Waits(), n.p.Record(), strings.Join(n.contacts, ", ")
	switch {
	case why != "":
		return why
	case r.Cluster != 0:
		return n.noMajority(r)
	case slices.ContainsFunc(n.contacts, n.p.Linked):
		return "waiting for the nodes at " + at + " to admit it: " + n.noMajority(r)
	case at == "":
		return n.lately
	case n.lately == "":
		return "looking for a node of the cluster, at " + at
	}
	return fmt.Sprintf("looking for a node of the cluster, at %s: %s", at, n.lately)
}

// noMajority says that no majority of the voters answers, as far as this node sees, and what
// to do. The node cannot know which voters will come back, and which have their directories.
func (n *Node) noMajority(r *views.Record) string {
	why := "no majority of the voters answers"
	var missing []string
	for _, v := range r.Voters {
		if !v.Leaves && v.Address != n.address && !n.p.Linked(v.Address) {
			missing = append(missing, v.Name+" at "+v.Address)
		}
	}
	if len(missing) > 0 {
		why += ", and there is no connection to " + strings.Join(missing, ", ")
		if n.lately != "" {
			why += " (" + n.lately + ")"
		}
	}
	return why + ": start the other nodes, or check the network; if most voters' data directories are lost for good, see 'stile recover'"
}

func votes(r *views.Record, voter uint64) bool {
	return slices.ContainsFunc(r.Voters, func(v views.Voter) bool { return v.ID == voter && !v.Leaves })
}

// sameVoters reports whether the log has the voters that the record calls for.
func sameVoters(r *views.Record, list []uint64) bool {
	stay := slices.DeleteFunc(slices.Clone(r.Voters), func(v views.Voter) bool { return v.Leaves })
	return slices.EqualFunc(stay, list, func(v views.Voter, id uint64) bool { return v.ID == id })
}
