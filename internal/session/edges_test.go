package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// What a client may be called, how many nodes it may know, and how long its session may
// be: bounds belong to what is allowed.
func TestClientConfigBounds(t *testing.T) {
	good := ClientConfig{Nodes: make([]string, MaxNodes), Name: strings.Repeat("x", MaxLabel), Length: member.MaxSpan}
	if _, err := NewClient(0, good); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(c *ClientConfig){
		"a name that is not UTF-8": func(c *ClientConfig) { c.Name = "\xff" },
		"a name that is too long":  func(c *ClientConfig) { c.Name += "x" },
		"too many nodes":           func(c *ClientConfig) { c.Nodes = make([]string, MaxNodes+1) },
		"too long a session":       func(c *ClientConfig) { c.Length++ },
	} {
		bad := good
		change(&bad)
		if _, err := NewClient(0, bad); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	got := ClientConfig{}.usual()
	want := ClientConfig{Dial: 2 * member.Second, Retry: 20 * ms, MaxRetry: member.Second, Requests: 100_000}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("usual: %+v, want %+v", got, want)
	}
}

// Each attempt to connect has its own number, and a timeout. Results of older attempts do
// not count.
func TestClientDials(t *testing.T) {
	g, err := NewClient(100, ClientConfig{Nodes: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Out.Dials, []Dial{{1, "a"}}) || g.Out.Wake != 100+member.Instant(2*member.Second) {
		t.Fatalf("dials %+v, is woken at %d", g.Out.Dials, g.Out.Wake)
	}
	g.Out.Reset()
	g.Wake(g.Out.Wake - 1)
	if g.cur.phase != dialing {
		t.Error("it gives up too soon")
	}
	g.Wake(g.Out.Wake) // it fails, and rests
	if g.cur.phase != resting || len(g.Out.Dials) > 0 || !slices.Equal(g.Out.HangUps, []uint64{1}) {
		t.Errorf("it does not rest: %+v, %v", g.Out.Dials, g.Out.HangUps)
	}
	g.Wake(g.Out.Wake)
	if !slices.Equal(g.Out.Dials, []Dial{{2, "b"}}) {
		t.Errorf("dials %+v", g.Out.Dials)
	}
	g.Connected(g.now, 1)
	g.Disconnected(g.now, 1)
	if g.cur.phase != dialing || len(g.Out.Frames) > 0 {
		t.Error("an older attempt counts")
	}
	if g.Connected(g.now, 2); g.cur.phase != greeting || len(g.Out.Frames) != 1 {
		t.Error("it does not say hello")
	}
}

// After failed attempts a client rests twice as long each time, up to a bound, and for
// at least half of that; not all clients for as long.
func TestClientRests(t *testing.T) {
	waits := map[member.Instant]bool{}
	for seed := range uint64(50) {
		g, err := NewClient(0, ClientConfig{Nodes: []string{"a"}, Retry: 20 * ms, MaxRetry: 100 * ms, Seed: seed << 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []member.Span{20 * ms, 40 * ms, 80 * ms, 100 * ms, 100 * ms} {
			g.Disconnected(g.now, g.cur.conn)
			wait := g.Out.Wake - g.now
			if wait < member.Instant(most/2) || wait > member.Instant(most) {
				t.Fatalf("it rests for %d, want at most %v", wait, most)
			}
			waits[wait] = true
			g.Wake(g.Out.Wake)
		}
	}
	if len(waits) < 200 {
		t.Errorf("only %d different times", len(waits))
	}
}

// A session is renewed five times in its length. A connection on which nothing is
// answered for a third of it counts as broken.
func TestClientRenews(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	length := member.Instant(p.g.cur.length)
	p.pass(member.Span(length))
	p.deaf = true
	at := p.g.cur.renewAt
	p.pass(member.Span(at - p.now))
	if len(p.g.cur.renews) != 1 || p.g.cur.renewAt != at+length/5 {
		t.Errorf("renewed %d times, the next is at %d, want %d", len(p.g.cur.renews), p.g.cur.renewAt-at, length/5)
	}
	if p.g.cur.silent() != at+length/3 {
		t.Errorf("broken after %d, want %d", p.g.cur.silent()-at, length/3)
	}
	p.pass(member.Span(p.g.cur.silent() - p.now - 1))
	if p.g.cur.phase != open {
		t.Error("broken too soon")
	}
	if p.g.Wake(p.now + 1); p.g.cur.phase == open {
		t.Error("not broken")
	}
}

// A client learns of nodes, of each once, up to a bound.
func TestClientLearns(t *testing.T) {
	p := newPair(t, ClientConfig{Nodes: []string{"a", "b"}})
	p.g.learn([]string{"b", "", "c", "c"})
	if !slices.Equal(p.g.nodes, []string{"a", "b", "c"}) {
		t.Errorf("nodes %q", p.g.nodes)
	}
	for i := range 2 * MaxNodes {
		p.g.learn([]string{fmt.Sprint(i)})
	}
	if len(p.g.nodes) != MaxNodes {
		t.Errorf("%d nodes", len(p.g.nodes))
	}
}

// The number of concurrent requests is limited, and so is the length of questions.
func TestClientBounds(t *testing.T) {
	p := newPair(t, ClientConfig{Requests: 2})
	p.connect()
	p.lock("a", Opts{})
	p.lock("b", Opts{})
	if _, err := p.g.Lock(p.now, "c", Opts{}); !errors.Is(err, ErrRequests) {
		t.Errorf("a third request: %v", err)
	}
	if p.g.Ask(1, 2, make([]byte, MaxBytes)) == 0 || p.g.Ask(1, 2, make([]byte, MaxBytes+1)) != 0 {
		t.Error("questions of at most MaxBytes")
	}
}

// When a client is closed, each of its requests gets one final event.
func TestClientCloses(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	held, waits, left := p.lock("a", Opts{}), p.lock("a", Opts{}), p.lock("b", Opts{})
	p.events = nil
	p.deaf = true
	if err := p.g.Unlock(p.now, left); err != nil {
		t.Fatal(err)
	}
	p.settle()
	p.g.Close(p.now)
	p.deaf = false
	p.settle()
	if e := p.wants("held", held, Taken); e.Cause != member.Closed {
		t.Errorf("%+v", e)
	}
	if e := p.wants("waits", waits, Refused); e.Why != Finished {
		t.Errorf("%+v", e)
	}
	if e := p.wants("let go, not confirmed", left, Left); e.OK {
		t.Errorf("%+v", e)
	}
	if p.g.Out.Wake != member.Never {
		t.Errorf("woken at %d", p.g.Out.Wake)
	}
	p.free("a")
	p.free("b")
}

// A node that says what only clients say, or has unknown reasons, is not understood.
func TestClientRefusesFrames(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	for _, k := range []Kind{Hello, Renew, Lock, Check, Unlock, Close} {
		f := Frame{Kind: k, Number: 1, Name: "a", Protocol: Protocol}
		if err := p.g.Receive(p.now, p.g.cur.conn, f.AppendTo(nil)); !errors.Is(err, ErrFrame) {
			t.Errorf("%v: %v", k, err)
		}
	}
	if got := whys.String(); got != fmt.Sprintf("reason %d", whys) || Busy.String() == "" {
		t.Errorf("an unknown reason is %q", got)
	}
}

// If a node grants a lock with another token than before, that is another entry: the
// previous one is lost, and this one is released silently.
func TestClientOtherEntry(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	r := p.lock("a", Opts{})
	e := p.wants("first", r, Granted)
	other := Frame{Kind: Held, Number: r, Token: member.Token{Epoch: e.Token.Epoch, Count: e.Token.Count + 5}}
	if err := p.g.Receive(p.now, p.g.cur.conn, other.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	if p.g.Valid(r, p.now) {
		t.Error("it is held")
	}
	p.settle()
	if got := p.wants("another entry", r, Taken); got.Token != e.Token {
		t.Errorf("%+v is taken, want %v", got, e.Token)
	}
	p.free("a")
	// The same token again says nothing new.
	r = p.lock("a", Opts{})
	e = p.wants("again", r, Granted)
	same := Frame{Kind: Held, Number: r, Token: e.Token}
	if err := p.g.Receive(p.now, p.g.cur.conn, same.AppendTo(nil)); err != nil || !p.g.Valid(r, p.now) {
		t.Errorf("it is not held any more: %v", err)
	}
}

// notes are what a watcher has seen.
type notes []string

func (w *notes) Asked(of *Owner, t member.Ticket, name string, try bool, _ member.Terms) {
	*w = append(*w, fmt.Sprint(of.Who, " ", of.Label, " asked ", name, " ", try))
}
func (w *notes) Claimed(_ *Owner, t member.Ticket, name string, _ member.Token, _ member.Terms) {
	*w = append(*w, "claimed "+name)
}
func (w *notes) Cancelled(member.Ticket)          { *w = append(*w, "cancelled") }
func (w *notes) Kept(member.Ticket, member.Token) { *w = append(*w, "kept") }
func (w *notes) Unlocked(member.Ticket, uint64)   { *w = append(*w, "unlocked") }

// The oracle sees each request, and how it ends. A request that is checked while it waits
// is withdrawn.
func TestDeskIsWatched(t *testing.T) {
	n := newNode(t)
	seen := &notes{}
	n.d.config.Watch = seen
	n.hellos(1, "client/x", Quota{}, Frame{Name: "me"})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "a"})
	n.says(1, Frame{Kind: Lock, Number: 3, Name: "a", Try: true})
	n.hears(1)
	n.says(1, Frame{Kind: Check, Number: 2})
	expect(t, "it is not held", n.hears(1), Frame{Kind: Lost, Number: 2})
	n.says(1, Frame{Kind: Unlock, Number: 1})
	if want := []string{"client/x me asked a false", "client/x me asked a false", "client/x me asked a true", "cancelled", "unlocked"}; !slices.Equal(*seen, want) {
		t.Errorf("seen %q, want %q", *seen, want)
	}
	n.free("a")
}

// A release that comes too late is not confirmed: the member has taken the lock away in the
// same step.
func TestDeskLetGoTooLate(t *testing.T) {
	n := newNode(t)
	n.hello(1, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.hears(1)
	n.now = n.m.Deadline()
	n.says(1, Frame{Kind: Unlock, Number: 1})
	expect(t, "too late", n.hears(1), Frame{Kind: Done, Number: 1})
	if n.d.Holds() != 0 {
		t.Errorf("%d are held", n.d.Holds())
	}
}

// A server describes its sessions: of all, of one, and of none.
func TestDeskTells(t *testing.T) {
	n := newNode(t)
	a, b := n.hello(1, Frame{}), n.hello(2, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "a"})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "a"})
	var all []uint64
	n.d.Each(func(c ClientInfo) { all = append(all, c.Session) })
	if !slices.Equal(all, []uint64{a.Session, b.Session}) {
		t.Errorf("sessions %v", all)
	}
	if c, ok := n.d.Find(a.Session); !ok || c.Holds != 1 || c.Waits != 1 || c.Conn != 1 || c.Since != n.now || c.Until != n.now+member.Instant(a.Length) {
		t.Errorf("%+v, %v", c, ok)
	}
	if _, ok := n.d.Find(99); ok {
		t.Error("a session that nobody has is found")
	}
	if n.d.Closed(1); n.d.Bound(1) || !n.d.Bound(2) {
		t.Error("the wrong connection is closed")
	}
	if c, _ := n.d.Find(a.Session); c.Conn != 0 {
		t.Errorf("%+v has a connection", c)
	}
}

// A server wants to be woken when the first session may have expired, and not at all if there
// is none.
func TestDeskWakes(t *testing.T) {
	n := newNode(t)
	if n.d.Out.Wake != member.Never {
		t.Errorf("without a session it is woken at %d", n.d.Out.Wake)
	}
	w := n.hello(1, Frame{})
	if end := n.now + member.Instant(w.Length); n.d.Out.Wake != end {
		t.Errorf("woken at %d, want %d", n.d.Out.Wake, end)
	}
	n.wake(n.now + 3*member.Instant(w.Length))
	if len(n.d.all) != 0 || n.d.Out.Wake != member.Never {
		t.Errorf("%d sessions, woken at %d", len(n.d.all), n.d.Out.Wake)
	}
}

// A waiting request is made once in a session, and is notified once that it has lost its
// place.
func TestClientAgainOnce(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	p.lock("a", Opts{})
	waits := p.lock("a", Opts{})
	p.told(waits)
	task := p.g.find(waits)
	p.g.unask(task)
	p.g.unask(task)
	p.settle()
	p.wants("it has lost its place", waits, Again)
}

// A node that cannot serve a client closes the connection, and says why if it is not
// just late; another session's connection stays as it is.
func TestDeskTurnsAway(t *testing.T) {
	n := newNode(t)
	w := n.hello(5, Frame{})
	n.says(6, Frame{Kind: Hello, Number: 1, Protocol: Protocol + 1, Oldest: Protocol + 1})
	expect(t, "another protocol", n.hears(6), Frame{Kind: Bye, Why: Foreign, Protocol: Protocol, Oldest: OldestProtocol})
	n.says(7, Frame{Kind: Hello, Number: 5, Protocol: Protocol, Session: w.Session, Secret: w.Secret})
	expect(t, "a late hello", n.hears(7))
	if !slices.Equal(n.last, []uint64{6, 7}) {
		t.Errorf("closed %v, want 6 and 7", n.last)
	}
	n.says(5, Frame{Kind: Hello, Number: 9, Protocol: Protocol, Session: w.Session, Secret: w.Secret})
	if got := n.hears(5); len(got) != 1 || got[0].Kind != Welcome || len(n.last) != 2 || !n.d.Bound(5) {
		t.Errorf("a hello on its own connection: %+v, closed %v", got, n.last)
	}
}

// What a node says of a request that is in another state says nothing.
func TestClientIgnores(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	held, waits := p.lock("a", Opts{}), p.lock("a", Opts{})
	p.events = nil
	for _, f := range []Frame{
		{Kind: Lost, Number: waits}, {Kind: Done, Number: waits}, {Kind: Done, Number: held, OK: true}, {Kind: Over, Number: held, Why: Busy},
		{Kind: Renewed, Number: held}, {Kind: Renewed, Number: waits, Span: member.Second},
	} {
		if err := p.g.Receive(p.now, p.g.cur.conn, f.AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		if p.settle(); len(p.events) > 0 || !p.g.Valid(held, p.now) || p.g.find(waits) == nil {
			t.Errorf("%v: %+v", f.Kind, p.events)
		}
	}
}

// A client whose time has expired when the connection is established greets without a
// session.
func TestClientConnectsLate(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	held := p.lock("a", Opts{})
	p.told(held)
	p.breaks()
	p.g.Wake(p.g.Out.Wake) // it dials
	p.settle()
	p.g.Connected(p.g.cur.limit(), p.g.cur.conn)
	if e := p.g.Out.Events; len(e) != 1 || e[0].Kind != Taken || p.g.cur.session != 0 {
		t.Errorf("events %+v, session %d", e, p.g.cur.session)
	}
	if f, err := Parse(p.g.Out.Frames[0].Bytes); err != nil || f.Kind != Hello || f.Session != 0 {
		t.Errorf("it says %+v, %v", f, err)
	}
}

// While the only node leaves, its session is not renewed, and requests that wait are not asked
// for there.
func TestClientOfALeaverIsQuiet(t *testing.T) {
	p := newPair(t, ClientConfig{Nodes: []string{"a"}})
	p.connect()
	p.lock("a", Opts{})
	leaving := Frame{Kind: Bye, Why: Leaving}
	if err := p.g.Receive(p.now, p.g.cur.conn, leaving.AppendTo(nil)); err != nil || !p.g.cur.parting {
		t.Fatalf("it stays: %v", err)
	}
	p.settle()
	if _, err := p.g.Lock(p.now, "b", Opts{}); err != nil {
		t.Fatal(err)
	}
	if p.g.Wake(max(p.now, p.g.cur.renewAt)); len(p.g.Out.Frames) > 0 {
		t.Errorf("it says %d things to a node that leaves", len(p.g.Out.Frames))
	}
	p.g.Wake(p.g.cur.limit())
	if e := p.g.Out.Events; len(e) != 1 || e[0].Kind != Taken || e[0].Cause != member.Leaving {
		t.Errorf("what it holds is lost because the node leaves, but the events are %+v", e)
	}
}
