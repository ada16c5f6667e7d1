package member

import (
	"errors"
	"strings"
	"testing"
)

// told collects the events for applications of one member.
func told(f *fleet, rank int) *[]Event {
	all := &[]Event{}
	before := f.events
	f.events = func(i int, e Event) {
		if before(i, e); i == rank {
			*all = append(*all, e)
		}
	}
	return all
}

func (f *fleet) try(i int, name string) Ticket {
	t, err := f.members[i].Lock(f.members[i].now, name, Ask{Deadline: Never, Try: true})
	if err != nil {
		f.tb.Fatal(err)
	}
	f.take(i)
	return t
}

func TestNames(t *testing.T) {
	m := newFleet(t, "central", 1).members[0]
	for _, name := range []string{"", strings.Repeat("x", 513), "a\xff"} {
		if _, err := m.Lock(0, name, Ask{Deadline: Never}); !errors.Is(err, ErrName) {
			t.Errorf("a lock called %.5q...: %v", name, err)
		}
	}
	for _, name := range []string{"a", strings.Repeat("x", 512), "ü/ß", "a\x00b"} {
		if _, err := m.Lock(0, name, Ask{Deadline: Never}); err != nil {
			t.Errorf("a lock called %.5q...: %v", name, err)
		}
	}
}

func TestLimits(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	m.Limits.Waiters, m.Limits.Names = 2, 4
	for range 3 { // one is inside, two wait
		f.lock(0, "a")
		f.settle()
	}
	if _, err := m.Lock(0, "a", Ask{Deadline: Never}); !errors.Is(err, ErrWaiters) {
		t.Errorf("a third waiter: %v", err)
	}
	f.lock(0, "b")
	if _, err := m.Lock(0, "c", Ask{Deadline: Never}); !errors.Is(err, ErrNames) {
		t.Errorf("a fifth request: %v", err)
	}
	if _, err := m.Lock(0, "c", Ask{Client: 7, Deadline: Never}); !errors.Is(err, ErrSession) {
		t.Errorf("a client without a session: %v", err)
	}
	if _, busy, _ := m.Known(); busy != 2 {
		t.Errorf("%d locks are in use, want 2: refusals leave nothing behind", busy)
	}
}

// A member that refuses a request keeps nothing of it, not even for a new name.
func TestRefusedName(t *testing.T) {
	m := newFleet(t, "central", 2).members[0]
	m.Limits.Waiters = -1 // no request may wait
	if _, err := m.Lock(0, "a", Ask{Deadline: Never}); !errors.Is(err, ErrWaiters) {
		t.Fatal(err)
	}
	if _, busy, _ := m.Known(); busy != 0 {
		t.Errorf("%d locks are in use", busy)
	}
}

func TestDeadline(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	heard := told(f, 0)
	f.lock(0, "a")
	late, _ := m.Lock(0, "a", Ask{Deadline: 100})
	f.take(0)
	if m.Out.Wake > 100 {
		t.Errorf("it wants to be woken at %d, want 100", m.Out.Wake)
	}
	m.Wake(99)
	f.take(0)
	m.Wake(100)
	f.take(0)
	if n := len(*heard); n != 2 || (*heard)[1] != (Event{Ticket: late, Kind: Late}) {
		t.Errorf("heard %v, want that %d is late", *heard, late)
	}
	in, _ := m.Lock(100, "b", Ask{Deadline: 200})
	f.take(0)
	m.Wake(300)
	f.take(0)
	if e := (*heard)[len(*heard)-1]; e.Ticket != in || e.Kind != Held {
		t.Errorf("heard %v: who is inside is not late any more", *heard)
	}
}

// A token releases its own entry, never a later one.
func TestLateUnlock(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 2)
	f.lock(0, "a")
	f.settle()
	y, _ := f.members[0].Inspect("a")
	old := y.Holder.Token
	f.unlock(0, "a")
	f.lock(0, "a")
	f.settle()
	if err := f.members[0].Unlock(0, "a", old); !errors.Is(err, ErrNotHeld) || !f.holds(0, "a") {
		t.Errorf("an old token: %v", err)
	}
}

func TestTries(t *testing.T) {
	for _, alg := range live() {
		for _, n := range []int{1, 2, 3, 5, 9} {
			f := newFleet(t, alg, n)
			who := n - 1
			heard := told(f, who)
			last := func() Event { return (*heard)[len(*heard)-1] }
			f.try(who, "a")
			f.settle()
			if last().Kind != Held {
				t.Fatalf("%s among %d: a try of a free lock: %v", alg, n, last())
			}
			f.unlock(who, "a")
			f.settle()
			f.lock(0, "a")
			f.settle()
			if n == 1 {
				f.try(who, "a")
			} else {
				f.try(who, "a")
				f.settle()
			}
			if last().Kind != Busy {
				t.Fatalf("%s among %d: a try of a lock that is held: %v", alg, n, last())
			}
			f.unlock(0, "a")
			f.settle()
			f.try(who, "a")
			f.settle()
			if last().Kind != Held {
				t.Fatalf("%s among %d: a second try of a free lock: %v", alg, n, last())
			}
		}
	}
}

// While it is unknown which process is inside, a try is refused with that reason.
func TestTryRecovering(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	f.lock(2, "a")
	f.settle()
	v := f.next(3)
	v.Ghosts = []Ghost{{3, Second}}
	f.install(v)
	f.settle()
	heard := told(f, 0)
	f.try(0, "a")
	f.settle()
	if k := (*heard)[0].Kind; k != Recovering {
		t.Errorf("a try while a ghost may be inside: %v", k)
	}
	for _, m := range f.members[:2] {
		m.Wake(2 * Instant(Second))
	}
	f.try(0, "a")
	f.settle()
	if k := (*heard)[1].Kind; k != Held {
		t.Errorf("a try when it is over: %v", k)
	}
}

// Two concurrent tries do not refuse each other forever: one of them is granted.
func TestTwoTries(t *testing.T) {
	for _, alg := range live() {
		f := newFleet(t, alg, 3)
		held := 0
		f.events = func(_ int, e Event) {
			if e.Kind == Held {
				held++
			}
		}
		f.try(1, "a")
		f.try(2, "a")
		f.settle()
		if held != 1 {
			t.Errorf("%s: %d of two tries are granted", alg, held)
		}
	}
}

// At most so many local waiters enter in a row while others wait.
func TestHandover(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 2)
	row, most := 0, 0
	f.events = func(i int, e Event) {
		if e.Kind != Held {
			return
		}
		if i == 1 {
			row = 0
			return
		}
		row++
		most = max(most, row)
	}
	for range 40 {
		f.lock(0, "a")
	}
	f.settle()
	f.lock(1, "a")
	for range 42 {
		f.settle()
		if f.holds(0, "a") {
			f.unlock(0, "a")
			continue
		}
		f.unlock(1, "a")
		f.lock(1, "a")
	}
	if want := f.members[0].Settings.Handover; most > want+1 { // the first one enters before the other asks
		t.Errorf("%d local waiters in a row, want %d", most, want)
	}
	if most < 5 {
		t.Errorf("%d local waiters in a row: nothing is handed over", most)
	}
}

// A grant that is no longer wanted is returned.
func TestCancel(t *testing.T) {
	for _, alg := range live() {
		f := newFleet(t, alg, 3)
		f.lock(0, "a")
		f.settle()
		k := f.lock(1, "a")
		f.settle()
		f.members[1].Cancel(0, k)
		f.take(1)
		f.lock(2, "a")
		f.settle()
		f.unlock(0, "a")
		f.settle()
		if !f.holds(2, "a") || f.holds(1, "a") {
			t.Errorf("%s: who still waits does not get it", alg)
		}
		if _, busy, _ := f.members[1].Known(); busy > 1 {
			t.Errorf("%s: %d locks in use at who has cancelled", alg, busy)
		}
	}
}

// An operator takes a lock from its holder, which is notified; the next one enters.
func TestRelease(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 2)
	heard := told(f, 0)
	f.lock(0, "a")
	f.settle()
	f.lock(1, "a")
	f.settle()
	if err := f.members[0].Release(0, "a", Token{9, 9}); !errors.Is(err, ErrNotHeld) || !f.holds(0, "a") {
		t.Errorf("with another token: %v", err)
	}
	if err := f.members[0].Release(0, "a", (*heard)[0].Token); err != nil {
		t.Fatal(err)
	}
	f.take(0)
	f.settle()
	if err := f.members[0].Release(0, "a", (*heard)[0].Token); !errors.Is(err, ErrNotHeld) {
		t.Errorf("for the second time: %v", err)
	}
	if e := (*heard)[1]; e.Kind != Lost || e.Cause != Released || !f.holds(1, "a") {
		t.Errorf("its holder hears %v; the other one is inside: %v", e, f.holds(1, "a"))
	}
}

// An operator cannot take away a hold that is lost already and may still be acted on.
func TestReleaseLapsed(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	f.lock(0, "a")
	y, _ := m.Inspect("a")
	m.lease = Instant(10 * Second)
	m.Wake(m.deadline())
	if err := m.Release(m.deadline(), "a", y.Holder.Token); !errors.Is(err, ErrNotHeld) || m.Inside() != 1 {
		t.Errorf("%v, %d inside", err, m.Inside())
	}
	if err := m.Unlock(m.deadline(), "a", y.Holder.Token); !errors.Is(err, ErrNotHeld) || m.Inside() != 0 {
		t.Errorf("its holder lets go of it: %v, %d inside", err, m.Inside())
	}
}

// Tokens rise from loan to loan, and then at the home.
func TestTokensRiseAcrossLoans(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next()
	name := away(f.view, v, 2, 2)
	for _, i := range []int{2, 0, 1} { // two members wait for the home
		f.lock(i, name)
		f.settle()
	}
	f.install(v)
	f.settle()
	var last Token
	f.events = func(i int, e Event) {
		if e.Kind == Held && !last.Less(e.Token) {
			t.Errorf("m%d enters with %v after %v", i+1, e.Token, last)
		}
		last = e.Token
	}
	for _, i := range []int{2, 0, 1} {
		f.unlock(i, name)
		f.settle()
	}
	f.lock(2, name)
	if f.settle(); last.Epoch != v.Epoch || last.Count != 3 {
		t.Errorf("the last of three entries has token %v", last)
	}
}
