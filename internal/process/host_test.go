package process

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/member"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

const ms = member.Instant(member.Millisecond)

func settings() member.Settings {
	return member.Settings{Lease: 200 * member.Millisecond, Renew: 40 * member.Millisecond, Drift: 1000, Act: 10, Handover: 4, ViewLife: 20 * member.Millisecond}
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
	logs    engine.Logs
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
func (m *message) service() (engine.Kind, bool) {
	b, ok := IsService(m.bytes)
	if !ok || len(b) == 0 {
		return 0, false
	}
	return engine.Kind(b[0]), true
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
	saves   []save     // not acknowledged yet
	saving  bool
	slow    member.Instant // how long a save takes
	stalled bool           // no save ends
	number  uint64         // of the last save

	// What the process has done since it started.
	view     uint64         // that it has installed; 0 if it is not a member
	lease    member.Instant // when it ends
	views    []uint64
	ended    []engine.Ending
	failed   error
	told     []member.Event
	requests map[member.Ticket]string // the lock's name, of requests that have not ended
	held     map[member.Ticket]*hold
	replies  []Effect
	asked    []Effect
	cuts     []Effect
	hangUps  []Effect
	linkEnds []Effect
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
	return slices.ContainsFunc(n.Record().Members, func(m engine.Member) bool { return m.Name == name })
}

// config returns how a node is started.
func (n *node) config(found bool) Config {
	c := n.c
	state, err := n.drive.Read()
	if err != nil {
		c.t.Fatalf("%s: %v", n.name, err)
	}
	config := Config{
		Begin:   Begin{Name: n.name, Address: n.name, State: state, Settings: settings()},
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
		Process: p, c: c, name: n.name, life: n.life + 1, drive: n.drive, durable: state, slow: n.slow, stalled: n.stalled,
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

// isolate parts a node from all others, or joins it again.
func (c *cluster) isolate(n *node, parted bool) {
	for _, o := range c.nodes {
		if o == n {
			continue
		}
		if parted {
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
		if g.node == n {
			g.disconnect()
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

// step hands an input to a process and carries out the effects.
func (n *node) step(in Input) {
	n.c.t.Helper()
	if n.down {
		n.c.t.Fatalf("%s takes %v, but it is not running", n.name, in.Kind)
	}
	if n.sum != n.hash() {
		n.c.t.Fatalf("%s: what the effects of the last step point to has changed before %v", n.name, in.Kind)
	}
	for i := range n.in.Bytes { // the process may keep nothing of it
		n.in.Bytes[i] = 0xa5
	}
	n.in = in
	n.in.Bytes = slices.Clone(in.Bytes)
	n.in.At = n.c.now
	was := n.Phase()
	n.Step(&n.in)
	n.effects = n.Out.Effects
	n.sum = n.hash()
	if in.Kind == Lock && n.Out.Err == nil {
		n.requests[n.Out.Ticket] = in.Text
	}
	n.check(was)
	n.carryOut()
	if n.Member() != nil {
		n.lease = n.Member().Deadline() + act
	}
	if n.Phase() == Over && !n.down {
		n.stop()
	}
}

var seed = maphash.MakeSeed()

// hash is of all that effects point to.
func (n *node) hash() uint64 {
	if n.Process == nil {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range n.Out.Effects {
		e := &n.Out.Effects[i]
		h.WriteByte(byte(e.Kind))
		h.Write(e.Bytes)
		if e.Question != nil {
			h.Write(e.Question.Bytes)
		}
		if e.Record != nil {
			h.Write(e.Record.AppendTo(nil))
		}
	}
	return h.Sum64()
}

// first reports whether an effect must come before those of which others can learn.
func first(k EffectKind) bool { return k <= Ended || k > Failed }

// check judges what came of a step: the order of the effects, and that nothing comes
// of one that has ended.
func (n *node) check(was Phase) {
	t, out := n.c.t, &n.Out
	t.Helper()
	if was == Over && (len(out.Effects) > 0 || out.Err != ErrOver) {
		t.Fatalf("%s has ended, and takes %v: %d effects, error %v", n.name, n.in.Kind, len(out.Effects), out.Err)
	}
	if n.Phase() == Over && out.Wake != member.Never {
		t.Fatalf("%s has ended, and wants to be woken at %d", n.name, out.Wake)
	}
	others := false // effects by which others learn of something
	for i := range out.Effects {
		e := &out.Effects[i]
		switch {
		case e.Kind == Failed:
			if others || i != len(out.Effects)-1 {
				t.Fatalf("%s fails, and does something else too: %s", n.name, list(out.Effects))
			}
		case first(e.Kind):
			if others {
				t.Fatalf("%s: effect %d comes too late: %s", n.name, i, list(out.Effects))
			}
		default:
			others = true
		}
		n.note(e)
	}
}

// list names effects.
func list(all []Effect) string {
	s := ""
	for i := range all {
		s += fmt.Sprint(" ", all[i].Kind)
	}
	return s
}

// note adds an effect to the digest of what a process does.
func (n *node) note(e *Effect) {
	if !n.digests {
		return
	}
	var h maphash.Hash
	h.SetSeed(seed)
	maphash.WriteComparable(&h, n.sums)
	fmt.Fprint(&h, n.c.now, e.Kind, e.Lossy, e.Last, e.How, e.To, e.Conn, e.Number, e.Peer, e.Event, e.Err)
	h.Write(e.Bytes)
	if e.Record != nil {
		h.Write(e.Record.AppendTo(nil))
	}
	n.sums = h.Sum64()
}

// carryOut does what a process wants done.
func (n *node) carryOut() {
	c := n.c
	c.t.Helper()
	for i := range n.Out.Effects {
		switch e := &n.Out.Effects[i]; e.Kind {
		case Notify:
			n.notify(&e.Event)
		case View:
			if n.asks != nil && e.Record == n.asks.Record() {
				c.t.Fatalf("%s hands out its own record, which may change within the step", n.name)
			}
			if e.Record.Epoch <= n.view {
				c.t.Fatalf("%s installs epoch %d after %d", n.name, e.Record.Epoch, n.view)
			}
			n.view = e.Record.Epoch
			n.views = append(n.views, n.view)
		case Ended:
			n.view = 0
			n.ended = append(n.ended, e.How)
			if len(n.held) > 0 {
				c.t.Fatalf("%s is no longer a member, and its applications hold %d locks", n.name, len(n.held))
			}
		case Send:
			n.send(e)
		case Reply:
			n.replies = append(n.replies, keep(e))
			n.reply(e)
		case Ask:
			n.asked = append(n.asked, keep(e))
		case Save, Erase:
			if n.number++; e.Number != n.number {
				c.t.Fatalf("%s: save %d after %d others", n.name, e.Number, n.number-1)
			}
			n.saves = append(n.saves, save{e.Number, e.Kind == Erase, slices.Clone(e.Bytes)})
			n.runDisk()
		case HangUp:
			n.hangUps = append(n.hangUps, keep(e))
			n.hangUp(e.To)
		case Cut:
			n.cuts = append(n.cuts, keep(e))
			if g := c.caller(e.Conn); g != nil {
				g.disconnect()
			}
		case LinkEnded:
			n.linkEnds = append(n.linkEnds, keep(e))
		case Failed:
			n.failed = e.Err
		}
	}
}

// keep returns an effect whose bytes stay.
func keep(e *Effect) Effect {
	k := *e
	k.Bytes = slices.Clone(e.Bytes)
	if e.Question != nil {
		q := *e.Question
		q.Bytes = slices.Clone(q.Bytes)
		k.Question = &q
	}
	return k
}

// send sends a message.
func (n *node) send(e *Effect) {
	c := n.c
	c.t.Helper()
	m := &message{n.name, e.To, slices.Clone(e.Bytes), e.Lossy}
	switch m.bytes[0] {
	case Packet:
		epoch, from, _, err := member.PacketEnds(m.bytes[1:])
		if err != nil || epoch != n.view || from != n.Inc() {
			c.t.Fatalf("%s has installed epoch %d as incarnation %d, and sends a packet of epoch %d from %d: %v", n.name, n.view, n.Inc(), epoch, from, err)
		}
		if m.lossy {
			c.t.Fatalf("%s: a packet may get lost", n.name)
		}
	case voterMessage:
		n.promised(m.bytes[1:])
	}
	if c.sent != nil {
		c.sent(m)
	}
	to := c.at(m.to)
	if to == nil || c.lost != nil && c.lost(m) {
		return
	}
	delay := ms
	if c.delay != nil {
		delay = c.delay(m)
	}
	broken := c.breaks[pair(m.from, m.to)]
	if c.cut[pair(m.from, m.to)] || to.down {
		return
	}
	arrive := func() {
		if !to.down && c.breaks[pair(m.from, m.to)] == broken {
			to.step(Input{Kind: Message, Text: m.from, Bytes: m.bytes})
		}
	}
	c.after(delay, arrive)
	if c.rng != nil && c.rng.IntN(30) == 0 { // it comes twice
		c.after(delay+member.Instant(c.rng.Int64N(int64(50*ms))), arrive)
	}
}

// promised checks that what a voter says to others is on its disk, as far as they rely
// on that: its vote, and the entries that it confirms.
func (n *node) promised(b []byte) {
	t, s := n.c.t, &n.durable
	t.Helper()
	to, k := binary.Uvarint(b)
	from, l := binary.Uvarint(b[k:])
	m := new(pb.Message)
	if err := proto.Unmarshal(b[k+l+1+8:], m); err != nil {
		t.Fatal(err)
	}
	switch {
	case from != s.ID:
		t.Fatalf("%s speaks as voter %d, and its disk is that of %d", n.name, from, s.ID)
	case m.GetType() == pb.MsgVoteResp && !m.GetReject() && (s.Hard.Term < m.GetTerm() || s.Hard.Term == m.GetTerm() && s.Hard.Vote != to):
		t.Fatalf("%s votes for %d in term %d before that is durable: %+v", n.name, to, m.GetTerm(), s.Hard)
	case m.GetType() == pb.MsgAppResp && !m.GetReject() && (s.Hard.Term < m.GetTerm() || s.Last() < m.GetIndex()):
		t.Fatalf("%s confirms index %d in term %d before that is durable: %d, %+v", n.name, m.GetIndex(), m.GetTerm(), s.Last(), s.Hard)
	}
}

// hangUp breaks a connection, which is made again soon.
func (n *node) hangUp(to string) {
	c := n.c
	if o := c.at(to); o != nil && o != n {
		life := n.life
		c.after(0, func() {
			if n.life == life && !n.down && !c.cut[pair(n.name, to)] {
				c.part(n, o)
				c.after(10*ms, func() { c.join(n, o) })
			}
		})
	}
}

// runDisk has the disk begin the next save, unless it is doing one.
func (n *node) runDisk() {
	if n.saving || n.stalled || len(n.saves) == 0 {
		return
	}
	n.saving = true
	life := n.life
	n.c.after(n.slow, func() {
		if n.life != life || n.down {
			return
		}
		if n.saving = false; n.stalled {
			return
		}
		s := n.saves[0]
		n.saves = n.saves[1:]
		in := Input{Kind: Saved, Number: s.number}
		if err := n.do(s); err != nil {
			in.Text = err.Error()
		}
		n.step(in)
		n.runDisk()
	})
}

// do has the disk do something.
func (n *node) do(s save) error {
	if s.erase {
		n.durable = raft.State{}
		return n.drive.Erase()
	}
	if err := n.drive.Write(s.bytes); err != nil {
		return err
	}
	n.c.founded = true
	b, err := raft.ParseBatch(s.bytes)
	if err == nil {
		err = n.durable.Apply(b)
	}
	return err
}

// stall has the disk stop, or go on.
func (n *node) stall(stalled bool) {
	n.stalled = stalled
	n.runDisk()
}

// notify tells an application what became of its request.
func (n *node) notify(e *member.Event) {
	c := n.c
	c.t.Helper()
	name, ok := n.requests[e.Ticket]
	if !ok {
		c.t.Fatalf("%s tells %+v of a request that is not known", n.name, *e)
	}
	n.told = append(n.told, *e)
	if e.Kind == member.Held {
		h := &hold{who: n.name, name: name, token: e.Token}
		h.until = func() member.Instant { return n.lease }
		n.held[e.Ticket] = h
		c.grant(h)
		return
	}
	if h := n.held[e.Ticket]; h != nil {
		if e.Kind != member.Lost || e.Token != h.token {
			c.t.Fatalf("%s held %s with %v, and is told %+v", n.name, name, h.token, *e)
		}
		until := c.now
		if e.Cause == member.Lease { // one that looked just before may still act
			until = n.lease
		}
		h.until = func() member.Instant { return until }
	}
	delete(n.held, e.Ticket)
	delete(n.requests, e.Ticket)
}

// grant judges that a lock is granted: it is not held elsewhere, and its token is
// higher than all before.
func (c *cluster) grant(h *hold) {
	c.t.Helper()
	c.grants++
	c.holds[h.name] = slices.DeleteFunc(c.holds[h.name], func(o *hold) bool { return o.until() <= c.now })
	for _, o := range c.holds[h.name] {
		c.t.Fatalf("%d: %s acquires %s with %v, and %s holds it with %v until %d", c.now/ms, h.who, h.name, h.token, o.who, o.token, o.until())
	}
	c.holds[h.name] = append(c.holds[h.name], h)
	if last := c.tokens[h.name]; !last.Less(h.token) {
		c.t.Fatalf("%s acquires %s with %v after %v", h.who, h.name, h.token, last)
	}
	c.tokens[h.name] = h.token
}

// over notes that a hold cannot be acted on any more.
func (c *cluster) over(h *hold) {
	c.holds[h.name] = slices.DeleteFunc(c.holds[h.name], func(o *hold) bool { return o == h })
}

// release notes that an application no longer holds a lock.
func (n *node) release(t member.Ticket) {
	n.c.over(n.held[t])
	delete(n.held, t)
	delete(n.requests, t)
}

// ask requests a lock.
func (n *node) ask(name string) member.Ticket {
	n.c.t.Helper()
	n.step(Input{Kind: Lock, Text: name})
	if n.Out.Err != nil {
		n.c.t.Fatalf("%s requests %s: %v", n.name, name, n.Out.Err)
	}
	return n.Out.Ticket
}

// lock requests a lock, and waits until it is held.
func (n *node) lock(name string) member.Ticket {
	n.c.t.Helper()
	t := n.ask(name)
	n.c.until(n.name+" holds "+name, func() bool { return n.held[t] != nil })
	return t
}

// unlock releases a lock that is held.
func (n *node) unlock(t member.Ticket) {
	n.c.t.Helper()
	h := n.held[t]
	n.release(t)
	if n.step(Input{Kind: Unlock, Text: h.name, Token: h.token}); n.Out.Err != nil {
		n.c.t.Fatalf("%s releases %s: %v", n.name, h.name, n.Out.Err)
	}
}

// lostOnes returns the causes of what was lost or stopped.
func (n *node) lostOnes(kind member.EventKind) (all []member.Cause) {
	for _, e := range n.told {
		if e.Kind == kind {
			all = append(all, e.Cause)
		}
	}
	return all
}

// A caller is a client process and its connection.
type caller struct {
	*client.Guest
	c      *cluster
	name   string
	node   *node // that it is connected to, or nil
	conn   uint64
	number uint64 // of the connection, as the client counts
	asked  uint64 // the number of the last request
	told   []client.Event
	names  map[uint64]string // of requests that have not ended
	held   map[uint64]*hold
	last   map[uint64]member.Instant // until when each hold could be acted on
	gone   bool
}

// call starts a client that knows some nodes.
func (c *cluster) call(name string, nodes ...string) *caller {
	c.t.Helper()
	g, err := client.NewGuest(c.now, client.GuestConfig{
		Name: name, Nodes: nodes, Retry: 10 * member.Millisecond, MaxRetry: 50 * member.Millisecond, Dial: 50 * member.Millisecond, Seed: uint64(len(c.callers)),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	v := &caller{Guest: g, c: c, name: name, names: map[uint64]string{}, held: map[uint64]*hold{}, last: map[uint64]member.Instant{}}
	c.callers = append(c.callers, v)
	v.take()
	return v
}

// caller returns who has a connection, or nil.
func (c *cluster) caller(conn uint64) *caller {
	for _, g := range c.callers {
		if conn != 0 && g.conn == conn {
			return g
		}
	}
	return nil
}

// take does what a client wants done.
func (g *caller) take() {
	c := g.c
	c.t.Helper()
	for i := range g.Out.Events {
		g.event(&g.Out.Events[i])
	}
	for r := range g.held {
		if end := g.Deadline(r); end != 0 {
			g.last[r] = end + member.Instant(g.Act())
		}
	}
	if d := g.Out.Dial; d != (client.Dial{}) {
		g.disconnect()
		g.dial(d)
	}
	for _, b := range g.Out.Frames {
		g.post(slices.Clone(b))
	}
	g.Out.Reset()
}

// dial makes a connection.
func (g *caller) dial(d client.Dial) {
	c := g.c
	g.number = d.Conn
	n := c.at(d.Address)
	if n == nil || n.down || g.gone {
		c.after(ms, func() {
			g.Disconnected(c.now, d.Conn)
			g.take()
		})
		return
	}
	c.conns++
	g.node, g.conn = n, c.conns
	c.after(ms, func() {
		if g.number == d.Conn && g.node != nil {
			g.Connected(c.now, d.Conn)
			g.take()
		}
	})
}

// post sends a frame to the node.
func (g *caller) post(b []byte) {
	n, conn := g.node, g.conn
	if n == nil {
		return
	}
	life := n.life
	g.c.after(ms, func() {
		if !n.down && n.life == life && g.conn == conn {
			n.step(Input{Kind: Frame, Number: conn, Bytes: b})
		}
	})
}

// reply sends a frame to a client.
func (n *node) reply(e *Effect) {
	c := n.c
	g := c.caller(e.Conn)
	if g == nil {
		return
	}
	b, last, conn, number := slices.Clone(e.Bytes), e.Last, e.Conn, g.number
	c.after(ms, func() {
		if g.conn != conn {
			return
		}
		if len(b) > 0 {
			if err := g.Receive(c.now, number, b); err != nil {
				c.t.Fatalf("%s refuses a frame: %v", g.name, err)
			}
			g.take()
		}
		if last && g.conn == conn {
			g.disconnect()
		}
	})
}

// disconnect breaks the connection of a client. Both ends hear of it.
func (g *caller) disconnect() {
	n, c, conn, number := g.node, g.c, g.conn, g.number
	if n == nil {
		return
	}
	g.node, g.conn = nil, 0
	life := n.life
	c.after(ms, func() {
		if !n.down && n.life == life {
			n.step(Input{Kind: Closed, Number: conn})
		}
		g.Disconnected(c.now, number)
		g.take()
	})
}

// event takes what a client tells its application.
func (g *caller) event(e *client.Event) {
	c := g.c
	g.told = append(g.told, *e)
	h := g.held[e.Request]
	switch e.Kind {
	case client.Granted:
		h = &hold{who: g.name, name: g.names[e.Request], token: e.Token}
		r := e.Request
		h.until = func() member.Instant { return g.Deadline(r) + member.Instant(g.Act()) }
		g.held[r] = h
		c.grant(h)
	case client.Taken:
		until := c.now
		if e.Cause == member.Session || e.Cause == member.Lease { // one that looked just before may still act
			until = min(g.last[e.Request], c.now+member.Instant(g.Act()))
		}
		h.until = func() member.Instant { return until }
		delete(g.held, e.Request)
		delete(g.names, e.Request)
	case client.Refused, client.Left:
		delete(g.names, e.Request)
	}
}

// ask requests a lock.
func (g *caller) ask(name string) uint64 {
	g.c.t.Helper()
	return g.request(name, client.Opts{})
}

func (g *caller) request(name string, o client.Opts) uint64 {
	g.c.t.Helper()
	r, err := g.Lock(g.c.now, name, o)
	if err != nil {
		g.c.t.Fatal(err)
	}
	g.names[r], g.asked = name, r
	g.take()
	return r
}

// lock requests a lock, and waits until it is held.
func (g *caller) lock(name string) uint64 {
	g.c.t.Helper()
	r := g.ask(name)
	g.c.until(g.name+" holds "+name, func() bool { return g.held[r] != nil })
	return r
}

// unlock releases a lock, or takes a request back.
func (g *caller) unlock(r uint64) {
	if h := g.held[r]; h != nil {
		g.c.over(h)
		delete(g.held, r)
	}
	_ = g.Unlock(g.c.now, r)
	g.take()
}
