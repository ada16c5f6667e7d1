package session

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A pair is a client and a node, with connections between them that take no time.
type pair struct {
	*node
	g      *Client
	conn   uint64 // of the node's last
	dials  []Dial
	up     map[uint64]uint64 // connections: the client's number, and the node's
	deaf   bool              // what the node says does not arrive yet
	events []Event
	stuck  []Outgoing // what the node has said meanwhile
}

func newPair(t testing.TB, c ClientConfig) *pair {
	p := &pair{node: newNode(t), up: map[uint64]uint64{}}
	if c.Nodes == nil {
		c.Nodes = []string{"a", "b"}
	}
	var err error
	if p.g, err = NewClient(p.now, c); err != nil {
		t.Fatal(err)
	}
	p.settle()
	return p
}

// connect lets the client's attempt at its current node succeed.
func (p *pair) connect() {
	p.conn++
	p.up[p.g.cur.conn] = p.conn
	p.g.Connected(p.now, p.g.cur.conn)
	p.settle()
}

// breaks lets the connection to the current node break.
func (p *pair) breaks() {
	p.stuck = nil
	conn := p.g.cur.conn
	p.cut(conn)
	p.g.Disconnected(p.now, conn)
	p.settle()
}

// cut ends a connection at the node.
func (p *pair) cut(conn uint64) {
	if at, ok := p.up[conn]; ok {
		delete(p.up, conn)
		p.d.Closed(at)
	}
}

// settle carries frames to and fro.
func (p *pair) settle() {
	p.t.Helper()
	for busy := true; busy; {
		busy = false
		p.events = append(p.events, p.g.Out.Events...)
		p.dials = append(p.dials, p.g.Out.Dials...)
		out := p.g.Out
		p.g.Out = ClientOut{Wake: out.Wake}
		for _, f := range out.Frames {
			busy = true
			if at, ok := p.up[f.Conn]; ok {
				if err := p.d.Receive(p.now, p.m, at, f.Bytes); err != nil {
					p.t.Fatal(err)
				}
			}
		}
		for _, conn := range out.HangUps {
			p.cut(conn)
		}
		p.take()
		for _, conn := range slices.Sorted(maps.Keys(p.up)) {
			for _, f := range p.hears(p.up[conn]) {
				p.stuck = append(p.stuck, Outgoing{conn, f.AppendTo(nil)})
			}
		}
		for len(p.stuck) > 0 && !p.deaf {
			f := p.stuck[0]
			p.stuck, busy = p.stuck[1:], true
			if err := p.g.Receive(p.now, f.Conn, f.Bytes); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// pass lets time pass.
func (p *pair) pass(d member.Span) {
	p.t.Helper()
	for to := p.now + member.Instant(d); p.now < to; {
		p.node.wake(min(to, max(p.now+1, p.g.Out.Wake)))
		p.g.Wake(p.now)
		p.settle()
	}
}

// lock asks for a lock.
func (p *pair) lock(name string, o Opts) uint64 {
	p.t.Helper()
	r, err := p.g.Lock(p.now, name, o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.settle()
	return r
}

// told returns the events of a request since the last call.
func (p *pair) told(r uint64) (kinds []EventKind, last Event) {
	p.events = slices.DeleteFunc(p.events, func(e Event) bool {
		if e.Request == r {
			kinds, last = append(kinds, e.Kind), e
		}
		return e.Request == r
	})
	return kinds, last
}

func (p *pair) wants(what string, r uint64, want ...EventKind) Event {
	p.t.Helper()
	got, last := p.told(r)
	if !slices.Equal(got, want) {
		p.t.Errorf("%s: told %v, want %v", what, got, want)
	}
	return last
}

func TestClient(t *testing.T) {
	p := newPair(t, ClientConfig{})
	early := p.lock("a", Opts{}) // there is no connection yet
	p.connect()
	p.wants("asked early", early, Granted)
	second, try := p.lock("a", Opts{}), p.lock("a", Opts{Try: true})
	if e := p.wants("a try", try, Refused); e.Why != Busy {
		t.Errorf("refused: %v", e.Why)
	}
	for range 10 {
		p.pass(settings().Lease)
	}
	if !p.g.Valid(early, p.now) || p.g.Valid(second, p.now) {
		t.Error("the first is held, and the second is not")
	}
	if err := p.g.Unlock(p.now, early); err != nil {
		t.Error(err)
	}
	p.settle()
	if e := p.wants("let go", early, Left); !e.OK {
		t.Error("it was held until then")
	}
	p.wants("the second", second, Granted)
	if err := p.g.Unlock(p.now, early); !errors.Is(err, member.ErrNotHeld) {
		t.Error("let go twice:", err)
	}
	if _, err := p.g.Lock(p.now, "", Opts{}); !errors.Is(err, member.ErrName) {
		t.Error("no name:", err)
	}
	p.g.Close(p.now)
	p.settle()
	if e := p.wants("closed", second, Taken); e.Cause != member.Closed {
		t.Errorf("lost: %+v", e)
	}
	if _, err := p.g.Lock(p.now, "a", Opts{}); !errors.Is(err, ErrClosed) {
		t.Error("closed:", err)
	}
	p.free("a")
	if p.g.Out.Wake != member.Never {
		t.Error("a closed client has something to do")
	}
}

// A session survives a broken connection, with its locks and its waiting requests.
func TestClientResumes(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	one, two, three := p.lock("a", Opts{}), p.lock("a", Opts{}), p.lock("b", Opts{})
	p.wants("held", one, Granted)
	p.wants("held", three, Granted)
	before, _, _ := p.g.Session()
	p.breaks()
	p.pass(100 * ms)
	if err := p.g.Unlock(p.now, three); err != nil {
		t.Error(err)
	}
	if err := p.m.Release(p.now, "a", p.g.find(one).token); err != nil { // and it cannot be told
		t.Fatal(err)
	}
	p.settle()
	p.connect()
	if after, node, _ := p.g.Session(); after != before || node != "a" {
		t.Errorf("session %d at %s, want %d at a", after, node, before)
	}
	p.wants("an operator took it away", one, Taken)
	p.wants("let go meanwhile", three, Left)
	p.wants("waited", two, Granted)
	if p.d.Holds() != 1 {
		t.Errorf("%d are held, want 1", p.d.Holds())
	}
}

// A grant that is no longer wanted, because the client has already been told that it lost
// the request, is released.
func TestClientUnwanted(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	b := (&Frame{Kind: Held, Number: 99, Token: member.Token{Epoch: 1, Count: 1}}).AppendTo(nil)
	if err := p.g.Receive(p.now, p.g.cur.conn, b); err != nil {
		t.Fatal(err)
	}
	if len(p.g.Out.Frames) != 1 {
		t.Fatalf("%d frames", len(p.g.Out.Frames))
	}
	if f, err := Parse(p.g.Out.Frames[0].Bytes); err != nil || f.Kind != Unlock || f.Number != 99 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A lock that was lost without a connection is reported as lost, even if it is free again.
func TestClientChecks(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	one := p.lock("a", Opts{})
	p.told(one)
	p.breaks()
	if err := p.m.Release(p.now, "a", p.g.find(one).token); err != nil {
		t.Fatal(err)
	}
	p.settle()
	p.pass(100 * ms)
	p.connect()
	if p.g.Valid(one, p.now) {
		t.Error("the client still believes in an entry that an operator ended")
	}
	p.wants("released by an operator", one, Taken)
}

// When the client's own time expires, all its locks are lost, whatever arrives later; and
// waiting requests are made again in a new session.
func TestClientOver(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	one, two := p.lock("a", Opts{}), p.lock("a", Opts{})
	p.told(one)
	before, _, _ := p.g.Session()
	p.pass(p.g.cur.length / 5)
	p.deaf = true
	p.now = p.g.cur.renewAt
	p.g.Wake(p.now) // a renewal, whose answer is late
	p.settle()
	end := p.g.cur.limit()
	if p.g.Out.Wake > end {
		t.Errorf("to be woken at %d, and its time is over at %d", p.g.Out.Wake, end)
	}
	p.now, p.deaf = end, false // the process stood still
	p.m.Wake(p.now)
	valid := p.g.Valid(one, p.now)
	p.settle()
	if valid {
		t.Error("valid at its end")
	}
	if e := p.wants("its time is over", one, Taken); e.Cause != member.Session {
		t.Errorf("lost: %+v", e)
	}
	p.wants("waits", two, Again)
	if after, _, _ := p.g.Session(); after == before || after == 0 {
		t.Errorf("session %d after %d, want another one", after, before)
	}
	if err := p.g.Unlock(p.now, one); !errors.Is(err, member.ErrNotHeld) {
		t.Error("lost, and let go of:", err)
	}
	p.pass(2 * settings().Lease)
	p.wants("when the old session is over", two, Granted)
}

// A session that ends before the client hears of it is not begun again at once.
func TestClientWelcomedTooLate(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.deaf = true
	p.connect()
	p.now += member.Instant(settings().Lease)
	p.m.Wake(p.now)
	p.deaf = false
	p.settle()
	if s, _, _ := p.g.Session(); s != 0 || p.g.cur.phase != resting {
		t.Errorf("session %d, phase %d: want none, and a rest", s, p.g.cur.phase)
	}
}

// A client's time counts from before it asked, and is nested in the node's lease.
func TestClientNested(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	p.pass(settings().Lease)
	p.mute = true // from now on the node's lease is not renewed
	p.now = p.g.cur.renewAt
	p.deaf = true
	p.g.Wake(p.now)
	p.settle()
	p.now += member.Instant(300 * ms)
	p.deaf = false // the answer comes late
	p.settle()
	if p.g.cur.limit() > p.m.Deadline() || !p.m.Usable(p.g.cur.limit()-1) {
		t.Errorf("the client counts on its locks until %d, its node until %d", p.g.cur.limit(), p.m.Deadline())
	}
}

// A client renews soon after its node has, so that it may act for as long as that lets it,
// whenever it has connected.
func TestClientRenewsAfterItsNode(t *testing.T) {
	for first := member.Span(0); first < settings().Renew; first += settings().Renew / 8 {
		p := newPair(t, ClientConfig{})
		p.pass(first)
		p.connect()
		p.pass(2 * settings().Lease)
		late := 0
		for range 100 {
			p.pass(settings().Renew / 20)
			if p.g.cur.limit() < p.m.Deadline()-member.Instant(settings().Renew/2) {
				late++
			}
		}
		if late > 30 {
			t.Errorf("connected after %v, it could act longer for %d %% of the time", first, late)
		}
	}
}

// A restarted node does not know the session. The client claims its locks in a new one.
func TestClientNodeStartsAnew(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	one, two, other := p.lock("a", Opts{}), p.lock("a", Opts{}), p.lock("b", Opts{})
	p.told(one)
	p.told(other)
	p.m.Gone(p.now)
	p.m.Out.Reset() // it has crashed, without notice
	p.d.End(Evicted)
	p.d.Out.Reset()
	p.start(settings().Patience())
	p.breaks()
	p.pass(50 * ms)
	p.connect()
	if !p.g.Valid(one, p.now) {
		t.Error("lost before its time")
	}
	end := p.g.Deadline(one)
	p.wants("waits", two, Again)
	if err := p.g.Unlock(p.now, other); err != nil {
		t.Error(err)
	}
	p.settle()
	p.wants("let go", other, Left)
	p.pass(2 * settings().Lease)
	if p.wants("claimed", one); p.g.Deadline(one) <= end {
		t.Errorf("valid until %d, and until %d before", p.g.Deadline(one), end)
	}
	p.wants("while it is held", two)
	if err := p.g.Unlock(p.now, one); err != nil {
		t.Error(err)
	}
	p.settle()
	p.wants("released", one, Left)
	p.wants("the next one", two, Granted)
	if s, _, _ := p.g.Session(); s == 0 {
		t.Error("the new session ended with the old one's time")
	}
}

// If it holds nothing, the client goes to the next node after some attempts; if it holds
// locks, after the first one, and goes on trying the node that it holds them through.
func TestClientGoesElsewhere(t *testing.T) {
	for _, holds := range []bool{false, true} {
		p := newPair(t, ClientConfig{Retry: 5 * ms, MaxRetry: 10 * ms})
		p.connect()
		r := p.lock("a", Opts{})
		p.told(r)
		if !holds {
			p.g.Unlock(p.now, r)
			p.settle()
		}
		p.dials = nil
		p.breaks()
		want := []string{"a", "a", "b"}
		if holds {
			want = []string{"a", "b", "a"}
		}
		var got []string
		for len(got) < len(want) {
			if len(p.dials) == 0 {
				p.pass(1 * ms)
				continue
			}
			d := p.dials[0]
			p.dials = p.dials[1:]
			got = append(got, d.Address)
			if d.Address == "a" {
				p.g.Disconnected(p.now, d.Conn)
				p.settle()
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("holding: %v, dialled %v, want %v", holds, got, want)
		}
		if p.g.Valid(r, p.now) != holds {
			t.Errorf("holding: %v, valid: %v", holds, !holds)
		}
	}
}

// When a node leaves, its clients go to another one at once. What is held stays with it,
// on its connection, until it is released there or claimed at the other node.
func TestClientOfALeaver(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.d.Nodes = []string{"a", "c"}
	p.connect()
	one, two := p.lock("a", Opts{}), p.lock("a", Opts{})
	p.told(one)
	p.d.Drain(p.now, p.m)
	p.take()
	p.settle()
	p.wants("waits", two, Again)
	if !p.g.Valid(one, p.now) || len(p.up) != 1 {
		t.Error("what is held is let go of in peace")
	}
	if last := p.dials[len(p.dials)-1]; last.Address != "b" || !slices.Contains(p.g.nodes, "c") {
		t.Errorf("dialled %v, knows %v", p.dials, p.g.nodes)
	}
	p.g.Unlock(p.now, one)
	p.settle()
	if e := p.wants("let go", one, Left); !e.OK {
		t.Error("it was held until then")
	}
	if len(p.up) != 0 || len(p.d.all) != 0 || len(p.g.old) != 0 {
		t.Errorf("%d connections, %d sessions, %d attachments are kept", len(p.up), len(p.d.all), len(p.g.old))
	}
	p.free("a")
}

// Requests end by their own clock, with a node and without.
func TestClientLimits(t *testing.T) {
	p := newPair(t, ClientConfig{Patience: 3 * member.Second})
	lone := p.lock("a", Opts{})
	limited := p.lock("a", Opts{Wait: 50 * ms})
	p.pass(50*ms - 1)
	p.wants("not yet", limited)
	p.pass(1)
	if e := p.wants("late", limited, Refused); e.Why != Late {
		t.Errorf("refused: %v", e.Why)
	}
	p.pass(3 * member.Second)
	if e := p.wants("nobody there", lone, Refused); e.Why != Unreachable {
		t.Errorf("refused: %v", e.Why)
	}
	p.connect()
	one, two := p.lock("a", Opts{}), p.lock("a", Opts{Wait: 50 * ms})
	p.told(one)
	p.pass(60 * ms)
	if e := p.wants("late behind another", two, Refused); e.Why != Late {
		t.Errorf("refused: %v", e.Why)
	}
	p.g.Unlock(p.now, one)
	p.settle()
	p.wants("let go", one, Left)
	p.free("a")
}

// However patient a client is, it is patient.
func TestClientWaitsForever(t *testing.T) {
	p := newPair(t, ClientConfig{Patience: math.MaxInt64})
	lone := p.lock("a", Opts{})
	p.pass(3600 * member.Second)
	p.wants("not yet", lone)
}

// Questions that are no business of sessions go through.
func TestAsk(t *testing.T) {
	p := newPair(t, ClientConfig{})
	if p.g.Ask(1, 2, nil) != 0 {
		t.Error("asked without a node")
	}
	p.connect()
	if p.g.Ask(1, 2, []byte("what")) != p.g.cur.conn {
		t.Fatal("not asked")
	}
	b := slices.Clone(p.g.Out.Frames[0].Bytes)
	p.g.Out.Reset()
	if err := p.d.Receive(p.now, p.m, p.conn, b); err != nil {
		t.Fatal(err)
	}
	q := p.d.Out.Asks[0]
	if q.Number != 1 || q.What != 2 || string(q.Bytes) != "what" || q.Session == 0 {
		t.Errorf("asked %+v", q)
	}
	if err := p.d.Answer(q.Conn, q.Number, true, []byte("that"), true); err != nil {
		t.Fatal(err)
	}
	b = slices.Clone(p.d.Out.Frames[0].Bytes)
	p.d.Out.Reset()
	if err := p.g.Receive(p.now, p.g.cur.conn, b); err != nil {
		t.Fatal(err)
	}
	if a := p.g.Out.Answers; len(a) != 1 || string(a[0].Bytes) != "that" || !a[0].Last {
		t.Errorf("answered %+v", a)
	}
}

func TestClientConfig(t *testing.T) {
	for _, c := range []ClientConfig{{}, {Nodes: make([]string, MaxNodes+1)}, {Nodes: []string{"a"}, Name: string(make([]byte, MaxLabel+1))}, {Nodes: []string{"a"}, Length: -1}} {
		if _, err := NewClient(0, c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
