package peer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
)

func TestFoundJoinLeave(t *testing.T) {
	w := village(t, 1, "a", "b")
	a, b := w.houses[0], w.houses[1]
	token := b.lock("x")
	b.Do(w.now, func(m *member.Member) { b.must(m.Unlock(w.now, "x", token)) })
	if next := a.lock("x"); !token.Less(next) {
		t.Errorf("a holds with %v after b did with %v", next, token)
	}
	if err := b.Join(w.now, 300); err == nil {
		t.Error("a member joins")
	}
	if b.Clerk() != nil || b.disk.Voter() != 0 || a.Clerk() == nil {
		t.Error("one is to vote, and that is a")
	}
	b.Leave(w.now)
	w.until("b has left", func() bool { return len(b.ends) > 0 })
	if b.ends[0] != engine.Left || b.Member() != nil || b.Inc() != 0 || b.Do(w.now, func(*member.Member) {}) {
		t.Errorf("b: %v, %v", b.ends, b.Member())
	}
	w.until("a knows", func() bool { return !a.knows("b") })
	if len(a.Record().Ghosts) > 0 {
		t.Error("a leaver is a ghost")
	}
	b.must(b.Join(w.now, 300))
	w.until("b is back", func() bool { return b.Inc() != 0 })
}

// The last one can leave, too.
func TestLastLeaves(t *testing.T) {
	w := village(t, 1, "a")
	a := w.houses[0]
	a.Leave(w.now)
	w.until("a has left", func() bool { return len(a.ends) > 0 })
	if a.ends[0] != engine.Left || a.disk.Voter() == 0 {
		t.Errorf("%v; its store is still that of the only voter: %d", a.ends, a.disk.Voter())
	}
}

// One who never was a member need not wait to be none.
func TestLeaveBeforeJoined(t *testing.T) {
	w := newTown(t)
	w.build("a")
	b := w.build("b")
	b.must(b.Join(w.now, 5))
	if b.Leave(w.now); !slices.Equal(b.ends, []engine.Ending{engine.Left}) || b.Due() != member.Never {
		t.Errorf("%v, wakes at %d", b.ends, b.Due())
	}
	b.Leave(w.now)
	if b.Wake(w.now); len(b.ends) != 1 {
		t.Errorf("%v", b.ends)
	}
}

// A member becomes a voter, with a store. When it has left, another one votes; and
// when it comes back its store is emptied, and the number is never used again.
func TestVoterComesAndGoes(t *testing.T) {
	w := village(t, 3, "a", "b", "c", "d")
	var leaver *house
	for _, h := range w.houses[1:] {
		if h.Clerk() != nil && h != w.leader() {
			leaver = h
		}
	}
	id := leaver.Clerk().ID()
	if leaver.disk.Voter() != id || !slices.Contains(w.leader().voters(), id) {
		t.Fatalf("the store of voter %d is that of %d", id, leaver.disk.Voter())
	}
	leaver.Leave(w.now)
	w.until("it has left", func() bool { return len(leaver.ends) > 0 })
	if all := w.leader().Clerk().Lead().Voters; slices.Contains(all, id) || len(all) != 3 {
		t.Errorf("voter %d has left, and the voters are %d", id, all)
	}
	leaver.open() // another process
	leaver.must(leaver.Join(w.now, 500))
	w.until("it is back, and no voter", func() bool { return leaver.Inc() != 0 && leaver.Clerk() == nil })
	if leaver.disk.Voter() != 0 || leaver.Err != nil {
		t.Errorf("its store is that of voter %d: %v", leaver.disk.Voter(), leaver.Err)
	}
	w.leader().down = true
	w.until("it votes in the place of another", func() bool { return leaver.Clerk() != nil })
	if leaver.Clerk().ID() <= id || leaver.disk.Voter() != leaver.Clerk().ID() {
		t.Errorf("voter %d after %d", leaver.Clerk().ID(), id)
	}
}

// One that leaves, and sees by a view that the others can do without its voter,
// leaves an empty store.
func TestLeaverKnows(t *testing.T) {
	w := village(t, 3, "a", "b", "c", "d")
	h := w.houses[0]
	for h.Clerk() == nil || h == w.leader() {
		h = w.houses[slices.Index(w.houses, h)+1]
	}
	w.lost = func(p parcel) bool {
		return p.to == h.name && p.bytes[0] == Service && engine.Kind(p.bytes[1]) == engine.Gone
	}
	id := h.Clerk().ID()
	h.Leave(w.now)
	w.until("it is no voter", func() bool {
		return w.leader() != nil && len(w.leader().voters()) == 3 && !slices.Contains(w.leader().voters(), id)
	})
	w.houses[0].must(w.leader().Clerk().Warden().Choose(central())) // another view
	w.until("it has left", func() bool { return len(h.ends) > 0 })
	if h.disk.Voter() != 0 || h.Clerk() != nil || h.Err != nil {
		t.Errorf("its store is that of voter %d: %v", h.disk.Voter(), h.Err)
	}
}

// A voter that is not wanted any more ends with the next view, though its process
// stays: its store is empty.
func TestVoterNotWanted(t *testing.T) {
	w := village(t, 3, "a", "b", "c")
	w.houses[0].must(w.leader().Clerk().Warden().Want(1))
	w.until("one votes", func() bool { return w.leader() != nil && len(w.leader().voters()) == 1 })
	w.houses[0].must(w.leader().Clerk().Warden().Choose(central()))
	w.until("the others have ended", func() bool {
		n := 0
		for _, h := range w.houses {
			if h.Clerk() != nil {
				n++
			}
			if (h.Clerk() != nil) != (h.disk.Voter() != 0) {
				t.Fatalf("%s: a clerk without a store, or a store without one", h.name)
			}
		}
		return n == 1
	})
	for _, h := range w.houses {
		if h.Member() == nil || len(h.ends) > 0 || h.Err != nil {
			t.Errorf("%s is no member: %v, %v", h.name, h.ends, h.Err)
		}
	}
}

// A process whose store fails has an error, and sends nothing from then on,
// whatever is asked of it.
func TestStoreFails(t *testing.T) {
	for what, fail := range map[string]func(h *house){
		"full": func(h *house) { h.disk.FullAfter(0) },
		"sync": func(h *house) { h.disk.SyncErrorAfter(0) },
		"stop": func(h *house) { h.disk.StopAfter(0) },
	} {
		t.Run(what, func(t *testing.T) {
			w := village(t, 3, "a", "b", "c")
			h := w.leader()
			fail(h)
			h.must(h.Clerk().Warden().Evict(w.houses[2].Inc()))
			w.until("it fails", func() bool { return h.Err != nil })
			sent, told := h.sent, len(h.told)
			for _, p := range w.post {
				if p.to == h.name {
					_ = h.Receive(w.now, p.from, p.bytes)
				}
			}
			for range 100 {
				w.now += ms
				h.Wake(w.now)
			}
			h.Do(w.now, func(m *member.Member) { _, _ = m.Lock(w.now, "x", member.Ask{Deadline: member.Never}) })
			h.Up(w.now, "a")
			h.Down(w.now, "b")
			h.Leave(w.now)
			if h.sent != sent {
				t.Errorf("it sends %d messages when it must have ended", h.sent-sent)
			}
			if h.Err == nil {
				t.Error("the error is forgotten")
			}
			t.Logf("%v; %d events told since", h.Err, len(h.told)-told)
			w.until("the others go on", func() bool { return w.leader() != nil && w.leader() != h })
		})
	}
}

// A frame that the links cannot keep is a promise that cannot be kept, and why a
// process must end is not forgotten for anything else.
func TestErrStays(t *testing.T) {
	w := village(t, 3, "a", "b", "c")
	h := w.houses[1]
	h.links = member.NewSessions(h.inc, member.SessionLimits{})
	for i := 0; h.Err == nil && i < 100; i++ {
		h.Do(w.now, func(m *member.Member) {
			_, _ = m.Lock(w.now, fmt.Sprintf("x%d", i), member.Ask{Deadline: member.Never})
		})
	}
	why := h.Err
	if why == nil {
		t.Fatal("frames to nowhere are sent")
	}
	h.asks.Record().Voters = nil // the others can do without it
	sent := h.sent
	if h.office(); h.Err != why || h.disk.Voter() == 0 || h.Clerk() == nil {
		t.Errorf("%v, and then %v; its store is that of voter %d", why, h.Err, h.disk.Voter())
	}
	h.asks.Out.Ending = engine.Evicted
	if h.petition(); len(h.ends) > 0 || h.sent != sent {
		t.Errorf("it ends, though it must end at once: %v", h.ends)
	}
}

// A host that checks the order hears of a loss before anything is sent.
func TestToldFirst(t *testing.T) {
	w := village(t, 1, "a", "b", "c")
	lost := func(h *house) bool {
		return slices.ContainsFunc(h.told, func(e member.Event) bool { return e.Kind == member.Lost })
	}
	for i, end := range []func(h *house){
		func(h *house) { h.Leave(w.now) },
		func(h *house) { h.must(w.houses[0].Clerk().Warden().Evict(h.Inc())) },
	} {
		h := w.houses[1+i]
		h.lock("x" + h.name)
		other := w.houses[2-i]
		if len(other.ends) == 0 {
			other.Do(w.now, func(m *member.Member) { _, _ = m.Lock(w.now, "x"+h.name, member.Ask{Deadline: member.Never}) })
			for range 20 {
				w.step()
			}
		}
		from := len(h.events)
		end(h)
		for !lost(h) {
			from = len(h.events)
			w.step()
		}
		if !toldFirst(h.events[from:]) || i == 0 && !slices.Contains(h.events[from:], "sends 0") {
			t.Errorf("%s: %q", h.name, h.events[from:])
		}
	}
	if toldFirst([]string{"sends 0", "told"}) || toldFirst(nil) || !toldFirst([]string{"sends 1", "told", "sends 0"}) {
		t.Error("the check itself is wrong")
	}
}

// toldFirst reports whether applications heard something before members did.
func toldFirst(events []string) bool {
	told, sent := slices.Index(events, "told"), slices.Index(events, "sends 0")
	return told >= 0 && (sent < 0 || told < sent)
}

// One that is evicted joins again, as another incarnation; its voter has gone on.
func TestEvictedVoterGoesOn(t *testing.T) {
	w := village(t, 3, "a", "b", "c")
	h := w.houses[1]
	inc, clerk := h.Inc(), h.Clerk()
	w.houses[0].must(w.leader().Clerk().Warden().Evict(inc))
	w.until("it is evicted", func() bool { return len(h.ends) > 0 })
	if h.ends[0] != engine.Evicted || h.Member() != nil || h.Clerk() != clerk || h.disk.Voter() != clerk.ID() {
		t.Fatalf("%v; voter %v", h.ends, h.Clerk())
	}
	h.must(h.Join(w.now, 300))
	w.until("it is back", func() bool { return h.Inc() != 0 })
	r := h.Record()
	if h.Inc() == inc || r.Members[r.Rank(h.Inc())].Voter != clerk.ID() || h.Clerk() != clerk {
		t.Errorf("incarnation %d after %d, %+v", h.Inc(), inc, r.Members)
	}
	// It still counts: with it and one other there is a majority.
	gone := w.houses[2]
	if gone == h {
		gone = w.houses[0]
	}
	gone.down = true
	w.until("the others go on without a third", func() bool { return !h.knows(gone.name) })
}

// A process with the disk of a voter is that voter again; one that has lost it is
// another one.
func TestRestart(t *testing.T) {
	w := village(t, 3, "a", "b", "c")
	h := w.houses[2]
	id := h.Clerk().ID()
	h.disk.Restart(true, func() bool { return false })
	h.open()
	if h.Clerk() == nil || h.Clerk().ID() != id {
		t.Fatalf("voter %v", h.Clerk())
	}
	h.must(h.Join(w.now, 300))
	w.until("it is back", func() bool { return h.Inc() != 0 })
	var err error
	for bit := uint64(0); err == nil && bit < 1<<20; bit += 999 { // some are of what was there before
		h.disk.Rot(bit)
		_, err = New(w.now, Config{Name: "c", Address: "c", Store: h.disk, Host: h})
	}
	if err == nil || !strings.Contains(err.Error(), "empty it") {
		t.Errorf("it starts with a disk that has rotted, or does not say how to go on: %v", err)
	}
}

// A cluster that is taken up from a backup is far ahead of all that was lost, and
// waits for those whom the backup knows.
func TestRestored(t *testing.T) {
	w := village(t, 1, "a", "b")
	backup := *w.houses[0].Record()
	z := w.build("z")
	w.houses = []*house{z}
	z.open()
	x, err := engine.Restored(&backup, engine.Restore{Cluster: 10}, engine.Joiner{Name: "z", Address: "z", Nonce: 900})
	z.must(err)
	z.must(z.Found(backup, x))
	if err := z.Found(backup, x); err == nil {
		t.Error("a store is founded twice")
	}
	z.must(z.Join(w.now, 900))
	w.until("z is a member", func() bool { return z.Inc() != 0 })
	r := z.Record()
	if r.Epoch < backup.Epoch+engine.Jump || r.Epoch != x.Start.Epoch || r.Cluster != 10 || len(r.Ghosts) != 2 || r.Ghosts[0].Inc != backup.Members[0].Inc || z.views[0] != r.Epoch {
		t.Errorf("%+v", r)
	}
	began := w.now
	z.lock("x") // which a ghost may hold
	if waited := member.Span(w.now - began); waited < settings().Lease {
		t.Errorf("it enters after %d ms, and a ghost may be inside", waited/member.Millisecond)
	}
}

// A cluster without a disk is born in an epoch that its clock shows: all numbers
// are above those of an earlier life.
func TestBirthByClock(t *testing.T) {
	const clock = 1_800_000_000_000
	var last *house
	for life := range uint64(2) {
		w := newTown(t)
		h := w.build("a")
		h.found(1, clock+life*5000, 100+life)
		w.until("it is a member", func() bool { return h.Inc() != 0 })
		if h.Record().Epoch != clock+life*5000 || h.views[0] != h.Record().Epoch {
			t.Errorf("%+v", h.Record())
		}
		token := h.lock("x")
		if last != nil && (h.Inc() <= last.Inc() || h.Clerk().ID() <= last.Clerk().ID() || !last.told[0].Token.Less(token)) {
			t.Errorf("incarnation %d, voter %d, %v: after %d, %d, %v", h.Inc(), h.Clerk().ID(), token, last.Inc(), last.Clerk().ID(), last.told[0].Token)
		}
		last = h
	}
}

// What cannot be a beginning is refused, and leaves the store empty.
func TestFoundRefused(t *testing.T) {
	w := newTown(t)
	h := w.build("a")
	bad := settings()
	bad.Lease = 1
	for _, x := range []engine.Change{
		{},
		engine.Birth(engine.Start{Cluster: 9, Epoch: 1, Settings: bad}, 1, central(), engine.Joiner{Name: "a", Address: "a", Nonce: 1}),
		engine.Birth(engine.Start{Epoch: 1, Settings: settings()}, 1, central(), engine.Joiner{Name: "a", Address: "a", Nonce: 1}),
	} {
		if err := h.Found(engine.Record{}, x); err == nil || h.disk.Voter() != 0 || h.Clerk() != nil {
			t.Errorf("%+v: %v", x, err)
		}
	}
	if err := h.Join(w.now, 0); err == nil {
		t.Error("a nonce of 0")
	}
}
