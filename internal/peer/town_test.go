package peer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/member"
)

// A town is some processes whose messages all arrive, one after the other, a tick
// after they were sent. It has one clock.
type town struct {
	t      *testing.T
	now    member.Instant
	houses []*house
	post   []parcel
	seen   func(p parcel)      // every message, as it is sent
	lost   func(p parcel) bool // those that do not arrive; nil if all do
}

// A parcel is a message under way.
type parcel struct {
	from, to string
	bytes    []byte
}

// A house is a process and its host.
type house struct {
	*Peer
	w      *town
	name   string
	disk   *raft.Drive
	down   bool // nothing comes and nothing goes
	told   []member.Event
	views  []uint64
	ends   []engine.Ending
	sent   int
	events []string // what was told and sent, in order
}

const ms = member.Instant(member.Millisecond)

func settings() member.Settings {
	s := member.Usual()
	s.Lease, s.Renew, s.ViewLife = 200*member.Millisecond, 30*member.Millisecond, 10*member.Millisecond
	return s
}

func newTown(t *testing.T) *town { return &town{t: t, now: 1000 * ms} }

// build makes a process that has not joined.
func (w *town) build(name string) *house {
	w.t.Helper()
	h := &house{w: w, name: name, disk: raft.NewDrive(8, 2, 16)}
	w.houses = append(w.houses, h)
	h.open()
	return h
}

// open starts the process, with the disk that is there.
func (h *house) open() {
	h.w.t.Helper()
	var contacts []string
	for _, o := range h.w.houses {
		if o != h {
			contacts = append(contacts, o.name)
		}
	}
	p, err := New(h.w.now, Config{
		Name: h.name, Address: h.name, Contacts: contacts, Store: h.disk, Seed: 7, Tick: 5 * member.Millisecond,
		Spec: catalog.MakeLive, Host: h,
	})
	if err != nil {
		h.w.t.Fatal(err)
	}
	h.Peer = p
}

// found begins a cluster in a process, which joins it.
func (h *house) found(voters int, epoch, nonce uint64) {
	h.w.t.Helper()
	me := engine.Joiner{Name: h.name, Address: h.name, Nonce: nonce}
	x := engine.Birth(engine.Start{Cluster: 9, Epoch: epoch, Settings: settings()}, voters, central(), me)
	h.must(h.Found(engine.Record{}, x))
	h.must(h.Join(h.w.now, nonce))
}

func central() []member.Choice { return []member.Choice{{Algorithm: "central", Version: 1}} }

func (h *house) must(err error) {
	h.w.t.Helper()
	if err != nil {
		h.w.t.Fatal(err)
	}
}

func (h *house) Send(to string, b []byte) {
	h.sent++
	h.events = append(h.events, fmt.Sprintf("sends %d", b[0]))
	p := parcel{h.name, to, slices.Clone(b)}
	if h.w.seen != nil {
		h.w.seen(p)
	}
	h.w.post = append(h.w.post, p)
}

func (h *house) Told(e *member.Event) {
	h.told = append(h.told, *e)
	h.events = append(h.events, "told")
}

func (h *house) Linked(address string) bool { return true }

func (h *house) Installed(r *engine.Record) { h.views = append(h.views, r.Epoch) }

func (h *house) Ended(how engine.Ending) { h.ends = append(h.ends, how) }

// knows reports whether the process knows a member of a name.
func (h *house) knows(name string) bool {
	return slices.ContainsFunc(h.Record().Members, func(m engine.Member) bool { return m.Name == name })
}

func (w *town) at(name string) *house {
	for _, h := range w.houses {
		if h.name == name {
			return h
		}
	}
	return nil
}

// step lets a millisecond pass, and all that was sent before arrive.
func (w *town) step() {
	w.t.Helper()
	w.now += ms
	post := w.post
	w.post = nil
	for _, p := range post {
		from, to := w.at(p.from), w.at(p.to)
		if to == nil || to.down || from != nil && from.down || to.Err != nil || w.lost != nil && w.lost(p) {
			continue
		}
		if err := to.Receive(w.now, p.from, p.bytes); err != nil && to.Err == nil {
			w.t.Fatalf("%s refuses what %s says: %v", p.to, p.from, err)
		}
	}
	for _, h := range w.houses {
		if !h.down && h.Err == nil && h.Due() <= w.now {
			h.Wake(w.now)
		}
	}
}

// until lets time pass until something is so.
func (w *town) until(what string, so func() bool) {
	w.t.Helper()
	for range 4000 {
		if so() {
			return
		}
		w.step()
	}
	w.t.Fatalf("after four seconds: not %s", what)
}

// village is a cluster of so many, of which all are members and have leases.
func village(t *testing.T, voters int, names ...string) *town {
	t.Helper()
	w := newTown(t)
	for _, name := range names {
		w.build(name)
	}
	for i, h := range w.houses {
		h.open() // which knows all others now
		if i == 0 {
			h.found(voters, 1, 100)
		} else {
			h.must(h.Join(w.now, uint64(100+i)))
		}
	}
	w.until("all are members, and voters as are wanted", func() bool {
		for _, h := range w.houses {
			if len(h.Record().Members) < len(names) || h.view != w.houses[0].Record().Epoch {
				return false
			}
		}
		lead := w.leader()
		return lead != nil && len(lead.voters()) == min(voters, 1+(len(names)-1)/2*2)
	})
	return w
}

// leader returns the process whose voter serves, or nil.
func (w *town) leader() *house {
	for _, h := range w.houses {
		if c := h.Clerk(); c != nil && !h.down && h.Err == nil && c.Lead().Serves {
			return h
		}
	}
	return nil
}

// voters returns those of the log, when nothing of that is under way.
func (h *house) voters() []uint64 {
	if l := h.Clerk().Lead(); l.Settled && len(l.Learners) == 0 {
		return l.Voters
	}
	return nil
}

// lock asks for a lock, and waits until it is held.
func (h *house) lock(name string) member.Token {
	h.w.t.Helper()
	n := len(h.told)
	h.Do(h.w.now, func(m *member.Member) {
		_, err := m.Lock(h.w.now, name, member.Ask{Deadline: member.Never})
		h.must(err)
	})
	held := func() int {
		return slices.IndexFunc(h.told[n:], func(e member.Event) bool { return e.Kind == member.Held })
	}
	h.w.until(h.name+" holds "+name, func() bool { return held() >= 0 })
	return h.told[n+held()].Token
}
