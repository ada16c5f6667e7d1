package member

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// An arena begins small, doubles up to a piece, and then grows by whole pieces. Runs do not
// cross the end of a piece.
func TestArena(t *testing.T) {
	var s arena[byte]
	for _, x := range []struct{ k, at, cap int }{
		{1, 0, 64}, {63, 1, 64}, {1, 64, 128}, {200, 65, 265}, {pieceLen - 300, 265, pieceLen - 35},
		{35, pieceLen - 35, pieceLen}, {1, pieceLen, 2 * pieceLen}, {pieceLen - 10, pieceLen + 1, 2 * pieceLen},
		{10, 2 * pieceLen, 3 * pieceLen}, {0, 2*pieceLen + 10, 3 * pieceLen}, {pieceLen, 3 * pieceLen, 4 * pieceLen},
	} {
		if at := s.room(x.k); at != x.at || s.cap() != x.cap || len(s.piece(at, x.k)) != x.k {
			t.Errorf("room for %d is at %d of %d, want %d of %d", x.k, at, s.cap(), x.at, x.cap)
		}
	}
	*s.at(pieceLen) = 7
	if s.piece(pieceLen, 1)[0] != 7 {
		t.Error("an element is not where it was put")
	}
}

// The index grows when three quarters of it are used, and by twice.
func TestTableIndex(t *testing.T) {
	var x table
	want := 0
	for i := range 2000 {
		name := fmt.Sprint(i)
		add(&x, name, hashName(name))
		if 4*(i+1) > 3*want {
			want = max(16, 2*want)
		}
		if len(x.index) != want {
			t.Fatalf("%d locks have an index of %d, want %d", i+1, len(x.index), want)
		}
	}
}

// A table knows how much memory it takes: records, names, index, shelves with
// places that were given back, and states that fit on none.
func TestTableBytes(t *testing.T) {
	var x table
	if n := x.bytes(); n != 0 {
		t.Errorf("an empty table takes %d bytes", n)
	}
	for i := range 40 {
		name := fmt.Sprint("name ", i)
		n := add(&x, name, hashName(name))
		x.setState(n, make([]byte, 10*i))
	}
	for i := range int32(20) {
		x.setState(i, nil)
	}
	want := x.records.cap()*int(unsafe.Sizeof(lock{})) + x.names.cap() + len(x.index)*int(unsafe.Sizeof(x.index[0]))
	for i := range x.shelves {
		want += x.shelves[i].cap() + cap(x.shelves[i].free)*int(unsafe.Sizeof(x.shelves[i].free[0]))
	}
	const huge = 15 // of the states have more than 240 bytes
	if want += huge * (64 + 2*hugeState); len(x.huge) != huge || x.bytes() != want {
		t.Errorf("%d states fit on no shelf; it takes %d bytes, want %d", len(x.huge), x.bytes(), want)
	}
}

// A state that becomes short gives back its place on a shelf.
func TestTableGivesBack(t *testing.T) {
	var x table
	n := add(&x, "a", hashName("a"))
	for range 1000 {
		x.setState(n, make([]byte, 100))
		x.setState(n, make([]byte, inline))
	}
	s := &x.shelves[class(100)]
	if s.n != 7*step || len(s.free) != 1 {
		t.Errorf("%d bytes for one state, %d places free", s.n, len(s.free))
	}
	if got := x.state(n); len(got) != inline {
		t.Errorf("a state of %d bytes", len(got))
	}
}

// A state takes the memory that its size needs, whatever sizes it had before and however
// often that has changed.
func TestTableResizes(t *testing.T) {
	var x table
	n := add(&x, "a", hashName("a"))
	sizes := []int{0, inline, inline + 1, 240, inline, 241, 300, inline, 100, 0, 300}
	least := 0
	for i := range 20 {
		if i == 1 { // there are all shelves, with places that are free
			x.setState(n, nil)
			least = x.bytes()
		}
		for _, size := range sizes {
			x.setState(n, make([]byte, size))
			want := least
			if size > 240 {
				want += 64 + 2*hugeState
			}
			if len(x.state(n)) != size || i > 0 && x.bytes() != want {
				t.Fatalf("round %d: a state of %d bytes has %d; it takes %d, want %d", i, size, len(x.state(n)), x.bytes(), want)
			}
		}
	}
}

// The record of a lock in use is reused for the next one.
func TestUsesAreRecycled(t *testing.T) {
	f := newFleet(t, "central", 1)
	e := f.members[0].epoch
	for i := range 5 {
		name := fmt.Sprint(i)
		f.lock(0, name)
		if len(e.spare) != 0 || len(e.free) != 0 || len(e.uses) != 1 || e.busy != 1 {
			t.Errorf("%d in use: %d uses, %d spare, %d places free", e.busy, len(e.uses), len(e.spare), len(e.free))
		}
		f.unlock(0, name)
		if len(e.spare) != 1 || len(e.free) != 1 || e.busy != 0 {
			t.Errorf("%d in use: %d spare, %d places free", e.busy, len(e.spare), len(e.free))
		}
	}
}

// The previous view is dropped when all members have reported, because it is no longer
// useful.
func TestViewBeforeIsLetGo(t *testing.T) {
	f := newFleet(t, "central", 2)
	f.install(f.next())
	if f.members[0].frozen == nil {
		t.Error("it is let go before the reports have come")
	}
	f.settle()
	for _, m := range f.members {
		if m.frozen != nil {
			t.Errorf("m%d keeps the view before", m.Inc)
		}
	}
}

// A lock is run by the algorithm that its name chooses, also if there are only two.
func TestTwoAlgorithms(t *testing.T) {
	f := newFleet(t, "central", 1)
	v := f.next()
	v.Choices = []Choice{{"", "central", 1}, {"x/", "raymond", 1}}
	f.install(v)
	for name, want := range map[string]string{"a": "central", "x/a": "raymond"} {
		f.lock(0, name)
		if y, _ := f.members[0].Inspect(name); y.Algorithm != want {
			t.Errorf("%s is run by %s, want %s", name, y.Algorithm, want)
		}
	}
}

// A forgetful machine cannot read its state.
type forgetful struct{ algorithm.Machine }

func (x *forgetful) LoadState(b []byte) error {
	return errors.Join(x.Machine.LoadState(b), errors.New("planted"))
}

// A machine that could not read the state of one lock cannot be reused for another one's
// instance.
func TestStateCannotBeRead(t *testing.T) {
	f := newFleet(t, "central", 2)
	e := f.members[0].epoch
	names := homed(f.view, 1, 2, 10)
	f.lock(0, names[0])
	f.settle()
	first, second := lockOf(e, names[0]), lockOf(e, names[1])
	machine, err := e.machine(first)
	if err != nil {
		t.Fatal(err)
	}
	want := machine.AppendState(nil)
	machines, seat := e.schools[0].machines, e.seat(e.table.lock(first))
	machines[seat] = &forgetful{machine}
	if _, err := e.machine(second); err == nil {
		t.Fatal("it is read")
	}
	if err := f.members[0].step(second, host.Input{Kind: host.Request, From: algorithm.None}); err == nil {
		t.Error("it takes a step")
	}
	machines[seat] = machine
	e.table.setState(second, nil)
	_ = machine.LoadState(e.schools[0].born[seat])
	if machine, err = e.machine(first); err != nil || !slices.Equal(machine.AppendState(nil), want) {
		t.Errorf("state %x, want %x (%v)", machine.AppendState(nil), want, err)
	}
}

// What a step has sent stays allocated for the next one, unless it was a lot.
func TestOutKeepsItsArena(t *testing.T) {
	for size, kept := range map[int]bool{10: true, maxArena: true, maxArena + 1: false} {
		o := Out{arena: make([]byte, 5, size), Frames: make([]Frame, 3), Events: make([]Event, 2), Renew: 4}
		o.Reset()
		if len(o.arena)+len(o.Frames)+len(o.Events) > 0 || o.Renew != 0 {
			t.Errorf("it is not empty: %+v", o)
		}
		if (cap(o.arena) == size) != kept || (cap(o.Frames) == 3) != kept {
			t.Errorf("%d of %d bytes are kept", cap(o.arena), size)
		}
	}
}

// A member says how many locks it knows, how many are in use, and what they take in
// this view and in the one before.
func TestKnown(t *testing.T) {
	m, err := New(Config{Inc: 1, Settings: Usual(), Spec: specs})
	if err != nil {
		t.Fatal(err)
	}
	if known, busy, bytes := m.Known(); known != 0 || busy != 0 || bytes != 0 {
		t.Errorf("without a view: %d known, %d in use, %d bytes", known, busy, bytes)
	}
	f := newFleet(t, "central", 2)
	m = f.members[0]
	f.lock(0, "a")
	f.lock(0, "b")
	f.settle()
	f.unlock(0, "a")
	f.settle()
	known, busy, bytes := m.Known()
	if known != 2 || busy != 1 || bytes != m.epoch.table.bytes() {
		t.Errorf("%d known, %d in use, %d bytes", known, busy, bytes)
	}
	f.install(f.next()) // no report has come: the view before is still asked about
	if _, _, both := m.Known(); m.frozen == nil || both != m.epoch.table.bytes()+bytes {
		t.Errorf("%d bytes in two views, %d of them in the one before", both, bytes)
	}
}

// A lock that has been recovered, released by its home and released by its holder is not in
// use.
func TestIdleAfterRecovery(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next(3)
	v.Ghosts = []Ghost{{3, Second}}
	name := away(f.view, v, 0, 0)
	f.lock(2, name)
	f.settle()
	f.install(v)
	f.lock(0, name)
	f.settle()
	m := f.members[0]
	if u := m.epoch.uses[0]; u.may == m.epoch.everybody || f.holds(0, name) {
		t.Fatal("want it to know who may be inside")
	}
	m.Wake(2 * Instant(Second))
	f.take(0)
	f.lock(1, name)
	f.settle()
	f.unlock(0, name)
	f.settle()
	f.unlock(1, name)
	f.settle()
	for _, m := range f.members[:2] {
		if y, _ := m.Inspect(name); !y.Cleared {
			t.Errorf("m%d does not know that the home has let go", m.Inc)
		}
		if _, busy, _ := m.Known(); busy != 0 {
			t.Errorf("%d locks are in use at m%d", busy, m.Inc)
		}
	}
}

// A try does not outlive its view.
func TestTryEndsWithItsView(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 1, 1)
	heard := told(f, 0)
	k := f.try(0, name)
	waits := f.lock(0, name)
	f.install(v)
	if want := []Event{{Ticket: k, Kind: Recovering}}; !slices.Equal(*heard, want) || f.members[0].waiter(k) != nil {
		t.Errorf("heard %v, want %v", *heard, want)
	}
	if f.settle(); f.members[0].waiter(waits) == nil || !f.holds(0, name) {
		t.Error("who waits does not get it")
	}
}

// Limits that are not given have their defaults.
func TestUsualLimits(t *testing.T) {
	if got, want := (Limits{Names: 5, Part: -1}).usual(), (Limits{Waiters: 10_000, Names: 5, Idle: 1_000_000, Part: 32 << 10}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	usual := LinkLimits{Bytes: 256 << 20, Window: 1 << 20, Early: 1 << 20, Patience: 200 * Millisecond, Complain: 5 * Second}
	all := LinkLimits{Bytes: 9, Window: 3, Early: 2, Patience: 1, Complain: 1}
	for _, x := range []struct{ from, want LinkLimits }{
		{LinkLimits{}, usual},
		{LinkLimits{-1, -1, -1, -1, -1}, usual},
		{all, all},
		{LinkLimits{Bytes: 9, Window: 8, Early: 2, Patience: 1, Complain: 1}, LinkLimits{9, 4, 2, 1, 1}},
		{LinkLimits{Bytes: 1, Window: 8, Early: 2, Patience: 1, Complain: 1}, LinkLimits{1, 1, 2, 1, 1}},
	} {
		if got := x.from.usual(); got != x.want {
			t.Errorf("%+v becomes %+v, want %+v", x.from, got, x.want)
		}
	}
}
