package member

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// newTemplate returns a template of a fleet's first member.
func newTemplate(t *testing.T, f *fleet, limits Limits, name string, views ...View) *Template {
	t.Helper()
	c := f.members[0].Config
	c.Limits = limits
	d, err := NewTemplate(c, name, views)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// load puts a template into a state.
func load(t *testing.T, d *Template, s *State) *Member {
	t.Helper()
	if err := d.Load(s); err != nil {
		t.Fatal(err)
	}
	return d.Member
}

// A template is as good as new, whatever its member has done in states before: it does
// the same as one that was never used.
func TestTemplateIsAsNew(t *testing.T) {
	for seed := range uint64(4) {
		w := newTown(t, seed, "naimi-trehel", 3)
		w.postpone(true)
		whim := rand.New(rand.NewPCG(seed, 2))
		seen := map[uint64][]State{}
		for i := range 400 {
			w.oneLock(whim, i)
			for inc, m := range w.members {
				var s State
				if err := (&Template{Member: m, claims: true, silent: true}).Save(&s); err != nil {
					t.Fatal(err)
				}
				seen[inc] = append(seen[inc], s)
			}
		}
		for inc := range w.next {
			all := append(seen[inc+1], State{})
			config := w.members[inc+1].Config
			used, err := NewTemplate(config, "lock0", w.views)
			if err != nil {
				t.Fatal(err)
			}
			used.Clients()
			used.Delegates()
			for range 150 {
				s, luck := &all[whim.IntN(len(all))], whim.Uint64()
				fresh, err := NewTemplate(config, "lock0", w.views)
				if err != nil {
					t.Fatal(err)
				}
				fresh.Clients()
				fresh.Delegates()
				want, got := w.played(t, fresh, s, luck), w.played(t, used, s, luck)
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("seed %d, member %d, step %d: it does\n%s\nand a new one\n%s", seed, inc+1, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// played puts a template into a state and has its member do some things. It returns what
// can be observed.
func (w *town) played(t *testing.T, d *Template, s *State, luck uint64) (seen []string) {
	m, whim := load(t, d, s), rand.New(rand.NewPCG(luck, 3))
	now := Instant(0)
	for range 6 {
		var result any
		switch y, _ := m.Explain("lock0"); whim.IntN(8) {
		case 0:
			result = m.Unlock(now, "lock0", s.Present.Token)
		case 1:
			for _, x := range y.Waiters {
				m.Cancel(now, x.Ticket)
			}
		case 2, 3:
			_, result = m.Lock(now, "lock0", Ask{Deadline: Never})
		case 4:
			now += Instant(Second)
			m.Wake(now)
		case 5:
			if m.epoch != nil { // it renews only as a member
				m.Renewed(now, 1)
			}
		case 6:
			if v := w.views[whim.IntN(len(w.views))]; v.Rank(m.Inc) >= 0 {
				result = m.Install(now, v)
			}
		case 7:
			for inc := range w.next {
				m.More(now, inc+1)
			}
		}
		m.Wake(now) // sets all of Out
		var is State
		if err := d.Save(&is); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%v: %+v, more %v, state %+v", result, m.Out, m.Bulk(), is)
		for y := range m.Each {
			if y.Holder != nil {
				text += fmt.Sprintf(", held %+v", *y.Holder)
			}
			y.Holder, y.Lent = nil, nil
			text += fmt.Sprintf(", lock %+v", y)
		}
		seen = append(seen, text)
		m.Out.Reset()
	}
	return seen
}

// A template that is loaded again allocates nothing.
func TestTemplateAllocates(t *testing.T) {
	f := newFleet(t, "central", 2)
	d := newTemplate(t, f, Limits{}, "a", f.view)
	s := State{Present: Part{Epoch: 1, Known: true, Busy: true, Lendee: -1, Waiters: []Request{{Stamp: Stamp{1, 1, 1}}}}, tickets: []Ticket{1 << 32}}
	if n := testing.AllocsPerRun(100, func() { load(t, d, &s) }); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
}

// What is loaded is saved, whatever the state was saved into before.
func TestTemplateKeepsAll(t *testing.T) {
	f := newFleet(t, "central", 4)
	v := f.next(4)
	v.Ghosts = []Ghost{{4, Second}}
	home, elsewhere := full(), full()
	for _, p := range []*Part{&home, &elsewhere} {
		p.Epoch, p.Reported, p.Over = 2, 0b011, 1
		p.Holder.slot, p.Waiters[0].slot, p.Claim.slot = 1, 0, 2
		p.Holder.Client, p.Waiters[0].Client = false, false // a client has one request
	}
	home.Cleared, home.Owes, home.OwesHold, home.OwesWait, home.Asks = false, 0, false, false, 0b100
	home.Held, home.May, home.Lendee = 0b100, 0b101, 2
	elsewhere.letGo()
	elsewhere.Newest, elsewhere.NewestLast, elsewhere.NewestClient = Token{}, 0, false
	elsewhere.Owes, elsewhere.Asks = 0b110, 0
	idle := Part{Epoch: 2, Known: true, Lendee: -1, Bytes: []byte("bytes")}
	frozen := Part{Epoch: 1, Reported: 0b011, Known: true, Cleared: true, Count: 9, Bytes: []byte("other bytes"), Lendee: -1}
	for _, x := range []struct {
		then    int
		present Part
		lease   LeaseState
	}{{0, home, Runs}, {1, elsewhere, Over}, {1, idle, NoLease}} {
		d := newTemplate(t, f, Limits{}, away(f.view, v, 3, x.then), f.view, v)
		s := State{Clock: 9, Gone: true, Ghost: true, Lease: x.lease, Session: true, Claims: 9, Present: x.present, Before: frozen, tickets: []Ticket{3 << 32, 5<<32 + 1, 7<<32 + 2}, spare: []uint32{9}}
		d.Clients()
		d.Delegates()
		load(t, d, &s)
		saved := State{Lease: 9, Present: full(), Before: full(), tickets: []Ticket{9, 9, 9}, spare: []uint32{8}}
		err := d.Save(&saved)
		if got, want := fmt.Sprintf("%+v", saved), fmt.Sprintf("%+v", s); err != nil || got != want {
			t.Errorf("saved as\n%s\nwant\n%s (%v)", got, want, err)
		}
	}
}

// Parts of reports are made when the member installs a view, or later, if a template says
// so.
func TestTemplateLater(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	for _, later := range []bool{false, true} {
		d := newTemplate(t, f, Limits{}, "a", f.view)
		if later {
			d.Later()
		}
		m := load(t, d, &State{Lease: Runs, Present: Part{Epoch: 1}})
		if err := m.Install(0, v); err != nil {
			t.Fatal(err)
		}
		if sent := len(m.Out.Frames); m.Bulk() != later || sent != map[bool]int{false: 2, true: 0}[later] {
			t.Errorf("later %v: %d reports, and there are more: %v", later, sent, m.Bulk())
		}
		if all(m); m.Bulk() || len(m.Out.Frames) != 2 {
			t.Errorf("later %v: %d reports in all, and there are more: %v", later, len(m.Out.Frames), m.Bulk())
		}
	}
}

// A lost lock is passed on as soon as the member is called, if the state says so, and
// not otherwise. Then no holder is left, and no token.
func TestTemplatePasses(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	d := newTemplate(t, f, Limits{}, away(f.view, v, 1, 1), v)
	p := Part{Epoch: 2, Known: true, Busy: true, Lapsed: true, Carried: true, Token: Token{1, 1}, Back: true, Lendee: -1}
	p.Waiters = []Request{{Stamp: Stamp{1, 1, 1}}}
	for _, pass := range []bool{false, true, false} {
		m := load(t, d, &State{Lease: Over, Pass: pass, Present: p, tickets: []Ticket{1 << 32}})
		m.Wake(0)
		var s State
		if err := d.Save(&s); err != nil || s.Present.Lapsed == pass || (s.Present.Token == Token{}) != pass || len(s.Present.Waiters) != 1 {
			t.Errorf("pass %v: its state is %+v (%v)", pass, s.Present, err)
		}
		released := len(m.Out.Frames) == 1 && frameKind(m.Out.Frames[0].Bytes[0]) == releasedFrame
		if released != pass || m.Inside() != map[bool]int{false: 1, true: 0}[pass] {
			t.Errorf("pass %v: it is passed on: %v, and %d are inside", pass, released, m.Inside())
		}
	}
}

// The report of a state lists the holds of that state, not those of the state before.
func TestTemplateReports(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	d := newTemplate(t, f, Limits{}, away(f.view, v, 1, 1), v)
	holds := Part{Epoch: 2, Known: true, Busy: true, Lapsed: true, Carried: true, Token: Token{1, 1}, Owes: 0b10, OwesHold: true, Lendee: -1}
	for want, p := range []Part{1: holds, 0: {Epoch: 2, Owes: 0b10}} {
		load(t, d, &State{Lease: Runs, Present: holds})
		m := load(t, d, &State{Lease: Runs, Present: p})
		var r frame
		if !m.More(0, 2) || r.parse(m.Out.Frames[0].Bytes) != nil || r.kind != reportFrame || len(r.held) != want {
			t.Errorf("it reports %+v, want %d holds", r, want)
		}
	}
}

// Requests of a state count for the limit of what a process may use, and those of the
// state before do not.
func TestTemplateCountsRequests(t *testing.T) {
	f := newFleet(t, "central", 2)
	d := newTemplate(t, f, Limits{Names: 2}, "a", f.view)
	s := State{
		Lease: Runs, tickets: []Ticket{1 << 32},
		Present: Part{Epoch: 1, Known: true, Busy: true, Lendee: -1, Waiters: []Request{{Stamp: Stamp{1, 1, 1}}}, Back: true},
	}
	for range 3 {
		m := load(t, d, &s)
		for i, want := range []error{nil, ErrNames} {
			if _, err := m.Lock(0, "a", Ask{Deadline: Never}); err != want {
				t.Errorf("request %d: %v, want %v", i+2, err, want)
			}
		}
	}
}

// A state says which members must still be asked about a lock: survivors, and only as
// long as the answer matters.
func TestTemplateSavesAsks(t *testing.T) {
	f := newFleet(t, "central", 4)
	v := f.next(4)
	v.Members = append(v.Members, Who{"m5", 5}) // joins
	name := away(f.view, v, 3, 0)
	f.install(v)
	m := f.members[0]
	asks := func(want uint64) {
		t.Helper()
		var s State
		if err := (&Template{Member: m}).Save(&s); err != nil || s.Present.Asks != want {
			t.Errorf("%b must be asked, want %b (%v)", s.Present.Asks, want, err)
		}
	}
	asks(0)
	if _, err := m.Lock(0, name, Ask{Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	asks(0b0110)
	m.More(0, 2)
	asks(0b0100)
	for _, l := range f.mail {
		if l.to == 1 && m.Deliver(0, l.from, l.bytes) != nil {
			t.Fatal("it refuses a report")
		}
	}
	if !f.holds(0, name) {
		t.Fatal("all have reported that they do not hold it, and it is not granted")
	}
	asks(0)
}

// All survivors are asked about a lock that is wanted again, whichever of them have been
// asked before, and in whichever state the template was.
func TestTemplateAsksAgain(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	d := newTemplate(t, f, Limits{}, away(f.view, v, 0, 0), v)
	some := State{Lease: Runs, tickets: []Ticket{1 << 32}, Present: Part{
		Epoch: 2, Reported: 1, Known: true, Busy: true, Bytes: f.members[0].epoch.schools[0].born[0],
		Waiters: []Request{{Stamp: Stamp{2, 1, 1}}}, May: 0b111, Queried: true, Lendee: -1, Asks: 0b010, home: true,
	}}
	for _, s := range []State{some, {Lease: Runs, Present: Part{Epoch: 2, Reported: 1}}} {
		load(t, d, &some)
		m := load(t, d, &s)
		m.Cancel(0, 1<<32)
		if _, err := m.Lock(0, d.name, Ask{Deadline: Never}); err != nil {
			t.Fatal(err)
		}
		var asked []uint64
		for _, to := range []uint64{2, 3} {
			if m.More(0, to) {
				asked = append(asked, to)
			}
		}
		if !slices.Equal(asked, []uint64{2, 3}) {
			t.Errorf("%v are asked, want 2 and 3", asked)
		}
	}
}

// A renewal that was confirmed in one state proves nothing in the next.
func TestTemplateForgetsProof(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	d := newTemplate(t, f, Limits{}, away(f.view, v, 1, 1), v)
	p := Part{Epoch: 2, Known: true, Busy: true, Lapsed: true, Carried: true, Client: true, Proof: true, Token: Token{1, 1}, Lendee: -1}
	for _, confirmed := range []uint64{BeforeLoss, AfterLoss, BeforeLoss} {
		m := load(t, d, &State{Lease: Runs, Pass: true, Present: p})
		m.Wake(0)
		m.Renewed(0, confirmed)
		var s State
		if err := d.Save(&s); err != nil || s.Present.Lapsed == (confirmed == AfterLoss) {
			t.Errorf("renewal %d is confirmed: the lock is passed on %v (%v)", confirmed, !s.Present.Lapsed, err)
		}
	}
}

// The lease, the session and what is due of a state are its own, not those of the state
// before.
func TestTemplateForgetsTime(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	d := newTemplate(t, f, Limits{}, away(f.view, v, 1, 1), v)
	p := Part{Epoch: 2, Known: true, Busy: true, Lapsed: true, Carried: true, Token: Token{1, 1}, Lendee: -1}
	for _, want := range []State{{Lease: Runs, Session: true}, {Lease: NoLease}, {Lease: Over}, {Lease: NoLease, Session: true}} {
		for _, over := range []bool{true, false} {
			load(t, d, &State{Lease: Runs, Pass: true, Present: p}) // it is left at once
			want.Present, want.SessionOver = p, over
			load(t, d, &want).Wake(0)
			var s State
			if err := d.Save(&s); err != nil || s.Lease != want.Lease || s.Session != (want.Session && !over) || !s.Present.Lapsed {
				t.Errorf("lease %d, session %v, over %v: saved as %d, %v, lapsed %v (%v)", want.Lease, want.Session, over, s.Lease, s.Session, s.Present.Lapsed, err)
			}
		}
	}
}
