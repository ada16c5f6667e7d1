package node

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/explain"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/words"
)

// A LockQuery asks for locks in use, page by page: what waits to be sent is bounded.
type LockQuery struct {
	Prefix string `json:"prefix"` // of their names
	After  string `json:"after"`  // what names must come after: Next of the previous page; empty for the first

	// Path of an identity, for which another node asks: only locks that it may read, too, are
	// listed. Empty if the caller asks for itself.
	For string `json:"for,omitempty"`

	// If not 0: instead of pages, this many locks at most that were acquired most often, in
	// use or not, and as many whose requests have waited longest. See By.
	Top int `json:"top,omitempty"`

	// With Top: the first locks by one criterion, ByWait, ByHold or ByRate, instead of both.
	By string `json:"by,omitempty"`

	// Whether homes list which transactions wait for which, also for locks that no process
	// holds or requests through them.
	Graph bool `json:"graph,omitempty"`

	// If there are any: these locks, in use or not, instead of those with a prefix.
	Names []string `json:"names,omitempty"`

	// Only locks that are waited for here (OnlyAwaited), or that leaders of elections hold here
	// (OnlyLed). Empty: all locks in use.
	Only string `json:"only,omitempty"`

	// If not 0: at most this many locks in a page, each with its first waiters only.
	Most int `json:"most,omitempty"`
}

// The values of LockQuery.Only.
const (
	OnlyAwaited = "awaited"
	OnlyLed     = "led"
)

// A LockPage lists locks in the order of their names. L is LockInfo, or the JSON of one.
type LockPage[L any] struct {
	Locks []L    `json:"locks"`
	Next  string `json:"next"` // After of the next page; empty if this is the last one
}

// A LockInfo is a lock in use, as one node knows it.
type LockInfo struct {
	Name      string       `json:"name"`
	Node      string       `json:"node"` // the node that reports it
	Algorithm string       `json:"algorithm"`
	Home      string       `json:"home"`
	Holder    *HolderInfo  `json:"holder"`           // holder through this node; null if there is none
	Shared    []HolderInfo `json:"shared,omitempty"` // of a kept lock: the other holders through this node
	Waiters   []WaiterInfo `json:"waiters"`
	Unlisted  int          `json:"unlisted,omitempty"` // number of other holders and waiters
	Why       string       `json:"why"`                // why requests wait here
	Because   []Decision   `json:"because,omitempty"`  // decisions of the algorithm here by which requests wait, here or at other nodes
	Acquired  uint64       `json:"acquired,omitempty"` // acquisitions here, since the lock is known to be busy
	Edges     []EdgeInfo   `json:"edges,omitempty"`    // Graph: which transactions wait for which, if this node is the lock's home
	Cut       bool         `json:"cut,omitempty"`      // there are more edges
}

// A Decision is why the requests of a node wait, as the algorithm decided.
type Decision struct {
	Node string `json:"node"` // whose requests wait
	Text string `json:"text"`
}

// An EdgeInfo says that a transaction waits for another at a kept lock.
type EdgeInfo struct {
	From  TxInfo `json:"from"`
	To    TxInfo `json:"to"`
	Holds bool   `json:"holds"` // To holds the lock; otherwise it waits before From
	Units int    `json:"units"` // of a semaphore: that To has or wants; 1 of others
	Spare int    `json:"spare"` // From waits until those it waits for have no more units together
}

// A TxInfo names a transaction.
type TxInfo struct {
	Node string `json:"node"` // at which it began
	Tx   uint64 `json:"tx"`   // its number there
}

// A Party is a process that holds a lock or waits for one.
type Party struct {
	Who      string `json:"who"`      // for people: the identity, the label, and the node
	Identity string `json:"identity"` // such as client/backup; empty without TLS
	Label    string `json:"label"`    // what the client calls itself, which nothing proves
	Session  uint64 `json:"session"`  // number of the client's session at the node; 0 for the node's own process
}

// A Demand is what a request for a kept lock has. It is empty for others.
type Demand struct {
	Mode  string `json:"mode,omitempty"`  // exclusive, shared, or a number of units
	Units int    `json:"units,omitempty"` // of a semaphore: how many it holds or wants
	Of    int    `json:"of,omitempty"`    // and how many there are
	Tx    uint64 `json:"tx,omitempty"`    // number of the transaction, unique at the node
}

// A HolderInfo is the holder of a lock.
type HolderInfo struct {
	Party
	Demand
	Token string  `json:"token"`
	Held  float64 `json:"held_s"` // time since it was acquired
	Left  float64 `json:"lease_left_s"`
	Value string  `json:"value,omitempty"` // attached by the holder

	// Delegated: the client acquires the lock again and again by itself, and returns it when it
	// is wanted elsewhere. It need not use it at present. The token is that of its first entry.
	Delegated bool `json:"delegated,omitempty"`
}

// A WaiterInfo is a request that waits for a lock.
type WaiterInfo struct {
	Party
	Demand
	Waited float64 `json:"waited_s"`
}

// Bounds of a page. A lock with the longest names and values, and as many holders and
// waiters, fits.
const (
	maxPage   = 1000 // locks
	maxListed = 500  // waiters of a lock
	maxShared = 100  // holders of a lock besides the first
	maxEdges  = 1000 // edges of a lock
)

// most returns the maximum number of locks in a page.
func (q *LockQuery) most() int {
	if q.Most > 0 {
		return min(q.Most, maxPage)
	}
	return maxPage
}

// unused describes a lock that is not known since the view began.
func (n *Node) unused(l *LockInfo, name string) {
	v := n.p.Record().View()
	l.Name = name
	if len(v.Members) > 0 {
		l.Home, l.Algorithm = v.Members[v.Home(name)].Name, v.Choices[v.Choose(name)].Algorithm
	}
}

// among reports whether a lock in use is one of those that a query asks for.
func (n *Node) among(q *LockQuery, l *member.Queue) bool {
	switch q.Only {
	case OnlyAwaited:
		return l.Waiting > 0
	case OnlyLed:
		return l.Held && n.leaders.now[string(l.Name)] != nil
	}
	return q.Graph || l.Held || l.Waiting > 0
}

// describe describes a lock.
func (n *Node) describe(m *member.Member, w *member.Snapshot) LockInfo {
	now := n.clock()
	l := LockInfo{Name: w.Name, Node: n.c.Name, Algorithm: w.Algorithm, Home: w.Home.Name, Waiters: []WaiterInfo{}}
	left := seconds(until(now, m.Deadline()))
	holder := func(h *member.Holder) HolderInfo {
		value, _ := n.value(h)
		return HolderInfo{n.who(h.Client), demand(h.Mode, h.Units, h.Tx), h.Token.String(), seconds(until(h.Since, now)), left, value, h.Delegated}
	}
	if w.Holder != nil {
		h := holder(w.Holder)
		l.Holder = &h
	}
	for i := range w.Shared {
		l.Shared = append(l.Shared, holder(&w.Shared[i]))
	}
	l.Unlisted = w.More
	for _, x := range w.Waiters {
		l.Waiters = append(l.Waiters, WaiterInfo{n.who(x.Client), demand(x.Mode, x.Units, x.Tx), seconds(until(x.Since, now))})
	}
	if len(l.Waiters) > 0 {
		l.Why = explain.Why(w, n.c.Name, now, func(session uint64) string { return n.who(session).Who })
	}
	decided := explain.Decisions(w)
	for _, d := range decided[:min(len(decided), maxListed)] {
		l.Because = append(l.Because, Decision{d.Who.Name, d.Text})
	}
	return l
}

// graph describes which transactions wait for which.
func (l *LockInfo) graph(edges []member.Edge) {
	if l.Cut = len(edges) > maxEdges; l.Cut {
		edges = edges[:maxEdges]
	}
	for i := range edges {
		e := &edges[i]
		l.Edges = append(l.Edges, EdgeInfo{txOf(&e.From), txOf(&e.To), e.Holds, e.Units, e.Spare})
	}
}

// demand describes what a request for a kept lock has. Others have no transaction.
func demand(m deadlock.Mode, units int, tx uint64) Demand {
	switch {
	case tx == 0:
		return Demand{}
	case m > deadlock.Exclusive:
		return Demand{m.String(), int(m), units, tx}
	}
	return Demand{Mode: m.String(), Tx: tx}
}

// value returns the value that a holder has attached to its lock; false if it has attached
// none.
func (n *Node) value(h *member.Holder) (value string, ok bool) {
	if h.Client != 0 {
		return n.p.Value(h.Ticket)
	}
	value, ok = n.values[h.Ticket]
	return value, ok
}

// Queue returns the sessions of the requests that wait for a lock at this node, the next one
// first; 0 for a request of the node's own process.
func (n *Node) Queue(name string) []uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := n.p.Member()
	if m == nil {
		return nil
	}
	w, _ := m.Inspect(name)
	var all []uint64
	for _, x := range w.Waiters {
		all = append(all, x.Client)
	}
	return all
}

// who describes a holder or a waiter. A client is named by its identity: its label is only
// what it calls itself.
func (n *Node) who(session uint64) Party {
	if session == 0 {
		return n.party(nil)
	}
	c, _ := n.p.Client(session)
	c.Session = session // also if it has ended
	return n.party(&c.Owner)
}

// party describes a client, also after the end of its session; nil is the node's own process.
func (n *Node) party(c *session.Owner) Party {
	if c == nil {
		return Party{Who: n.c.Name, Identity: n.identity()}
	}
	p := Party{Who: "a client", Identity: c.Who, Label: c.Label, Session: c.Session}
	if kind, name, ok := strings.Cut(c.Who, "/"); ok {
		p.Who = kind + " " + words.Quoted(name)
	}
	switch {
	case c.Label != "":
		p.Who += fmt.Sprintf(" (label %q)", c.Label)
	case c.Who == "":
		p.Who += fmt.Sprintf(" (session %x)", c.Session)
	}
	p.Who += " at " + n.c.Name
	return p
}

// identity returns the node's own identity; empty without TLS.
func (n *Node) identity() string {
	if n.keys == nil {
		return ""
	}
	return cert.Identity{Kind: cert.IsNode, Name: n.c.Name}.Path()
}

// forceRelease takes a lock from its holder, if it is held through this node; a kept lock,
// from all its holders here.
func (n *Node) forceRelease(name string) (Released, error) {
	m := n.p.Member()
	if m == nil {
		return Released{}, errors.New("the node is not a member at present: no lock is held through it")
	}
	w, ok := m.Inspect(name)
	if !ok || w.Holder == nil {
		return Released{}, fmt.Errorf("force-release %q: not held through %s: 'stile locks' shows through which node it is held", name, n.c.Name)
	}
	r := Released{name, w.Holder.Token.String(), n.who(w.Holder.Client).Who}
	n.step(process.Input{Kind: process.Release, Text: name, Token: w.Holder.Token})
	for _, h := range w.Shared {
		n.acks = append(n.acks, process.Input{Kind: process.Release, Text: name, Token: h.Token})
	}
	return r, n.p.Out.Err
}
