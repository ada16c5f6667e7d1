package node

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/session"
)

// Leaders: a process that holds a lock and has attached a value to it, if only an empty one,
// leads an election of that name until the lock is released or lost. Its term is the fencing
// token. A node reports the leaders that hold the lock through it, and remembers the last
// ones, so that an observer that asks again misses none.

// A LeaderQuery asks for the leader of an election.
type LeaderQuery struct {
	Name  string  `json:"name"`
	Since string  `json:"since"`  // term: leaders that have ended here are listed if theirs is higher; empty: none are
	Known string  `json:"known"`  // State of the last report; empty if there is none
	Wait  float64 `json:"wait_s"` // how long to wait, at most, while the state is the known one
}

// A LeaderReport is what a node knows of an election.
type LeaderReport struct {
	Node   string       `json:"node"`
	Lease  float64      `json:"lease_s"`
	State  string       `json:"state"`  // differs when the leader here, its value or the view does
	Leader *LeaderInfo  `json:"leader"` // leader through this node; null if there is none
	Past   []LeaderInfo `json:"past"`   // those that have ended, in the order of their terms
}

// A LeaderInfo is the leader of an election, or was.
type LeaderInfo struct {
	Party
	Token string `json:"token"`
	Value string `json:"value"`
}

// Bounds of what is kept for observers.
const (
	maxPast  = 500             // leaders that have ended, of all elections
	maxPolls = 16              // queries that wait, of one connection
	maxPoll  = 5 * time.Second // how long they wait; less than silence
)

// A leader is a LeaderInfo of an election.
type leader struct {
	name  string
	token member.Token
	LeaderInfo
}

// leaders are the leaders through this node, and the queries that wait for another one.
type leaders struct {
	now   map[string]*leader
	past  []*leader // in the order in which they ended
	polls map[string][]*poll
}

// A poll is a query that waits.
type poll struct {
	session.Question               // for a connection
	done             chan struct{} // for this process, if it is not nil: closed when it is over
	name             string
	timer            *time.Timer
}

// shown notes the leader of an election after a holder of its lock with a value has changed.
func (n *Node) shown(name string) {
	l, old := n.leading(name), n.leaders.now[name]
	switch {
	case l == nil && old == nil, l != nil && old != nil && *l == *old:
		return
	case l == nil:
		delete(n.leaders.now, name)
	default:
		if n.leaders.now == nil {
			n.leaders.now = map[string]*leader{}
		}
		n.leaders.now[name] = l
	}
	if old != nil && (l == nil || l.token != old.token) {
		if len(n.leaders.past) == maxPast {
			n.leaders.past = slices.Delete(n.leaders.past, 0, 1)
		}
		n.leaders.past = append(n.leaders.past, old)
	}
	n.wakePolls(name)
}

// leading returns the leader of an election through this node, or nil.
func (n *Node) leading(name string) *leader {
	m := n.p.Member()
	if m == nil {
		return nil
	}
	w, _ := m.Inspect(name)
	if w.Holder == nil {
		return nil
	}
	value, ok := n.value(w.Holder)
	if !ok {
		return nil
	}
	return &leader{name, w.Holder.Token, LeaderInfo{n.who(w.Holder.Client), w.Holder.Token.String(), value}}
}

// stateOf returns the state of an election for a LeaderReport.
func (n *Node) stateOf(name string) string {
	s := fmt.Sprint(n.nonce, " ", n.p.Record().Epoch)
	if l := n.leaders.now[name]; l != nil {
		s += fmt.Sprintf(" %v %q", l.token, l.Value)
	}
	return s
}

// reportLeader answers a query at once.
func (n *Node) reportLeader(q *LeaderQuery) LeaderReport {
	r := LeaderReport{Node: n.c.Name, Lease: seconds(time.Duration(n.p.Record().Settings.Lease)), State: n.stateOf(q.Name), Past: []LeaderInfo{}}
	if l := n.leaders.now[q.Name]; l != nil {
		r.Leader = &l.LeaderInfo
	}
	var since member.Token
	if _, err := fmt.Sscanf(q.Since, "%d.%d", &since.Epoch, &since.Count); err != nil {
		return r
	}
	for _, l := range n.leaders.past {
		if l.name == q.Name && since.Less(l.token) {
			r.Past = append(r.Past, l.LeaderInfo)
		}
	}
	return r
}

// postpone makes a query wait, if its caller knows the state. It reports false if the query
// must be answered now.
func (n *Node) postpone(p *poll) bool {
	q, err := parseQuery[LeaderQuery](p.Bytes)
	if err != nil || q.Wait <= 0 || q.Known != n.stateOf(q.Name) || n.over {
		return false
	}
	if v := n.conns[p.Conn]; v != nil {
		if v.polls >= maxPolls {
			return false
		}
		v.polls++
	}
	if n.leaders.polls == nil {
		n.leaders.polls = map[string][]*poll{}
	}
	p.name = q.Name
	n.leaders.polls[p.name] = append(n.leaders.polls[p.name], p)
	p.timer = time.AfterFunc(time.Duration(min(q.Wait, maxPoll.Seconds())*float64(time.Second)), func() {
		n.enter()
		if n.over {
			n.mu.Unlock()
			return
		}
		if n.removePoll(p) {
			n.finishPoll(p)
		}
		n.leave()
	})
	return true
}

// removePoll removes a query that waits. It reports false if it no longer does.
func (n *Node) removePoll(p *poll) bool {
	all := n.leaders.polls[p.name]
	i := slices.Index(all, p)
	if i < 0 {
		return false
	}
	p.timer.Stop()
	if all = slices.Delete(all, i, i+1); len(all) == 0 {
		delete(n.leaders.polls, p.name)
	} else {
		n.leaders.polls[p.name] = all
	}
	if v := n.conns[p.Conn]; v != nil {
		v.polls--
	}
	return true
}

// finishPoll answers a query that no longer waits.
func (n *Node) finishPoll(p *poll) {
	if p.done != nil {
		close(p.done)
		return
	}
	v := n.conns[p.Conn]
	if v == nil {
		return
	}
	ask := session.Frame{Kind: session.Ask, Number: p.Number, What: p.What, Bytes: p.Bytes}
	if answer := n.refusal(p.Conn, v, ask.AppendTo(nil)); answer != nil { // the rights have changed
		n.post(p.Conn, answer, false)
		return
	}
	n.answerNow(&p.Question)
}

// wakePolls answers the queries that wait for an election.
func (n *Node) wakePolls(name string) {
	for _, p := range slices.Clone(n.leaders.polls[name]) {
		n.removePoll(p)
		n.finishPoll(p)
	}
}

// wakeAllPolls answers all queries that wait.
func (n *Node) wakeAllPolls() {
	for name := range n.leaders.polls {
		n.wakePolls(name)
	}
}

// loseLeaders notes that the node is no longer a member: none leads through it.
func (n *Node) loseLeaders() {
	for name := range maps.Clone(n.leaders.now) {
		n.shown(name)
	}
	n.wakeAllPolls()
}

// endPolls removes the queries of a connection that has ended.
func (n *Node) endPolls(conn uint64) {
	for _, all := range n.leaders.polls {
		for _, p := range slices.Clone(all) {
			if p.Conn == conn {
				n.removePoll(p)
			}
		}
	}
}

// askHere asks this node a question for its own process.
func (n *Node) askHere(ctx context.Context, what uint64, about []byte) ([]byte, error) {
	who := &Caller{Identity: cert.Identity{Kind: cert.IsNode, Name: n.c.Name}}
	if what == AskLocks {
		return n.list(about, who)
	}
	p := &poll{Question: session.Question{What: what, Bytes: about}, done: make(chan struct{})}
	n.enter()
	if what == AskLeader && n.postpone(p) {
		n.leave()
		select {
		case <-p.done:
			n.enter()
		case <-n.ended:
			return nil, n.Err()
		case <-ctx.Done():
			n.enter()
			n.removePoll(p)
			n.leave()
			return nil, fmt.Errorf("the node did not answer: %w", context.Cause(ctx))
		}
	}
	defer n.leave()
	return n.tellAbout(&p.Question, who)
}
