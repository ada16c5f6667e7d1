package member

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A lock that is lent is not lent again before it is returned.
func TestSecondLoanIsRefused(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(0, name)
	f.settle()
	f.lock(1, name)
	f.settle()
	f.install(v)
	f.settle()
	f.unlock(0, name)
	_, loan := f.loan()
	f.settle()
	if !f.holds(1, name) {
		t.Fatal("it is not lent")
	}
	if err := f.members[1].Deliver(0, 1, loan.append(nil)); !errors.Is(err, errUnexpected) {
		t.Errorf("a second loan: %v", err)
	}
}

// A report that lists a lock as held is refused if the home has released the lock: it did so
// because no process could be inside.
func TestReportOfReleasedLock(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	m := f.members[0]
	f.install(v)
	f.mail = nil // no report arrives
	deliver := func(from uint64, x frame) error { return m.Deliver(0, from, x.append(nil)) }
	m.frozen = nil // it knows nothing of the previous view itself
	if err := deliver(2, frame{kind: touchFrame, name: []byte(name)}); err != nil {
		t.Fatal(err)
	}
	if err := deliver(2, frame{kind: answerFrame, may: []mayBe{{name: name}}}); err != nil {
		t.Fatal(err)
	}
	if y, _ := m.Inspect(name); !y.Cleared {
		t.Fatal("the home has not released it, though a witness rules out all")
	}
	if err := deliver(3, frame{kind: reportFrame, held: []holding{{name, olderHold{token: Token{1, 1}, last: 1}}}}); !errors.Is(err, errUnexpected) {
		t.Errorf("a report that it is held: %v", err)
	}
	if err := deliver(2, frame{kind: reportFrame}); err != nil {
		t.Errorf("a report of nothing: %v", err)
	}
}

// Names in lists are as long as names of locks may be, and no longer.
func TestNamesInLists(t *testing.T) {
	for size, ok := range map[int]bool{MaxName: true, MaxName + 1: false} {
		name := strings.Repeat("x", size)
		for _, f := range []frame{
			{kind: reportFrame, held: []holding{{name, olderHold{token: Token{1, 1}, last: 1}}}},
			{kind: reportFrame, waits: []wanted{{name, Stamp{1, 1, 1}}}},
			{kind: queryFrame, names: []string{name}},
			{kind: answerFrame, may: []mayBe{{name: name}}},
		} {
			var back frame
			if err := back.parse(f.append(nil)); (err == nil) != ok || err != nil && !errors.Is(err, errFrame) {
				t.Errorf("%v with a name of %d bytes: %v", f.kind, size, err)
			}
		}
	}
}

// The first kind that is not known is refused, whatever follows it.
func TestFirstUnknownKind(t *testing.T) {
	f := newFleet(t, "central", 2)
	b := (&frame{kind: touchFrame, name: []byte("a")}).append(nil)
	b[0] = byte(frameKinds)
	if err := f.members[0].Deliver(0, 2, b); err == nil {
		t.Error("it is taken")
	}
	if known, _, _ := f.members[0].Known(); known != 0 {
		t.Errorf("%d locks are known afterwards", known)
	}
}

// A request that was cancelled stands with the algorithm: the next one here does not ask
// again, and gets what was asked for.
func TestCancelledRequestStands(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	name := away(f.view, f.view, 1, 1)
	f.lock(1, name)
	f.settle()
	k := f.lock(0, name)
	f.settle()
	m.Cancel(0, k)
	if y, _ := m.Inspect(name); !y.Asked || len(y.Waiters) > 0 {
		t.Errorf("after it is cancelled: asked %v, %d wait", y.Asked, len(y.Waiters))
	}
	if _, busy, _ := m.Known(); busy != 1 {
		t.Errorf("%d locks are in use, want the one that was asked for", busy)
	}
	f.take(0)
	sent := f.total()
	f.lock(0, name)
	if f.total() != sent {
		t.Errorf("%d frames are sent for the next request", f.total()-sent)
	}
	f.unlock(1, name)
	if f.settle(); !f.holds(0, name) {
		t.Error("the next request waits forever")
	}
}

// A home that has entered itself, and then lends a lock, may hand it over as often as ever
// when it is returned.
func TestHandoversBeginAnewAfterALoan(t *testing.T) {
	f := newFleet(t, "central", 3)
	f.members[0].Settings.Handover = 3
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.lock(0, name)
	f.settle()
	f.members[2].clock = f.members[0].clock // it has heard from the home
	f.lock(2, name)
	f.settle()
	if got := f.order(name); !slices.Equal(got, []int{0, 2}) {
		t.Fatalf("%v wait in this order", got)
	}
	f.install(v)
	f.settle()
	f.unlock(1, name)
	f.settle()
	f.unlock(0, name) // it has entered once; now it lends
	f.settle()
	for range 6 {
		f.lock(0, name)
	}
	f.lock(1, name)
	f.settle()
	f.unlock(2, name)
	f.settle()
	entered := 0
	for ; f.holds(0, name); f.settle() {
		entered++
		f.unlock(0, name)
	}
	if entered != 3 || !f.holds(1, name) {
		t.Errorf("%d enter at the home after the loan, want 3", entered)
	}
}

// A use that has ended within a step belongs to no lock, not even to the first one: acting
// on it would give it back twice.
func TestUseOfFirstLockEndsWithinStep(t *testing.T) {
	f := newFleet(t, "central", 3)
	name := away(f.view, f.view, 0, 0)
	e := f.members[0].epoch
	makeGreedy(t, f.members[0], name)
	if n := find(&e.table, name, hashName(name)); n != 0 {
		t.Fatalf("%s is lock %d, want 0", name, n)
	}
	f.lock(1, name)
	f.settle()
	if len(e.spare) != 1 || len(e.free) != 1 || e.busy != 0 {
		t.Errorf("%d in use, %d uses and %d places are spare, want 0, 1 and 1", e.busy, len(e.spare), len(e.free))
	}
}

// A try is not refused because of a request that was made after it.
func TestTryBeforeAnotherRequest(t *testing.T) {
	f := newFleet(t, "central", 3)
	name := away(f.view, f.view, 2, 2)
	m, heard := f.members[0], told(f, 0)
	k := f.try(0, name)
	f.lock(0, name)
	f.mail = nil
	for _, from := range []uint64{2, 3} {
		if err := m.Deliver(0, from, (&frame{kind: freeFrame, name: []byte(name), try: uint64(k)}).append(nil)); err != nil {
			t.Fatal(err)
		}
		f.take(0)
	}
	if len(*heard) > 0 {
		t.Errorf("heard %v", *heard)
	}
}
