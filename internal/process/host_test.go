package process

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

const ms = member.Instant(member.Millisecond)

func settings() member.Settings {
	return member.Settings{Lease: 200 * member.Millisecond, Renew: 40 * member.Millisecond, Drift: 1000, Act: 10, Handover: 4, ViewLife: 20 * member.Millisecond, Replace: 600 * member.Millisecond}
}

// lease and act are the same as instants: how long a lease runs, and how long before
// its end holds are lost.
const (
	lease = 200 * ms
	act   = 20 * ms
)

func central() []member.Choice { return []member.Choice{{Algorithm: "central", Version: 1}} }

// A cluster is a few nodes with their disks, their clients and the network between
// them, in simulated time. It has one clock. It checks every step of every process:
// see node.check, node.promised and cluster.grant.
type cluster struct {
	t       testing.TB
	now     member.Instant
	nodes   []*node
	callers []*caller
	queue   queue
	queued  uint64
	conns   uint64     // how many connections clients have had
	rng     *rand.Rand // nil if nothing happens by chance
	calm    int        // how seldom something bad happens by chance

	founded bool // something is on a disk
	voters  int  // wanted by the founder
	choices []member.Choice
	observe bool
	logs    views.Logs
	delay   func(m *message) member.Instant // nil: a millisecond
	lost    func(m *message) bool           // nil: none is
	sent    func(m *message)                // is shown every message; may be nil
	cut     map[[2]string]bool              // pairs of nodes that have no connection
	breaks  map[[2]string]int               // how often the connection of a pair has broken

	holds  map[string][]*hold // by the lock's name
	tokens map[string]member.Token
	grants int
}

// A message is one from a node to another.
type message struct {
	from, to string
	bytes    []byte
	lossy    bool
}

// service returns the kind of a message to or from the view service.
func (m *message) service() (views.Kind, bool) {
	b, ok := IsService(m.bytes)
	if !ok || len(b) == 0 {
		return 0, false
	}
	return views.Kind(b[0]), true
}

// An event is something that will happen.
type event struct {
	at     member.Instant
	number uint64
	do     func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].number < q[j].number
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	x := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return x
}

// A node is a process, its disk and the applications that run in it.
type node struct {
	*Process
	c    *cluster
	name string
	life int  // how many processes have had this name
	down bool // it is not running
	in   Input

	drive   *raft.Drive
	durable raft.State // what is on the drive
	past    []byte     // what the process remembers
	saves   []save     // not acknowledged yet
	saving  bool
	slow    member.Instant // how long a save takes
	stalled bool           // no save ends
	number  uint64         // of the last save

	// What the process has done since it started.
	view     uint64         // that it has installed; 0 if it is not a member
	lease    member.Instant // when it ends
	views    []uint64
	ended    []views.Ending
	back     [][2]uint64 // epochs that were seen, and those that the cluster had gone back to
	failed   error
	told     []member.Event
	requests map[member.Ticket]string // the lock's name, of requests that have not ended
	held     map[member.Ticket]*hold
	replies  []Effect
	asked    []Effect
	cuts     []Effect
	hangUps  []Effect
	linkEnds []Effect
	claims   []Effect // that have ended
	effects  []Effect // of the last step; Bytes are not to be used after the next one
	woken    int
	sum      uint64 // of what the effects point to
	sums     uint64 // of all effects of all processes of this name
	digests  bool
}

// A save is one that the disk has still to do.
type save struct {
	number uint64
	erase  bool
	past   bool
	bytes  []byte
}

// A hold is a lock that an application of a node, or a client, believes to hold.
type hold struct {
	who   string
	name  string
	token member.Token
	until func() member.Instant // when it can no longer be acted on, if nothing happens before
}

// newCluster returns nodes that are not running.
func newCluster(t testing.TB, voters int, names ...string) *cluster {
	c := &cluster{
		t: t, now: 1000 * ms, voters: voters, logs: raft.Logs{Election: Election, Heartbeat: Heartbeat, MaxLog: 64},
		cut: map[[2]string]bool{}, breaks: map[[2]string]int{}, holds: map[string][]*hold{}, tokens: map[string]member.Token{},
	}
	usual := catalog.Live()[0]
	c.choices = []member.Choice{{Algorithm: usual.Name, Version: usual.Version}}
	for _, name := range names {
		c.add(name)
	}
	return c
}

// add adds a node that is not running.
func (c *cluster) add(name string) *node {
	n := &node{c: c, name: name, down: true, drive: raft.NewDrive()}
	c.nodes = append(c.nodes, n)
	return n
}

// formed returns a cluster in which all nodes are members, and as many of them voters
// as are wanted.
func formed(t testing.TB, voters int, names ...string) *cluster {
	t.Helper()
	c := newCluster(t, voters, names...)
	c.form()
	return c
}

// form starts all nodes, and waits until they are a cluster.
func (c *cluster) form() {
	c.t.Helper()
	for i, n := range c.nodes {
		n.boot(i == 0)
	}
	c.until("all nodes are members, and voters as are wanted", c.whole)
}

// whole reports whether all nodes that run are members of one view, and as many of
// them voters as are wanted.
func (c *cluster) whole() bool {
	l := c.leader()
	if l == nil {
		return false
	}
	r := l.Record()
	n := 0
	for _, o := range c.nodes {
		if o.down {
			continue
		}
		if n++; o.view != r.Epoch || o.Phase() != Member || !o.Member().Usable(c.now) {
			return false
		}
	}
	want := min(r.Wanted, 1+(n-1)/2*2)
	return len(r.Members) == n && len(l.voters()) >= want
}

func names(n int) []string { return strings.Split("abcdefghi", "")[:n] }

// at returns the node of a name, or nil.
func (c *cluster) at(name string) *node {
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// leader returns the node whose voter leads, or nil.
func (c *cluster) leader() *node {
	for _, n := range c.nodes {
		if !n.down && n.Voter() != nil && n.Voter().Lead().Serves {
			return n
		}
	}
	return nil
}

// follower returns a node whose voter does not lead.
func (c *cluster) follower() *node {
	c.t.Helper()
	for _, n := range c.nodes {
		if !n.down && n.Voter() != nil && !n.Voter().Lead().Serves {
			return n
		}
	}
	c.t.Fatal("no voter follows")
	return nil
}

// voters returns the voters of a leader's log, unless that is being changed.
func (n *node) voters() []uint64 {
	if l := n.Voter().Lead(); l.Settled && len(l.Learners) == 0 {
		return l.Voters
	}
	return nil
}

// knows reports whether a node knows a member of a name.
func (n *node) knows(name string) bool {
	return slices.ContainsFunc(n.Record().Members, func(m views.Member) bool { return m.Name == name })
}

// config returns how a node is started.
func (n *node) config(found bool) Config {
	c := n.c
	state, err := n.drive.Read()
	if err != nil {
		c.t.Fatalf("%s: %v", n.name, err)
	}
	config := Config{
		Begin:   Begin{Name: n.name, Address: n.name, State: state, Past: n.past, Settings: settings()},
		Logs:    c.logs,
		Spec:    catalog.MakeLive,
		Observe: c.observe,
	}
	config.Seed[0], config.Seed[1], config.Seed[2] = n.name[0], byte(n.life), byte(n.life>>8)
	for _, o := range c.nodes {
		if o != n {
			config.Contacts = append(config.Contacts, o.name)
		}
	}
	if found {
		config.Found = &Founding{Cluster: 1, Epoch: 1, Settings: settings(), Voters: c.voters, Choices: c.choices}
	}
	return config
}

// boot starts a process from what is on its disk.
func (n *node) boot(found bool) {
	n.c.t.Helper()
	n.bootWith(n.config(found))
}

func (n *node) bootWith(config Config) {
	c := n.c
	c.t.Helper()
	state, err := raft.ParseState(config.State)
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := New(config)
	if err != nil {
		c.t.Fatal(err)
	}
	*n = node{
		Process: p, c: c, name: n.name, life: n.life + 1, drive: n.drive, durable: state, past: n.past, slow: n.slow, stalled: n.stalled,
		requests: map[member.Ticket]string{}, held: map[member.Ticket]*hold{}, digests: n.digests, sums: n.sums,
	}
	n.sum = n.hash()
	n.step(Input{Kind: Start})
	for _, o := range c.nodes {
		if o != n && !o.down && !c.cut[pair(n.name, o.name)] {
			c.link(n, o)
		}
	}
}

// pair names two nodes.
func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// link makes the connection between two nodes.
func (c *cluster) link(a, b *node) {
	a.step(Input{Kind: Up, Text: b.name})
	b.step(Input{Kind: Up, Text: a.name})
}

// part breaks the connection between two nodes, until join.
func (c *cluster) part(a, b *node) {
	if c.cut[pair(a.name, b.name)] {
		return
	}
	c.cut[pair(a.name, b.name)] = true
	c.breaks[pair(a.name, b.name)]++
	for _, x := range [][2]*node{{a, b}, {b, a}} {
		if !x[0].down {
			x[0].step(Input{Kind: Down, Text: x[1].name})
		}
	}
}

// join makes it again.
func (c *cluster) join(a, b *node) {
	if !c.cut[pair(a.name, b.name)] {
		return
	}
	delete(c.cut, pair(a.name, b.name))
	if !a.down && !b.down {
		c.link(a, b)
	}
}

// isolate cuts a node off from all others, or connects it again.
func (c *cluster) isolate(n *node, cut bool) {
	for _, o := range c.nodes {
		if o == n {
			continue
		}
		if cut {
			c.part(n, o)
		} else {
			c.join(n, o)
		}
	}
}

// crash ends a process, and with it its applications and all connections. If the power
// fails, what the disk was doing is on it if chance says so.
func (n *node) crash() {
	if n.down {
		return
	}
	n.stop()
	if len(n.saves) > 0 && n.c.rng != nil && n.c.rng.IntN(2) == 0 {
		_ = n.do(n.saves[0])
	}
}

// stop is what the end of a process means for others.
func (n *node) stop() {
	c := n.c
	n.down = true
	for t := range n.held {
		n.release(t)
	}
	for _, o := range c.nodes {
		if o != n {
			c.breaks[pair(n.name, o.name)]++
		}
		if o != n && !o.down && !c.cut[pair(n.name, o.name)] {
			o.step(Input{Kind: Down, Text: n.name})
		}
	}
	for _, g := range c.callers {
		for _, l := range slices.Clone(g.lines) {
			if l.node == n {
				l.breaks()
			}
		}
	}
}

// after has something happen later.
func (c *cluster) after(d member.Instant, do func()) {
	c.queued++
	heap.Push(&c.queue, event{c.now + d, c.queued, do})
}

// next lets the next thing happen, if one does before an instant.
func (c *cluster) next(end member.Instant) bool {
	c.t.Helper()
	at := end + 1
	if len(c.queue) > 0 {
		at = min(at, c.queue[0].at)
	}
	var n *node
	for _, o := range c.nodes {
		if !o.down && o.Out.Wake < at {
			n, at = o, o.Out.Wake
		}
	}
	var g *caller
	for _, o := range c.callers {
		if o.Out.Wake < at {
			n, g, at = nil, o, o.Out.Wake
		}
	}
	if at > end {
		return false
	}
	c.now = max(c.now, at)
	switch {
	case g != nil:
		g.Wake(c.now)
		g.take()
	case n != nil:
		n.wake()
	default:
		heap.Pop(&c.queue).(event).do()
	}
	return true
}

// wake hands in Wake. A process that has done what was due wants to be woken later.
func (n *node) wake() {
	n.woken++
	n.step(Input{Kind: Wake})
	if n.Out.Wake <= n.c.now {
		n.c.t.Fatalf("%s was woken at %d, and wants to be woken at %d", n.name, n.c.now, n.Out.Wake)
	}
}

// pass lets time pass.
func (c *cluster) pass(d member.Instant) {
	c.t.Helper()
	end := c.now + d
	for c.next(end) {
	}
	c.now = end
}

// until lets time pass until something is so.
func (c *cluster) until(what string, so func() bool) {
	c.t.Helper()
	for end := c.now + 8000*ms; !so(); {
		if !c.next(end) {
			c.t.Fatalf("after eight seconds: not %s", what)
		}
	}
}
