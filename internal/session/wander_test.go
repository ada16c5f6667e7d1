package session

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A land is some clients and nodes that crash, leave and are restarted, on connections that
// break. One book of all locks stands for the cluster: a lock is held by sessions, and a
// claim adds one. What the cluster does about claims is the business of the storm; this is
// about clients: no two hold a lock, and none leaves one behind.
type land struct {
	chance *rand.Rand
	now    member.Instant
	events queue
	seq    int
	inns   []*testNode
	all    []*road
	locks  map[string]*entry
	people []*wanderer
	last   uint64 // session, incarnation
	calm   bool
	broken string

	entries, moves, lost int
}

// A testNode is a node.
type testNode struct {
	l        *land
	name     string
	inc      uint64
	down     bool
	leaving  bool
	sessions []*nodeSession
}

// A nodeSession is a session at a node. It outlives the node, as its lease does.
type nodeSession struct {
	at    *testNode
	id    uint64
	hello uint64
	road  *road
	until member.Instant
	asks  map[uint64]bool // claims that are not decided
}

// An entry is a lock: who holds it, and who waits.
type entry struct {
	count   uint64
	holders []spot
	queue   []spot
}

// A spot is a request of a session.
type spot struct {
	g      *nodeSession
	number uint64
}

// A road is a connection.
type road struct {
	of     *wanderer
	to     *testNode
	inc    uint64
	number uint64
	g      *nodeSession
	dead   bool
	at     [2]member.Instant // when the last frame arrives
}

// A wanderer is a client and its applications.
type wanderer struct {
	l      *land
	g      *Client
	roads  []*road
	still  bool
	queue  []func()
	names  map[uint64]string
	held   map[uint64]bool
	wakeAt member.Instant
}

func (l *land) after(d member.Span, do func()) {
	l.seq++
	heap.Push(&l.events, happening{int64(l.now) + max(int64(d), 1), l.seq, do})
}

func (l *land) below(d member.Span) member.Span { return member.Span(l.chance.Int64N(int64(d))) }

func (l *land) fault(format string, args ...any) {
	if l.broken == "" {
		l.broken = fmt.Sprintf(format, args...)
	}
}

func newLand(seed uint64) *land {
	l := &land{chance: rand.New(rand.NewPCG(seed, 8)), now: 1, locks: map[string]*entry{}}
	var names []string
	for i := range 2 + l.chance.IntN(3) {
		names = append(names, fmt.Sprint("n", i))
		l.last++
		l.inns = append(l.inns, &testNode{l: l, name: names[i], inc: l.last})
	}
	for i := range 3 {
		at := i % len(names)
		v := &wanderer{l: l, names: map[uint64]string{}, held: map[uint64]bool{}}
		v.g, _ = NewClient(l.now, ClientConfig{
			Nodes: slices.Concat(names[at:], names[:at]), Retry: 5 * ms, MaxRetry: 50 * ms, Dial: 100 * ms, Seed: l.chance.Uint64(),
		})
		l.people = append(l.people, v)
		v.take()
		l.after(1, v.act)
	}
	l.after(1, l.strike)
	return l
}

// carry delivers something at one end of a connection, in order.
func (l *land) carry(r *road, way int, do func()) {
	if r.dead {
		return
	}
	r.at[way] = max(r.at[way], l.now+member.Instant(1+l.below(3*ms)))
	if l.chance.IntN(40) == 0 && !l.calm {
		r.at[way] += member.Instant(l.below(200 * ms))
	}
	l.after(member.Span(r.at[way]-l.now), do)
}

// snap breaks a connection. The client may hear of it.
func (l *land) snap(r *road, told bool) {
	if r.dead {
		return
	}
	r.dead = true
	if r.g != nil && r.g.road == r {
		r.g.road = nil
	}
	if told || l.calm {
		l.after(l.below(5*ms), func() { r.of.step(func() { r.of.g.Disconnected(l.now, r.number) }) })
	}
}

// step lets a client do something, or later if it is paused.
func (v *wanderer) step(f func()) {
	if v.still {
		v.queue = append(v.queue, f)
		return
	}
	f()
	v.take()
}

func (v *wanderer) take() {
	l := v.l
	out := v.g.Out
	v.g.Out = ClientOut{Wake: out.Wake}
	for i := range out.Events {
		v.told(&out.Events[i])
	}
	for _, d := range out.Dials {
		i := slices.IndexFunc(l.inns, func(n *testNode) bool { return n.name == d.Address })
		r := &road{of: v, to: l.inns[i], inc: l.inns[i].inc, number: d.Conn, dead: l.inns[i].down}
		v.roads = append(v.roads, r)
		l.after(1+l.below(3*ms), func() {
			v.step(func() {
				if r.dead {
					v.g.Disconnected(l.now, d.Conn)
				} else {
					v.g.Connected(l.now, d.Conn)
				}
			})
		})
	}
	for _, o := range out.Frames {
		r := v.road(o.Conn)
		l.carry(r, 0, func() { r.to.receive(r, o.Bytes) })
	}
	for _, conn := range out.HangUps {
		r := v.road(conn)
		v.roads = slices.DeleteFunc(v.roads, func(o *road) bool { return o == r })
		l.carry(r, 0, func() { l.snap(r, false) })
	}
	if len(v.roads) > 2*len(l.inns)+maxOld {
		v.roads = slices.DeleteFunc(v.roads, func(r *road) bool { return r.dead })
	}
	if (v.wakeAt <= l.now || out.Wake < v.wakeAt) && out.Wake != member.Never {
		v.wakeAt = max(l.now+1, out.Wake)
		l.after(member.Span(v.wakeAt-l.now), func() { v.step(func() { v.g.Wake(l.now) }) })
	}
}

func (v *wanderer) road(conn uint64) *road {
	for _, r := range v.roads {
		if r.number == conn {
			return r
		}
	}
	return &road{of: v, dead: true}
}

func (v *wanderer) told(e *Event) {
	l := v.l
	name, known := v.names[e.Request]
	if !known {
		l.fault("told %+v of a request that is over", e)
	}
	switch e.Kind {
	case Granted:
		l.entries++
		for _, o := range l.people {
			for r := range o.held {
				if o.names[r] == name && l.now < o.g.Deadline(r)+member.Instant(o.g.Act(r)) {
					l.fault("%s is held twice", name)
				}
			}
		}
		v.held[e.Request] = true
		hold := l.below(30 * ms)
		if l.chance.IntN(2) == 0 && !l.calm {
			hold = l.below(3000 * ms)
		}
		l.after(hold, func() { v.leave(e.Request) })
		return
	case Again:
		return
	case Taken:
		l.lost++
	}
	delete(v.held, e.Request)
	delete(v.names, e.Request)
}

func (v *wanderer) leave(r uint64) {
	v.step(func() {
		if v.g.Unlock(v.l.now, r) == nil {
			delete(v.held, r)
		}
	})
}

// act lets an application ask for something.
func (v *wanderer) act() {
	l := v.l
	if l.calm {
		return
	}
	v.step(func() {
		if len(v.names) < 3 {
			name := fmt.Sprint("l", l.chance.IntN(3))
			r, err := v.g.Lock(l.now, name, Opts{})
			if err != nil {
				l.fault("%v", err)
			}
			v.names[r] = name
			if l.chance.IntN(4) == 0 {
				l.after(l.below(300*ms), func() { v.leave(r) })
			}
		}
	})
	l.after(l.below(100*ms), v.act)
}

// strike lets something bad happen.
func (l *land) strike() {
	if l.calm {
		return
	}
	v, n := l.people[l.chance.IntN(len(l.people))], l.inns[l.chance.IntN(len(l.inns))]
	switch l.chance.IntN(9) {
	case 0, 1, 2:
		for _, r := range slices.Clone(v.roads) {
			if l.chance.IntN(2) == 0 {
				l.snap(r, l.chance.IntN(3) > 0)
			}
		}
	case 3:
		if !v.still {
			v.still = true
			l.after(l.below(1500*ms), v.goOn)
		}
	case 4, 5:
		l.crash(n, l.below(600*ms))
	case 6:
		n.move()
	default:
		n.leave()
	}
	l.after(l.below(500*ms), l.strike)
}

func (v *wanderer) goOn() {
	v.still = false
	queue := v.queue
	v.queue = nil
	v.step(func() { v.g.Wake(v.l.now) })
	for _, f := range queue {
		v.step(f)
	}
}

// crash ends a node, and starts another one in its place.
func (l *land) crash(n *testNode, rest member.Span) {
	if n.down {
		return
	}
	n.down, n.leaving = true, false
	n.sessions = nil
	for _, r := range l.all {
		if r.to == n {
			l.snap(r, l.chance.IntN(3) > 0)
		}
	}
	l.all = slices.DeleteFunc(l.all, func(r *road) bool { return r.dead })
	l.after(rest, func() {
		l.last++
		n.inc, n.down = l.last, false
	})
}

// leave lets a node leave: it withdraws what waits, and goes when nothing is held.
func (n *testNode) leave() {
	if n.down || n.leaving {
		return
	}
	n.leaving = true
	for _, g := range n.sessions {
		for _, e := range n.l.locks {
			e.queue = slices.DeleteFunc(e.queue, func(s spot) bool { return s.g == g })
		}
		g.say(&Frame{Kind: Bye, Why: Leaving})
	}
	inc := n.inc
	var look func()
	look = func() {
		if n.inc != inc || n.down {
			return
		}
		for _, e := range n.l.locks {
			if slices.ContainsFunc(e.holders, func(s spot) bool { return s.g.at == n && slices.Contains(n.sessions, s.g) }) {
				n.l.after(10*ms, look)
				return
			}
		}
		n.l.crash(n, n.l.below(300*ms))
	}
	look()
}

// move asks half of the clients to use another node.
func (n *testNode) move() {
	for _, g := range n.sessions {
		if n.l.chance.IntN(2) == 0 && !n.down {
			g.say(&Frame{Kind: Redirect})
		}
	}
}

func (g *nodeSession) say(f *Frame) {
	if r := g.road; r != nil {
		r.to.reply(r, f)
	}
}

func (n *testNode) reply(r *road, f *Frame) {
	b := f.AppendTo(nil)
	n.l.carry(r, 1, func() {
		r.of.step(func() {
			if err := r.of.g.Receive(n.l.now, r.number, b); err != nil {
				n.l.fault("a client: %v", err)
			}
		})
	})
}

// over ends a session: what it holds is free.
func (n *testNode) over(g *nodeSession) {
	n.sessions = slices.DeleteFunc(n.sessions, func(o *nodeSession) bool { return o == g })
	for _, name := range []string{"l0", "l1", "l2"} {
		if e := n.l.locks[name]; e != nil {
			mine := func(s spot) bool { return s.g == g }
			e.holders, e.queue = slices.DeleteFunc(e.holders, mine), slices.DeleteFunc(e.queue, mine)
			n.l.pass(e)
		}
	}
	clear(g.asks)
}

// watch ends a session that is not renewed.
func (n *testNode) watch(g *nodeSession) {
	n.l.after(member.Span(g.until-n.l.now), func() {
		if n.l.now < g.until {
			n.watch(g)
			return
		}
		g.say(&Frame{Kind: Bye, Why: Expired})
		n.over(g)
	})
}

// pass grants a lock that is free.
func (l *land) pass(e *entry) {
	if len(e.holders) == 0 && len(e.queue) > 0 {
		e.count++
		e.holders, e.queue = append(e.holders, e.queue[0]), e.queue[1:]
		s := e.holders[0]
		s.g.say(&Frame{Kind: Held, Number: s.number, Token: member.Token{Epoch: 1, Count: e.count}})
	}
}

func (n *testNode) receive(r *road, b []byte) {
	l := n.l
	if n.down || n.inc != r.inc {
		return
	}
	f, err := Parse(b)
	if err != nil {
		l.fault("a node: %v", err)
		return
	}
	if f.Kind == Hello {
		n.hello(r, &f)
		return
	}
	if g := r.g; g != nil && g.road == r {
		n.serve(g, &f)
	}
}

func (n *testNode) hello(r *road, f *Frame) {
	l := n.l
	i := slices.IndexFunc(n.sessions, func(g *nodeSession) bool { return g.id == f.Session })
	if i < 0 && n.leaving {
		n.reply(r, &Frame{Kind: Bye, Why: Leaving})
		return
	}
	if i < 0 {
		l.last++
		i = len(n.sessions)
		n.sessions = append(n.sessions, &nodeSession{at: n, id: l.last, until: l.now + member.Instant(1000*ms), asks: map[uint64]bool{}})
		n.watch(n.sessions[i])
	}
	g := n.sessions[i]
	if f.Number <= g.hello {
		return
	}
	g.hello = f.Number
	if g.road != nil {
		l.snap(g.road, false)
	}
	if r.g != nil && r.g.road == r {
		r.g.road = nil
	}
	g.road, r.g = r, g
	l.all = append(l.all, r)
	n.reply(r, &Frame{Kind: Welcome, Number: f.Number, Session: g.id, Inc: n.inc, Length: 1000 * ms, Span: n.span(g), Act: 100 * ms})
	if n.leaving {
		g.say(&Frame{Kind: Bye, Why: Leaving})
	}
}

// span renews a session.
func (n *testNode) span(g *nodeSession) member.Span {
	if n.leaving {
		return 0
	}
	g.until = n.l.now + member.Instant(1000*ms)
	return 900 * ms
}

// find returns the lock that a session holds or waits for by a request, and where.
func (l *land) find(s spot) (e *entry, held bool) {
	for _, e := range l.locks {
		if slices.Contains(e.holders, s) {
			return e, true
		}
		if slices.Contains(e.queue, s) {
			return e, false
		}
	}
	return nil, false
}

func (n *testNode) serve(g *nodeSession, f *Frame) {
	l, s := n.l, spot{g, f.Number}
	e, held := l.find(s)
	switch {
	case f.Kind == Renew:
		g.say(&Frame{Kind: Renewed, Number: f.Number, Span: n.span(g)})
	case f.Kind == Close:
		n.over(g)
		g.road = nil
	case f.Kind == Unlock:
		delete(g.asks, f.Number)
		g.say(&Frame{Kind: Done, Number: f.Number, OK: e != nil})
		if e != nil {
			mine := func(o spot) bool { return o == s }
			e.holders, e.queue = slices.DeleteFunc(e.holders, mine), slices.DeleteFunc(e.queue, mine)
			l.pass(e)
		}
	case held:
		g.say(&Frame{Kind: Held, Number: f.Number, Token: member.Token{Epoch: 1, Count: e.count}})
	case f.Kind == Check:
		g.say(&Frame{Kind: Lost, Number: f.Number})
	case f.Kind == Lock && e == nil && !n.leaving:
		if e = l.locks[f.Name]; e == nil {
			e = &entry{}
			l.locks[f.Name] = e
		}
		e.queue = append(e.queue, s)
		l.pass(e)
	case f.Kind == Claim && !g.asks[f.Number]:
		g.asks[f.Number] = true
		l.after(l.below(400*ms), func() { n.decide(s, f.Name, f.Count) })
	}
}

// decide honours a claim or refuses it.
func (n *testNode) decide(s spot, name string, count uint64) {
	if !s.g.asks[s.number] || n.down || !slices.Contains(n.sessions, s.g) {
		return
	}
	delete(s.g.asks, s.number)
	e := n.l.locks[name]
	if e == nil || e.count != count || len(e.holders) == 0 || n.leaving || n.l.chance.IntN(8) == 0 {
		s.g.say(&Frame{Kind: Lost, Number: s.number})
		return
	}
	n.l.moves++
	e.holders = append(e.holders, s)
	s.g.say(&Frame{Kind: Held, Number: s.number, Token: member.Token{Epoch: 1, Count: count}})
}

// run makes a run, and returns what was wrong with it.
func (l *land) run() string {
	for len(l.events) > 0 && l.broken == "" && l.now < member.Instant(25*member.Second) {
		e := heap.Pop(&l.events).(happening)
		if l.now = member.Instant(e.at); !l.calm && l.now > member.Instant(15*member.Second) {
			l.calm = true
			for _, v := range l.people {
				if v.still {
					v.goOn()
				}
			}
		}
		e.do()
	}
	for i, v := range l.people {
		if len(v.names) > 0 || len(v.g.requests) > 0 || len(v.g.old) > 0 {
			l.fault("client %d has %d requests that have not ended, %d older attachments", i, len(v.g.requests), len(v.g.old))
		}
		if a := v.g.cur; a.phase != open || a.holds != 0 || len(a.owed) > 0 {
			l.fault("client %d: phase %d, %d holds, %d owed", i, a.phase, a.holds, len(a.owed))
		}
	}
	for name, e := range l.locks {
		if len(e.holders)+len(e.queue) > 0 {
			l.fault("%s has %d holders and %d waiters, and nobody knows", name, len(e.holders), len(e.queue))
		}
	}
	return l.broken
}

func TestWander(t *testing.T) {
	entries, moves, lost := 0, 0, 0
	for seed := range uint64(100) {
		l := newLand(seed)
		if wrong := l.run(); wrong != "" {
			t.Fatalf("seed %d at %d ms: %s", seed, l.now/member.Instant(ms), wrong)
		}
		entries, moves, lost = entries+l.entries, moves+l.moves, lost+l.lost
	}
	t.Logf("%d entries, %d moves, %d lost", entries, moves, lost)
	if entries < 2000 || moves < 300 || lost < 100 {
		t.Errorf("%d entries, %d moves, %d lost: too little happens", entries, moves, lost)
	}
}
