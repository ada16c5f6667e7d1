package member

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// full returns a part in which everything is set.
func full() Part {
	return Part{
		Epoch: 9, Reported: 9, Over: 9, Known: true, Touched: true, Cleared: true, Count: 9, Bytes: []byte("bytes"), Newest: Token{9, 9}, NewestLast: 9, NewestClient: true,
		Busy: true, Holder: Request{Stamp{9, 9, 9}, true, true, 9, 9, 9}, Lapsed: true, Token: Token{9, 9}, Carried: true, Opened: true, Silent: true, Client: true, Last: 9, Recalled: true, ByClaim: true, Proof: true,
		Claim: Claim{Token{9, 9}, []uint64{9}, true, 9, 9}, Claimants: []Claimant{{9, Token{9, 9}, []uint64{9}, 9}}, ClaimedBy: 9,
		Waiters: []Request{{Stamp{9, 9, 9}, true, true, 9, 9, 9}}, Handed: 9, Asked: true, Inside: true, Back: true, IsLent: true, Until: Stamp{9, 9, 9},
		Owes: 9, OwesHold: true, OwesWait: true, Asks: 9, Held: 9, May: 9, Queried: true, Interest: true, Lendee: 9, Queue: []Turn{{Stamp{9, 9, 9}, 9}}, home: true,
	}
}

// Equal states have equal fields, whatever was in them before they were read: those of
// a member without a view, of unknown locks, of idle ones, and of locks in use.
func TestStateFields(t *testing.T) {
	var codec algorithm.Codec
	seen := map[string]int{}
	for seed := range uint64(3) {
		w := newTown(t, seed, "naimi-trehel", 3)
		w.postpone(true)
		whim := rand.New(rand.NewPCG(seed, 2))
		for i := range 400 {
			if i > 20 { // before, no member has a view
				w.oneLock(whim, i)
			}
			for _, inc := range w.live {
				var s, fresh State
				if err := (&Template{Member: w.members[inc]}).Save(&s); err != nil {
					t.Fatal(err)
				}
				want := fmt.Sprintf("%+v", s)
				b := codec.Append(nil, 3, &s)
				if seen[string(b)]++; seen[string(b)] > 1 {
					continue
				}
				used := State{Clock: 9, Gone: true, Ghost: true, Lease: Over, Session: true, Claims: 9, Present: full(), Before: full(), tickets: []Ticket{9, 9, 9}, spare: []uint32{9, 9, 9}}
				used.Before.freeze()
				if err := errors.Join(codec.Load(b, 3, &fresh), codec.Load(b, 3, &used)); err != nil {
					t.Fatal(err)
				}
				for _, got := range []string{fmt.Sprintf("%+v", fresh), fmt.Sprintf("%+v", used)} {
					if got != want {
						t.Fatalf("read as\n%s\nwant\n%s", got, want)
					}
				}
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d states", len(seen))
	}
}

// Renumbered requests have the tickets of a member that never saw others: its holder has
// the first one, and waiters the next.
func TestRenumber(t *testing.T) {
	for _, holds := range []bool{false, true} {
		s := State{Present: full(), tickets: []Ticket{7, 8, 9}, spare: []uint32{5}}
		s.Present.Waiters = []Request{{Stamp{1, 2, 3}, false, false, 0, 0, 2}, {Stamp{1, 3, 3}, true, false, 0, 0, 1}}
		s.Present.Claim = Claim{number: 7, slot: 3}
		if s.Present.Holder = (Request{}); holds {
			s.Present.Holder = Request{Stamp: Stamp{1, 1, 3}, slot: 8}
		}
		s.Renumber()
		want := []Ticket{1 << 32, 1<<32 + 1, 1<<32 + 2, 1<<32 + 3}
		requests := s.Present.Waiters
		if holds {
			requests = append([]Request{s.Present.Holder}, requests...)
		}
		if !slices.Equal(s.tickets, want[:len(requests)+1]) || len(s.spare) > 0 || s.ClaimTicket() != want[len(requests)] {
			t.Errorf("held %v: tickets %v, %d places to spare", holds, s.tickets, len(s.spare))
		}
		for i, r := range requests {
			if s.Ticket(r) != want[i] {
				t.Errorf("held %v: request %d has ticket %d, want %d", holds, i, s.Ticket(r), want[i])
			}
		}
	}
}

// A template refuses invalid states, names and views;
// and it does not take a state out of a member that has more than fits into one.
func TestTemplateRefuses(t *testing.T) {
	f := newFleet(t, "central", 2)
	config := f.members[0].Config
	if _, err := NewTemplate(config, "", []View{f.view}); !errors.Is(err, ErrName) {
		t.Errorf("without a name: %v", err)
	}
	if _, err := NewTemplate(Config{Inc: 1}, "a", []View{f.view}); err == nil {
		t.Error("without settings it is made")
	}
	if _, err := NewTemplate(config, "a", []View{{Epoch: 1, Members: f.view.Members}}); err == nil {
		t.Error("of a view without an algorithm it is made")
	}
	d, err := NewTemplate(config, "a", []View{f.view, {Epoch: 2, Members: f.view.Members[1:], Choices: f.view.Choices}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []State{{Present: Part{Epoch: 2}}, {Present: Part{Epoch: 1}, Before: Part{Epoch: 3}}} {
		if err := d.Load(&s); err == nil {
			t.Errorf("epochs %d and %d, of which it is no member, are loaded", s.Present.Epoch, s.Before.Epoch)
		}
	}

	saves := func(what string, ok bool, m *Member) {
		t.Helper()
		if err := (&Template{Member: m}).Save(&State{}); (err == nil) != ok || err != nil && !errors.Is(err, errNotSmall) {
			t.Errorf("%s: %v", what, err)
		}
	}
	m := f.members[0]
	f.lock(0, "a")
	f.settle()
	saves("one lock", true, m)
	if _, err := m.Lock(0, "a", Ask{Deadline: 5}); err != nil {
		t.Fatal(err)
	}
	saves("a deadline", false, m)
	m.Wake(5)
	saves("a deadline that has passed", true, m)
	for id, ok := range map[uint64]bool{TheClient: true, 7: false} {
		if _, err := m.Renew(5, id, Second); err != nil {
			t.Fatal(err)
		}
		saves("a client", ok, m)
		for range 2 {
			if _, err := m.Lock(5, "a", Ask{Client: id, Deadline: Never}); err != nil {
				t.Fatal(err)
			}
		}
		saves("a client with two requests", false, m)
		m.Close(5, id)
	}
	saves("no client any more", true, m)
	for _, id := range []uint64{TheClient, 7} {
		if _, err := m.Renew(5, id, Second); err != nil {
			t.Fatal(err)
		}
	}
	saves("two clients", false, m)
	m.Close(5, TheClient)
	m.Close(5, 7)
	f.lock(0, "b")
	f.settle()
	saves("two locks", false, m)
	m.frozen, m.epoch = m.epoch, m.frozen
	saves("two locks in the view before", false, m)
}

// A template that is loaded time and again takes no additional memory, also with states
// that do not fit into the record of a lock.
func TestTemplateDoesNotGrow(t *testing.T) {
	f := newFleet(t, "central", 2)
	d, err := NewTemplate(f.members[0].Config, "a", []View{f.view})
	if err != nil {
		t.Fatal(err)
	}
	var took [300]int // by sizes of states, after the first round
	for i := range 3 * len(took) {
		size := i % len(took)
		if err := d.Load(&State{Present: Part{Epoch: 1, Known: true, Bytes: make([]byte, size)}}); err != nil {
			t.Fatal(err)
		}
		switch _, _, bytes := d.Member.Known(); i / len(took) {
		case 1:
			took[size] = bytes
		case 2:
			if bytes != took[size] {
				t.Fatalf("a state of %d bytes takes %d, and took %d before", size, bytes, took[size])
			}
		}
	}
}

// A template keeps the state of a lease.
func TestTemplateLease(t *testing.T) {
	f := newFleet(t, "central", 2)
	for lease, want := range map[Instant]LeaseState{0: NoLease, 1: Over, f.members[0].margin: Over, f.members[0].margin + 1: Runs} {
		m := f.members[0]
		m.lease = lease
		var s State
		if err := (&Template{Member: m}).Save(&s); err != nil || s.Lease != want {
			t.Errorf("a lease until %d: %d, want %d (%v)", lease, s.Lease, want, err)
		}
	}
}

// A state says whether its member leaves or was evicted.
func TestTemplateGone(t *testing.T) {
	f := newFleet(t, "central", 3)
	f.members[1].Leave(0)
	f.members[2].Gone(0)
	for i, want := range [][2]bool{{false, false}, {true, false}, {true, true}} {
		s := State{Gone: !want[0], Ghost: !want[1], Clock: 99}
		if err := (&Template{Member: f.members[i]}).Save(&s); err != nil || s.Gone != want[0] || s.Ghost != want[1] || s.Clock != 0 {
			t.Errorf("m%d: %+v, %v", i+1, s, err)
		}
		d, err := NewTemplate(f.members[i].Config, "a", []View{f.view})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Load(&s); err != nil || d.Member.gone != want[0] || d.Member.ghost != want[1] {
			t.Errorf("m%d is loaded as gone %v, evicted %v (%v)", i+1, d.Member.gone, d.Member.ghost, err)
		}
	}
}

// A member that is put into a state without a lease can be given one.
func TestTemplateRenews(t *testing.T) {
	f := newFleet(t, "central", 2)
	d, err := NewTemplate(f.members[0].Config, "a", []View{f.view})
	if err != nil {
		t.Fatal(err)
	}
	for _, lease := range []LeaseState{NoLease, Over} {
		if err := d.Load(&State{Lease: lease, Present: Part{Epoch: 1}}); err != nil || d.Member.Usable(0) {
			t.Errorf("lease %d: it may act (%v)", lease, err)
		}
		if d.Member.Renewed(0, 1); !d.Member.Usable(0) {
			t.Errorf("lease %d: it may not act after it was renewed", lease)
		}
	}
}

// Leases of ghosts have expired, are due, or neither; those that are due expire as soon as
// the member is called. A lost lock is passed on at once if the state says so.
func TestTemplateGhosts(t *testing.T) {
	f := newFleet(t, "central", 5)
	v := f.next(2, 3, 4, 5)
	v.Ghosts = []Ghost{{2, Second}, {3, Second}, {4, Second}, {5, Second}}
	d, err := NewTemplate(f.members[0].Config, "a", []View{v})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := State{Lease: Runs, Present: Part{Epoch: 2, Reported: 1, Over: 0b0001, Due: 0b0110}}
		if err := d.Load(&s); err != nil {
			t.Fatal(err)
		}
		e := d.Member.epoch
		if want := []Instant{0, 0, 0, Never - 1}; !slices.Equal(e.ghosts, want) || e.next != 0 || e.over != (set{0b00010}) {
			t.Errorf("ghosts are over at %v, the next at %d; %v are over", e.ghosts, e.next, e.over.list())
		}
		d.Member.Wake(0)
		if e.over != (set{0b01110}) || e.next != Never-1 {
			t.Errorf("%v are over, the next at %d", e.over.list(), e.next)
		}
		s.Present.Over, s.Present.Due = 0b1111, 0
		if err := d.Load(&s); err != nil || e.next != Never {
			t.Errorf("all are over, and the next is at %d (%v)", e.next, err)
		}
	}
}

// A state that is loaded replaces what the algorithm's instance has done since the one
// before.
func TestTemplateForgetsSteps(t *testing.T) {
	f := newFleet(t, "central", 2)
	name := away(f.view, f.view, 1, 1)
	d, err := NewTemplate(f.members[0].Config, name, []View{f.view})
	if err != nil {
		t.Fatal(err)
	}
	f.members[0].epoch.use(lockOf(f.members[0].epoch, name))
	var first, again State
	if err := (&Template{Member: f.members[0]}).Save(&first); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%+v", first)
	for range 2 {
		if err := d.Load(&first); err != nil {
			t.Fatal(err)
		}
		if err := d.Save(&again); err != nil || fmt.Sprintf("%+v", again) != want {
			t.Errorf("loaded\n%s\nand saved\n%+v (%v)", want, again, err)
		}
		if _, err := d.Member.Lock(0, name, Ask{Deadline: Never}); err != nil || len(d.Member.Out.Frames) != 1 {
			t.Errorf("%d frames, %v", len(d.Member.Out.Frames), err)
		}
	}
}

// Nothing is held in a state that is loaded after one in which something was, or was
// lost and may still be acted on.
func TestTemplateCountsHolds(t *testing.T) {
	f := newFleet(t, "central", 2)
	d, err := NewTemplate(f.members[0].Config, "a", []View{f.view})
	if err != nil {
		t.Fatal(err)
	}
	part := Part{Epoch: 1, Known: true, Busy: true, Lendee: -1, Bytes: f.members[0].epoch.schools[0].born[0]}
	held, lapsed := part, part
	held.Holder, lapsed.Lapsed = Request{Stamp: Stamp{1, 1, 1}}, true
	for range 2 {
		for _, x := range []struct {
			part Part
			want int
		}{{held, 1}, {part, 0}, {lapsed, 1}, {part, 0}} {
			if err := d.Load(&State{Lease: Runs, Present: x.part, tickets: []Ticket{1 << 32}}); err != nil {
				t.Fatal(err)
			}
			if _, busy, _ := d.Member.Known(); d.Member.Inside() != x.want || busy != 1 {
				t.Errorf("%d inside, want %d; %d in use", d.Member.Inside(), x.want, busy)
			}
			if e := d.Member.epoch; e.holders+e.lapses != x.want {
				t.Errorf("%d held and %d lost, want %d", e.holders, e.lapses, x.want)
			}
		}
	}
}

// A state says which survivors have not been asked about the lock yet, and if none has,
// there is nothing to ask.
func TestTemplateAsks(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	d, err := NewTemplate(f.members[0].Config, name, []View{v})
	if err != nil {
		t.Fatal(err)
	}
	for _, asks := range []uint64{0b110, 0b010, 0b100, 0} {
		p := Part{Epoch: 2, Reported: 1, Known: true, Busy: true, Lendee: -1, Asks: asks, Bytes: f.members[0].epoch.schools[0].born[0], May: 7, Interest: true, Queried: true, home: true}
		if err := d.Load(&State{Lease: Runs, Present: p}); err != nil {
			t.Fatal(err)
		}
		if d.Member.Bulk() != (asks != 0) {
			t.Errorf("asks %b: there is more to send: %v", asks, d.Member.Bulk())
		}
		for rank := range uint64(3) {
			if got := d.Member.More(0, rank+1); got != (asks>>rank&1 == 1) {
				t.Errorf("asks %b: %d is asked: %v", asks, rank+1, got)
			}
		}
	}
}

// What is read of a view that has ended, and in which the lock was unknown, is not mixed
// with what was there before.
func TestStateOfUnknownLock(t *testing.T) {
	var codec algorithm.Codec
	s := State{Present: Part{Epoch: 2, Lendee: -1}, Before: Part{Epoch: 1, Reported: 3, Lendee: -1}}
	back := State{Present: full(), Before: full()}
	back.Before.freeze()
	if err := codec.Load(codec.Append(nil, 3, &s), 3, &back); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", back.Before), fmt.Sprintf("%+v", s.Before); got != want {
		t.Errorf("read as\n%s\nwant\n%s", got, want)
	}
}

// A member without a view has no holders to warn when its lease has expired.
func TestTemplateWithoutView(t *testing.T) {
	f := newFleet(t, "central", 2)
	d := newTemplate(t, f, Limits{}, "a", f.view)
	m := load(t, d, &State{Lease: Over})
	if m.Wake(0); len(m.Out.Events) > 0 || m.Out.Wake != Never {
		t.Errorf("%v, woken at %d", m.Out.Events, m.Out.Wake)
	}
}

// A lost lock of a state whose proof has not been asked for needs a renewal that is not
// among those of the state, also in a template that was never used.
func TestTemplateProofComesLater(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 1, 1)
	p := Part{Epoch: 2, Known: true, Busy: true, Lapsed: true, Carried: true, Client: true, Token: Token{1, 1}, Lendee: -1}
	for _, confirmed := range []uint64{BeforeLoss, AfterLoss} {
		d := newTemplate(t, f, Limits{}, name, v)
		m := load(t, d, &State{Lease: Runs, Pass: true, Present: p})
		m.Wake(0)
		m.Renewed(0, confirmed)
		var s State
		if err := d.Save(&s); err != nil || !s.Present.Lapsed || !s.Present.Proof {
			t.Errorf("renewal %d is confirmed: lapsed %v, proof %v (%v)", confirmed, s.Present.Lapsed, s.Present.Proof, err)
		}
	}
}
