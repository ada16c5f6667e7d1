package record

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/station"
)

const ms = member.Instant(member.Millisecond)

// A town is two stations in simulated time, which are recorded. A message takes a
// millisecond. Nothing in it is left to chance.
type town struct {
	t      *testing.T
	now    member.Instant
	houses []*house
	post   []parcel
	spec   func(algorithm string, version int) (core.Spec, error)
}

type parcel struct {
	at       member.Instant
	from, to string
	bytes    []byte
}

// A house is a station, its host, and its tape.
type house struct {
	*station.Station
	w       *town
	address string
	tape    *Writer
	draws   uint64
	tokens  map[member.Ticket]member.Token // of applications
	left    bool
}

func (h *house) Took(in *station.Input, out *station.Outcome)    { h.tape.Took(in, out) }
func (h *house) Crashed(in *station.Input, out *station.Outcome) { h.tape.Crashed(in, out) }
func (h *house) Post(uint64, []byte, bool)                       {}
func (h *house) Installed(*engine.Record)                        {}
func (h *house) Ended(how engine.Ending)                         { h.left = how == engine.Left }
func (h *house) Send(to string, b []byte) {
	h.w.post = append(h.w.post, parcel{h.w.now + ms, h.address, to, slices.Clone(b)})
}

func (h *house) Told(e *member.Event) bool {
	if e.Kind == member.Held {
		h.tokens[e.Ticket] = e.Token
	}
	return false
}

func (h *house) draw() (uint64, client.Secret) {
	h.draws++
	return h.draws, client.Secret{byte(h.draws), 's'}
}

// keeper is a voter's store in memory.
func keeper(m *raft.Memory) *raft.Keeper {
	return &raft.Keeper{Storage: m, Election: 10, Heartbeat: 3, MaxLog: 256}
}

// recall is the store of a node that is replayed.
func recall(h *Header) (engine.Store, error) {
	m, err := raft.Recall(h.Store)
	return &raft.Keeper{Storage: m, Election: h.Election, Heartbeat: h.Heartbeat, MaxLog: h.MaxLog}, err
}

func options() Options { return Options{Store: recall, Spec: catalog.MakeLive} }

func settings() member.Settings {
	s := member.Usual()
	s.Lease, s.Renew, s.ViewLife = 2*member.Second, 400*member.Millisecond, 10*member.Millisecond
	return s
}

// build makes a station.
func (w *town) build(name string, contacts ...string) *house {
	w.t.Helper()
	h := &house{w: w, address: name + ":7420", tokens: map[member.Ticket]member.Token{}}
	b := station.Begin{At: w.now, Name: name, Address: h.address, Contacts: contacts, Seed: 7, Settings: settings(), Limits: member.Limits{Waiters: 1000}}
	var empty raft.State
	none := empty.Whole()
	h.tape = NewWriter(&Header{
		By: "a test", Wall: 1_750_000_000_000, Specs: []Spec{{"naimi-trehel", 1}}, Begin: b, Election: 10, Heartbeat: 3, MaxLog: 256, Store: none.AppendTo(nil),
	})
	var err error
	h.Station, err = station.New(station.Config{Begin: b, Store: keeper(&raft.Memory{}), Spec: w.spec, Host: h, Draw: h.draw, Tape: h})
	w.must(err)
	w.houses = append(w.houses, h)
	return h
}

func (w *town) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// run lets time pass.
func (w *town) run(span member.Instant) {
	end := w.now + span
	for {
		next := end
		if len(w.post) > 0 {
			next = min(next, w.post[0].at)
		}
		for _, h := range w.houses {
			next = min(next, max(h.Due(), w.now))
		}
		if w.now = next; w.now == end {
			return
		}
		if len(w.post) > 0 && w.post[0].at == w.now {
			p := w.post[0]
			w.post = w.post[1:]
			for _, h := range w.houses {
				if h.address == p.to {
					w.must(h.Receive(w.now, p.from, p.bytes))
				}
			}
			continue
		}
		for _, h := range w.houses {
			if h.Due() <= w.now {
				h.Wake(w.now)
			}
		}
	}
}

// lock has an application ask for a lock, and returns its ticket.
func (h *house) lock(name string, try bool) (t member.Ticket) {
	h.w.t.Helper()
	h.w.must(h.Lock(h.w.now, name, try, func(x member.Ticket) { t = x }))
	return t
}

// free has it let go.
func (h *house) free(name string, t member.Ticket) {
	h.w.t.Helper()
	freed := false
	h.Unlock(h.w.now, name, h.tokens[t], func() { freed = true })
	if !freed {
		h.w.t.Errorf("request %d of %s did not hold %q", t, h.address, name)
	}
}

// say has a client say something on connection 1.
func (h *house) say(f client.Frame) {
	h.w.t.Helper()
	_, err := h.Hear(h.w.now, 1, f.AppendTo(nil))
	h.w.must(err)
}

// found makes the first node, which founds a cluster.
func (w *town) found() *house {
	w.t.Helper()
	a := w.build("a")
	me := engine.Joiner{Name: "a", Address: a.address, Nonce: 11}
	w.must(a.Found(w.now, engine.Birth(engine.Start{Cluster: 9, Epoch: 1, Settings: settings()}, 3, []member.Choice{{Algorithm: "naimi-trehel", Version: 1}}, me)))
	w.must(a.Join(w.now, 11))
	w.run(300 * ms)
	return a
}

// join makes the second one.
func (w *town) join(a *house) *house {
	w.t.Helper()
	b := w.build("b", a.address)
	a.Up(w.now, b.address)
	b.Up(w.now, a.address)
	w.must(b.Join(w.now, 12))
	w.run(200 * ms)
	return b
}

// live lets two nodes live for a while, and returns their recordings.
func live(t *testing.T) (first, second []byte) {
	t.Helper()
	w := &town{t: t, now: 1000 * ms, spec: catalog.MakeLive}
	a := w.found()
	b := w.join(a)

	mine := a.lock("door", false)
	theirs := b.lock("door", false)
	w.run(5 * ms)
	a.lock("door", true) // which is refused
	a.say(client.Frame{Kind: client.Hello, Number: 1, Protocol: client.Protocol, Name: "guest"})
	a.say(client.Frame{Kind: client.Lock, Number: 1, Name: "door"})
	a.say(client.Frame{Kind: client.Lock, Number: 2, Name: "gate"})
	w.run(5 * ms)
	b.free("door", theirs)
	w.run(5 * ms)
	a.free("door", mine)
	a.say(client.Frame{Kind: client.Unlock, Number: 1})
	w.run(5 * ms)
	late := b.lock("gate", false)
	w.run(5 * ms)
	b.Cancel(w.now, late)
	a.say(client.Frame{Kind: client.Close})
	a.Closed(w.now, 1)
	w.run(20 * ms)

	b.Drain(w.now, nil)
	b.Leave(w.now)
	w.run(100 * ms)
	if !b.left {
		t.Error("the second one has not left")
	}
	a.Down(w.now, b.address)
	w.run(50 * ms)
	for _, h := range w.houses {
		h.tape.End("the node has ended")
	}
	return a.tape.B, b.tape.B
}
