package member

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/stile-lock/stile/core"
)

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

// What was kept of a lock in use is used again for the next one.
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

// The view before is let go when all have reported: it helps nobody any more.
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
		if y, _ := f.members[0].Explain(name); y.Algorithm != want {
			t.Errorf("%s is run by %s, want %s", name, y.Algorithm, want)
		}
	}
}

// A forgetful machine cannot read its state.
type forgetful struct{ core.Machine }

func (x *forgetful) LoadState(b []byte) error {
	return errors.Join(x.Machine.LoadState(b), errors.New("planted"))
}

// A machine that could not read the state of one lock is in no state that another one's
// instance can go on from.
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

// What is not said of limits is usual.
func TestUsualLimits(t *testing.T) {
	if got, want := (Limits{Names: 5, Part: -1}).usual(), (Limits{Waiters: 10_000, Names: 5, Idle: 1_000_000, Part: 32 << 10}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	usual := SessionLimits{Bytes: 256 << 20, Window: 1 << 20, Early: 1 << 20, Patience: 200 * Millisecond, Complain: 5 * Second}
	all := SessionLimits{Bytes: 9, Window: 3, Early: 2, Patience: 1, Complain: 1}
	for _, x := range []struct{ from, want SessionLimits }{
		{SessionLimits{}, usual},
		{SessionLimits{-1, -1, -1, -1, -1}, usual},
		{all, all},
		{SessionLimits{Bytes: 9, Window: 8, Early: 2, Patience: 1, Complain: 1}, SessionLimits{9, 4, 2, 1, 1}},
		{SessionLimits{Bytes: 1, Window: 8, Early: 2, Patience: 1, Complain: 1}, SessionLimits{1, 1, 2, 1, 1}},
	} {
		if got := x.from.usual(); got != x.want {
			t.Errorf("%+v becomes %+v, want %+v", x.from, got, x.want)
		}
	}
}
