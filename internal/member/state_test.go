package member

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestRestored runs two towns step for step. In one of them every member is encoded and
// restored after every step, and no difference can be observed.
func TestRestored(t *testing.T) {
	claimed := map[EventKind]int{}
	for _, alg := range []string{"central", "naimi-trehel", "maekawa", "ricart-agrawala", "suzuki-kasami"} {
		entries := 0
		for seed := range uint64(20) {
			n := 2 + int(seed%4)
			plain, restored := newTown(t, seed, alg, n), newTown(t, seed, alg, n)
			plain.postpone(seed >= 4)
			restored.postpone(seed >= 4)
			plain.rest, restored.rest = Second, Second
			whim, again := rand.New(rand.NewPCG(seed, 2)), rand.New(rand.NewPCG(seed, 2))
			for i := range 300 {
				plain.oneLock(whim, i)
				restored.oneLock(again, i)
				restored.restore()
				if !reflect.DeepEqual(plain.links, restored.links) || !reflect.DeepEqual(plain.tickets, restored.tickets) || !reflect.DeepEqual(plain.held, restored.held) || !slices.Equal(plain.claims, restored.claims) {
					t.Fatalf("%s, seed %d, step %d: restored members do something else", alg, seed, i)
				}
			}
			entries += plain.entries
			for _, e := range plain.claims {
				claimed[e.Kind]++
			}
		}
		if entries < 60 {
			t.Errorf("%s: %d entries: want a livelier town", alg, entries)
		}
	}
	if claimed[Held] < 20 || claimed[Lost] < 20 {
		t.Errorf("%d claims are honoured and %d refused or lost: want more", claimed[Held], claimed[Lost])
	}
}

// oneLock lets one thing happen in a town with one lock: with tries, cancels, a client
// and its claims.
func (w *town) oneLock(whim *rand.Rand, i int) {
	if i%70 == 69 {
		w.change()
	}
	inc := w.live[whim.IntN(len(w.live))]
	m := w.members[inc]
	switch tickets := slices.Sorted(maps.Keys(w.tickets[inc])); {
	case whim.IntN(6) == 0 && w.epochOf[inc] > 0:
		w.clientStep(whim, inc, len(tickets) < 4)
	case whim.IntN(12) == 0 && w.epochOf[inc] > 0 && len(tickets) < 4:
		ticket, err := m.Lock(w.now, "lock0", Ask{Deadline: Never, Try: true})
		if err != nil {
			w.t.Fatal(err)
		}
		w.tickets[inc][ticket] = "lock0"
		w.take(inc)
	case whim.IntN(12) == 0 && len(tickets) > 0:
		ticket := tickets[whim.IntN(len(tickets))]
		if x := m.waiter(ticket); x != nil && x.at.holder != x {
			delete(w.tickets[inc], ticket)
			m.Cancel(w.now, ticket)
			w.take(inc)
		}
	case whim.IntN(4) == 0 && w.epochOf[inc] > 0 && (!m.usable() || whim.IntN(12) == 0):
		w.lapse(inc)
	default:
		w.step(1, true)
	}
}

// clientStep lets a client of a member do something, or time pass for it.
func (w *town) clientStep(whim *rand.Rand, inc uint64, asks bool) {
	m := w.members[inc]
	c := m.clients[TheClient]
	does := whim.IntN(8)
	token, through := Token{1 + whim.Uint64N(w.epochOf[inc]), 1}, whim.Perm(len(w.live))
	switch {
	case c == nil:
		if _, err := m.Renew(w.now, TheClient, Second); err != nil && m.usable() {
			w.t.Fatal(err)
		}
	case does == 0 && asks && c.uses == 0:
		ticket, err := m.Lock(w.now, "lock0", Ask{Client: TheClient, Deadline: Never})
		if err != nil {
			w.t.Fatal(err)
		}
		w.tickets[inc][ticket] = "lock0"
	case does < 5 && (c.uses == 0 || c.first.claim != nil):
		var incs []uint64
		for _, i := range through[:does%len(through)] {
			incs = append(incs, w.live[i])
		}
		if ghosts := m.epoch.view.Ghosts; does != 4 && len(ghosts) > 0 {
			incs, token = append(incs, w.live...), Token{1 + whim.Uint64N(m.epoch.view.BeforeEpoch), 1 << 20} // none is known to be later
			incs = append(incs, ghosts[0].Inc)
		}
		if _, err := m.Claim(w.now, "lock0", token, TheClient, incs, Terms{}); err != nil && !errors.Is(err, ErrNotHeld) {
			w.t.Fatal(err)
		}
	case does < 7:
		m.schedule.put(&c.end, 0)
		m.Wake(w.now)
	default:
		m.Close(w.now, TheClient)
	}
	w.take(inc)
	if whim.IntN(2) == 0 {
		w.prove(inc)
	}
}

// prove confirms a renewal that was sent after a client has lost a lock.
func (w *town) prove(inc uint64) {
	m := w.members[inc]
	for _, u := range m.epoch.uses {
		if u != nil && u.lapsed && u.proof > 0 {
			m.renewals = []renewal{{number: u.proof}}
			m.Renewed(w.now, u.proof)
			w.take(inc)
			return
		}
	}
}

// unproven reports whether all lost locks only lack proof of membership.
func (m *Member) unproven() bool {
	return !slices.ContainsFunc(m.epoch.uses, func(u *use) bool { return u != nil && u.lapsed && u.proof == 0 })
}

// lapse takes a member one step further: its lease is about to end, what it has
// lost is passed on, it has a lease again.
func (w *town) lapse(inc uint64) {
	m := w.members[inc]
	switch {
	case m.usable():
		m.lease = 1
		m.Wake(w.now)
	case !m.unproven():
		m.restsOver()
		m.Wake(w.now)
	default:
		m.renewals = []renewal{{number: 1}}
		m.Renewed(w.now, 1)
	}
	w.take(inc)
}

// restsOver has the time pass in which former holders may act.
func (m *Member) restsOver() {
	m.lapse = 0
	for _, u := range m.epoch.uses {
		if u != nil {
			u.rests = 0
		}
	}
}

// postpone has members make bulk frames later than in the step that calls for them.
func (w *town) postpone(on bool) {
	w.later = on
	for _, m := range w.members {
		m.later = on
	}
}

// copied returns a template that was put into the state of a member, and that state.
func copied(t *testing.T, m *Member, views ...View) (*Template, []byte) {
	t.Helper()
	b := saved(t, m)
	d := templateOf(t, m.Config, "lock0", views...)
	load(t, d, b)
	if again, err := d.Append(nil); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("%x is %x after it was loaded (%v)", b, again, err)
	}
	return d, b
}

// saved returns the state of a member.
func saved(t *testing.T, m *Member) []byte {
	t.Helper()
	b, err := (&Template{Member: m, claims: true, silent: silent}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// templateOf returns a template whose states keep everything.
func templateOf(t *testing.T, c Config, name string, views ...View) *Template {
	t.Helper()
	d, err := NewTemplate(c, name, views)
	if err != nil {
		t.Fatal(err)
	}
	d.Clients()
	d.Delegates()
	return d
}

// load puts a template into a state.
func load(t *testing.T, d *Template, b []byte) *Member {
	t.Helper()
	if err := d.Load(b); err != nil {
		t.Fatal(err)
	}
	return d.Member
}

// restore puts every member together again from its bytes.
func (w *town) restore() {
	for _, inc := range w.live {
		if old := w.members[inc]; old.epoch != nil {
			d, _ := copied(w.t, old, w.views...)
			d.Member.later = w.later
			w.members[inc] = d.Member
		}
	}
}

// states plays in a town, and returns states of its members.
func (w *town) states(seed uint64) map[uint64][][]byte {
	w.postpone(true)
	whim := rand.New(rand.NewPCG(seed, 2))
	seen := map[uint64][][]byte{}
	for i := range 400 {
		w.oneLock(whim, i)
		for inc, m := range w.members {
			seen[inc] = append(seen[inc], saved(w.t, m))
		}
	}
	return seen
}

// TestRestoredTwice puts one member from any state into any other: nothing of
// the state before is left.
func TestRestoredTwice(t *testing.T) {
	w := newTown(t, 7, "naimi-trehel", 3)
	whim := rand.New(rand.NewPCG(7, 2))
	for inc, all := range w.states(7) {
		d := templateOf(t, w.members[inc].Config, "lock0", w.views...)
		for range 2000 {
			want := all[whim.IntN(len(all))]
			load(t, d, want)
			if got, err := d.Append(nil); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%x was restored as %x (%v)", want, got, err)
			}
		}
	}
}
