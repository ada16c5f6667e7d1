package session

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A world is a node and some clients with clocks of their own, whose connections break and
// whose processes are paused. The storm has a whole cluster.
type world struct {
	t       testing.TB
	chance  *rand.Rand
	now     int64 // true time
	events  queue
	seq     int
	n       *node
	clock   watch // of the node
	down    bool  // there is no node
	conns   []*conn
	clients []*testClient
	holds   []*claim
	calm    bool // no more faults and requests
	broken  string

	entries, lost int
}

// A watch is a clock that drifts.
type watch struct{ offset, rate int64 } // in millionths

func (c watch) at(t int64) member.Instant {
	return member.Instant(c.offset + t + t/1_000_000*c.rate)
}

// A conn is a connection: what is sent arrives in order, until it breaks.
type conn struct {
	of      *testClient
	number  uint64 // as the client counts; its place among all is that of the node
	dead    bool
	arrives [2]int64
}

// A testClient is a client and its applications.
type testClient struct {
	w      *world
	g      *Client
	clock  watch
	still  bool
	queue  []func() // what came while it stood still
	conns  []int    // those that it uses: places among all
	wakeAt int64
	wants  map[uint64]string
}

// A claim is a client that believes it holds a lock.
type claim struct {
	v       *testClient
	request uint64
	name    string
	last    member.Instant // until when it may act, as it knew last
	until   member.Instant // not 0: it was notified of the loss, and may still act until then
}

func (c *claim) valid() bool {
	end := c.until
	if end == 0 {
		end = c.v.g.Deadline(c.request) + member.Instant(c.v.g.Act(c.request))
	}
	return c.v.clock.at(c.v.w.now) < end
}

type happening struct {
	at  int64
	seq int
	do  func()
}

type queue []happening

func (a queue) Len() int { return len(a) }
func (a queue) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a queue) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *queue) Push(x any)   { *a = append(*a, x.(happening)) }
func (a *queue) Pop() any {
	x := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return x
}

func (w *world) after(d int64, do func()) {
	w.seq++
	heap.Push(&w.events, happening{w.now + max(d, 1), w.seq, do})
}

func (w *world) below(n member.Span) int64 { return w.chance.Int64N(int64(n)) }

func (w *world) fault(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

const drift = 10_000 // as settings say

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{t: t, chance: rand.New(rand.NewPCG(seed, 3))}
	rate := func() watch { return watch{w.below(member.Second), w.chance.Int64N(2*drift+1) - drift} }
	w.clock = rate()
	w.n = newNode(t)
	w.n.now = w.clock.at(0)
	w.n.m.Wake(w.n.now)
	w.n.take()
	w.conns = []*conn{nil} // there is no connection 0
	for range 2 + w.chance.IntN(4) {
		v := &testClient{w: w, clock: rate(), wants: map[uint64]string{}}
		c := ClientConfig{Nodes: []string{"a", "nowhere"}, Retry: 10 * ms, MaxRetry: 100 * ms, Dial: 100 * ms, Seed: w.chance.Uint64()}
		if w.chance.IntN(2) == 0 {
			c.Length = 300 * ms
		}
		v.g, _ = NewClient(v.clock.at(0), c)
		w.clients = append(w.clients, v)
		v.take()
		w.after(1, v.act)
	}
	w.after(1, w.wakeNode)
	w.after(1, w.strike)
	return w
}

// wakeNode lets the node do what is due. It looks often.
func (w *world) wakeNode() {
	w.atNode(func(*node) {})
	w.after(int64(5*ms), w.wakeNode)
}

// atNode lets something happen at the node, if it is there.
func (w *world) atNode(f func(n *node)) {
	if w.down {
		return
	}
	n := w.n
	n.now = max(n.now, w.clock.at(w.now))
	n.m.Wake(n.now)
	n.take()
	f(n)
	n.take()
	for _, s := range n.sent {
		b := slices.Clone(s.Bytes)
		w.carry(s.Conn, 1, func(c *conn) {
			c.of.step(func() {
				if err := c.of.g.Receive(c.of.now(), c.number, b); err != nil {
					w.fault("a client: %v", err)
				}
			})
		})
	}
	n.sent = n.sent[:0]
	for _, id := range n.last {
		w.snap(int(id), 1)
	}
	n.last = n.last[:0]
	if len(n.strange) > 0 {
		w.fault("the member tells nobody %+v", n.strange[0])
	}
}

// carry delivers a frame at one end of a connection, in order, if the connection still
// exists then. What was sent before it broke may still arrive, later.
func (w *world) carry(id uint64, way int, do func(c *conn)) {
	c := w.conns[id]
	at := max(c.arrives[way], w.now+1+w.below(3*ms))
	if w.chance.IntN(30) == 0 && !w.calm {
		at += w.below(300 * ms)
	}
	c.arrives[way] = at
	lost := c.dead
	w.after(at-w.now, func() {
		if !lost {
			do(c)
		}
	})
}

// snap breaks a connection: nothing more is sent on it. Each end may hear of it.
func (w *world) snap(id, odds int) {
	c := w.conns[id]
	if c.dead {
		return
	}
	c.dead = true
	if w.chance.IntN(odds) == 0 || w.calm {
		w.after(w.below(20*ms), func() {
			c.of.step(func() { c.of.g.Disconnected(c.of.now(), c.number) })
		})
	}
	if w.chance.IntN(odds) == 0 || w.calm {
		w.after(w.below(20*ms), func() { w.atNode(func(n *node) { n.d.Closed(uint64(id)) }) })
	}
}

func (v *testClient) now() member.Instant { return v.clock.at(v.w.now) }

// step lets a client do something, or later if it is paused.
func (v *testClient) step(f func()) {
	if v.still {
		v.queue = append(v.queue, f)
		return
	}
	f()
	v.take()
}

// take carries out what a client wants done.
func (v *testClient) take() {
	w := v.w
	out := v.g.Out
	v.g.Out = ClientOut{Wake: out.Wake}
	for i := range out.Events {
		v.told(&out.Events[i])
	}
	for _, c := range w.holds {
		if end := v.g.Deadline(c.request); c.v == v && end != 0 {
			c.last = end + member.Instant(v.g.Act(c.request))
		}
		if c.v == v && c.until == 0 && v.now() >= v.g.Deadline(c.request) {
			w.fault("a client holds %s after its time, and was not told", c.name)
		}
	}
	for _, d := range out.Dials {
		id := len(w.conns)
		v.conns = append(v.conns, id)
		w.conns = append(w.conns, &conn{of: v, number: d.Conn, dead: d.Address != "a" || w.down})
		if !w.conns[id].dead {
			w.after(w.below(3*ms), func() { v.step(func() { v.g.Connected(v.now(), d.Conn) }) })
		} else if w.chance.IntN(2) == 0 {
			w.after(w.below(3*ms), func() { v.step(func() { v.g.Disconnected(v.now(), d.Conn) }) })
		}
	}
	for _, f := range out.Frames {
		id := v.conns[v.place(f.Conn)]
		w.carry(uint64(id), 0, func(c *conn) {
			w.atNode(func(n *node) {
				if err := n.d.Receive(n.now, n.m, uint64(id), f.Bytes); err != nil {
					w.fault("the server: %v", err)
				}
			})
		})
	}
	for _, number := range out.HangUps {
		i := v.place(number)
		w.snap(v.conns[i], 3)
		v.conns = slices.Delete(v.conns, i, i+1)
	}
	if v.wakeAt <= w.now && out.Wake != member.Never {
		d := max(1, int64(out.Wake-v.now()))
		v.wakeAt = w.now + min(d-d/50, int64(20*ms)) // it looks often, and not later than it is asked to
		w.after(v.wakeAt-w.now, func() { v.step(func() { v.wakeAt = 0; v.g.Wake(v.now()) }) })
	}
}

// place returns the place of a connection among the client's.
func (v *testClient) place(number uint64) int {
	return slices.IndexFunc(v.conns, func(id int) bool { return v.w.conns[id].number == number })
}

// act lets an application ask for something, or take it back.
func (v *testClient) act() {
	w := v.w
	if w.calm {
		return
	}
	v.step(func() {
		if v.g.Wake(v.now()); len(v.wants) < 3 {
			o := Opts{Try: w.chance.IntN(6) == 0}
			if w.chance.IntN(4) == 0 {
				o.Wait = member.Span(1 + w.below(300*ms))
			}
			name := fmt.Sprint("l", w.chance.IntN(2))
			r, err := v.g.Lock(v.now(), name, o)
			if err != nil {
				w.fault("%v", err)
			}
			v.wants[r] = name
			if w.chance.IntN(4) == 0 {
				w.after(w.below(300*ms), func() { v.leave(r) })
			}
		}
	})
	w.after(w.below(100*ms), v.act)
}

// leave releases a lock, or withdraws a request, if it still exists.
func (v *testClient) leave(r uint64) {
	v.step(func() {
		if v.g.Unlock(v.now(), r) == nil {
			v.w.holds = slices.DeleteFunc(v.w.holds, func(c *claim) bool { return c.v == v && c.request == r })
		}
	})
}

func (v *testClient) told(e *Event) {
	w := v.w
	name, known := v.wants[e.Request]
	if !known {
		w.fault("told %+v of a request that is over", e)
	}
	switch e.Kind {
	case Granted:
		w.entries++
		mine := &claim{v: v, request: e.Request, name: name}
		for _, c := range w.holds {
			if c.name == name && c.valid() && mine.valid() {
				w.fault("%s is held twice", name)
			}
		}
		w.holds = append(slices.DeleteFunc(w.holds, func(c *claim) bool { return !c.valid() && c.until != 0 }), mine)
		hold := w.below(30 * ms)
		if w.chance.IntN(4) == 0 && !w.calm {
			hold = w.below(2 * settings().Lease)
		}
		w.after(hold, func() { v.leave(e.Request) })
		return
	case Again:
		return
	case Taken:
		w.lost++
		for i, c := range w.holds {
			if c.v == v && c.request == e.Request {
				if c.until = c.last; e.Cause != member.Session {
					w.holds = slices.Delete(w.holds, i, i+1)
				}
				break
			}
		}
	}
	delete(v.wants, e.Request)
}

// strike lets something bad happen.
func (w *world) strike() {
	if w.calm {
		return
	}
	v := w.clients[w.chance.IntN(len(w.clients))]
	lease := settings().Lease
	switch w.chance.IntN(10) {
	case 0, 1, 2, 3:
		if len(v.conns) > 0 {
			w.snap(v.conns[w.chance.IntN(len(v.conns))], 2)
		}
	case 4, 5, 6:
		if !v.still {
			v.still = true
			w.after(w.below(2*lease), v.goOn)
		}
	case 7, 8:
		w.n.mute = true
		w.after(w.below(2*lease), func() { w.n.mute = false })
	case 9:
		if !w.down {
			w.crash()
		}
	}
	w.after(w.below(400*ms), w.strike)
}

func (v *testClient) goOn() {
	v.still = false
	queue := v.queue
	v.queue = nil
	v.step(func() { v.wakeAt = 0; v.g.Wake(v.now()) })
	for _, f := range queue {
		v.step(f)
	}
}

// crash starts the node anew, some time later.
func (w *world) crash() {
	w.down = true
	for id := 1; id < len(w.conns); id++ {
		w.snap(id, 2)
	}
	w.after(w.below(300*ms), func() {
		w.down = false
		n := w.n
		n.now = w.clock.at(w.now)
		n.d = NewServer(ServerConfig{Draw: n.draw})
		n.start(settings().Patience())
		n.mute = false
	})
}

// run makes a run, and returns what was wrong with it.
func (w *world) run() string {
	lease := int64(settings().Lease)
	for len(w.events) > 0 && w.broken == "" && w.now < 30*lease {
		e := heap.Pop(&w.events).(happening)
		if w.now = e.at; !w.calm && w.now > 20*lease {
			w.calm = true
			w.n.mute = false
			for _, v := range w.clients {
				if v.still {
					v.goOn()
				}
			}
		}
		e.do()
	}
	if w.broken != "" {
		return w.broken
	}
	for i, v := range w.clients {
		if len(v.wants) > 0 || len(v.g.requests) > 0 {
			return fmt.Sprintf("client %d has %d requests that have not ended", i, len(v.g.requests))
		}
	}
	for y := range w.n.m.Queues {
		if y.Held || y.Waiting > 0 {
			w.fault("%s is held or waited for at the node, and nobody knows: %+v", y.Name, y)
		}
	}
	return w.broken
}

func TestWorld(t *testing.T) {
	entries, lost := 0, 0
	for seed := range uint64(80) {
		w := newWorld(t, seed)
		if wrong := w.run(); wrong != "" {
			t.Fatalf("seed %d at %d ms: %s", seed, w.now/int64(ms), wrong)
		}
		entries += w.entries
		lost += w.lost
	}
	t.Logf("%d entries, %d lost", entries, lost)
	if entries < 3000 || lost < 100 {
		t.Errorf("%d entries, %d lost: too little happens", entries, lost)
	}
}
