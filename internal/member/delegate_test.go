package member

import (
	"errors"
	"testing"
)

// delegated is a fleet whose first member has delegated the lock a, with this number of
// counts, to a client.
func delegated(t *testing.T, alg string, n int, counts uint64) (f *fleet, of Event, events *[]Event) {
	t.Helper()
	f = newFleet(t, alg, n)
	m := f.members[0]
	if _, err := m.Renew(m.now, 7, Second); err != nil {
		t.Fatal(err)
	}
	f.lock(0, "a")
	f.settle()
	f.unlock(0, "a")
	events = told(f, 0)
	f.ask(7, counts)
	if all := *events; len(all) != 1 || all[0].Kind != Held || !all[0].Silent || all[0].Last != 1+counts {
		t.Fatalf("not delegated: %+v", all)
	}
	return f, (*events)[0], events
}

// ask requests the lock a at the first member, for a client that can be delegated it.
func (f *fleet) ask(client, counts uint64) Ticket {
	f.tb.Helper()
	t, err := f.members[0].Lock(f.members[0].now, "a", Ask{Client: client, Deadline: Never, Block: counts})
	if err != nil {
		f.tb.Fatal(err)
	}
	f.take(0)
	return t
}

// recalls returns how often the lock a was recalled.
func recalls(all *[]Event) (n int) {
	for _, e := range *all {
		if e.Kind == Wanted {
			n++
		}
	}
	return n
}

// A lock is delegated only at an entry before which no frame about it has come, and only if
// no request waits.
func TestDelegatesSilent(t *testing.T) {
	for name, heard := range map[string]func(f *fleet){
		"a request elsewhere": func(f *fleet) {
			f.lock(1, "a")
			f.settle()
			f.ask(7, 3)
			f.settle()
			f.unlock(1, "a")
		},
		"a request that waits here": func(f *fleet) {
			f.lock(0, "a")
			f.settle()
			f.ask(7, 3)
			f.lock(0, "a")
			f.unlock(0, "a")
		},
	} {
		for _, alg := range live() {
			f := newFleet(t, alg, 2)
			if _, err := f.members[0].Renew(0, 7, Second); err != nil {
				t.Fatal(err)
			}
			f.lock(0, "a")
			f.settle()
			f.unlock(0, "a")
			f.settle()
			events := told(f, 0)
			heard(f)
			f.settle()
			if e := (*events)[len(*events)-1]; e.Kind != Held || e.Last != 0 {
				t.Errorf("%s, %s: %+v", alg, name, *events)
			}
		}
	}
}

// A home that was asked for a lock before it knew which processes were inside by an older
// epoch delegates it like any other: what it has learned since is no frame that it may miss.
func TestDelegatesAfterTestimony(t *testing.T) {
	for name, change := range map[string]func(f *fleet) View{
		"before the reports": func(f *fleet) View { return f.next() },
		"before a ghost's lease has expired": func(f *fleet) View {
			v := f.next(3)
			v.Ghosts = []Ghost{{3, Second}}
			return v
		},
	} {
		for _, alg := range live() {
			f := newFleet(t, alg, 3)
			v := change(f)
			lock := away(f.view, v, 0, 0)
			f.lock(2, lock)
			f.settle()
			f.install(v)
			events := told(f, 0)
			f.lock(0, lock)
			f.settle()
			if len(v.Ghosts) == 0 {
				f.unlock(2, lock)
			}
			f.settle()
			m := f.members[0]
			m.Wake(Instant(2 * Second))
			f.take(0)
			f.unlock(0, lock)
			if _, err := m.Renew(m.now, 7, Second); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Lock(m.now, lock, Ask{Client: 7, Deadline: Never, Block: 5}); err != nil {
				t.Fatal(err)
			}
			f.take(0)
			if e := (*events)[len(*events)-1]; e.Kind != Held || !e.Silent || e.Last == 0 {
				t.Errorf("%s, %s: not delegated: %+v", alg, name, *events)
			}
			f.lock(1, lock)
			if f.settle(); recalls(events) != 1 {
				t.Errorf("%s, %s: recalled %d times", alg, name, recalls(events))
			}
		}
	}
}

// RETURN and KEEP end a delegation with the count that they name, once.
func TestReturnAndKeep(t *testing.T) {
	f, e, _ := delegated(t, "naimi-trehel", 1, 5)
	m := f.members[0]
	for _, count := range []uint64{e.Token.Count - 1, e.Last + 1} {
		if err := m.Return(m.now, "a", e.Token, count); !errors.Is(err, ErrCount) {
			t.Errorf("RETURN of %d: %v", count, err)
		}
		if _, err := m.Keep(m.now, "a", e.Token, count); !errors.Is(err, ErrCount) {
			t.Errorf("KEEP of %d: %v", count, err)
		}
	}
	kept, err := m.Keep(m.now, "a", e.Token, e.Last)
	if want := (Token{1, e.Last}); err != nil || kept != want {
		t.Fatalf("kept with %v, %v; want %v", kept, err, want)
	}
	if _, err := m.Keep(m.now, "a", kept, e.Last); !errors.Is(err, ErrNotHeld) {
		t.Errorf("KEEP again: %v", err)
	}
	if err := m.Return(m.now, "a", kept, e.Last); !errors.Is(err, ErrNotHeld) {
		t.Errorf("RETURN of what is kept: %v", err)
	}
	f.unlock(0, "a")
	if f.lock(0, "a"); f.why("a").Holder.Token != (Token{1, e.Last + 1}) {
		t.Errorf("the next entry: %+v", f.why("a").Holder)
	}
}

func (f *fleet) why(name string) Snapshot {
	y, _ := f.members[0].Inspect(name)
	return y
}

// The first request from elsewhere recalls a delegated lock, once. Until then the lock is
// reported as delegated.
func TestRecalls(t *testing.T) {
	f, e, events := delegated(t, "naimi-trehel", 3, 5)
	if !f.why("a").Holder.Delegated || recalls(events) != 0 {
		t.Errorf("%+v, recalled %d times", f.why("a").Holder, recalls(events))
	}
	f.lock(1, "a")
	f.settle()
	f.lock(2, "a")
	f.settle()
	f.lock(0, "a")
	if recalls(events) != 1 {
		t.Errorf("recalled %d times", recalls(events))
	}
	if err := f.members[0].Return(f.members[0].now, "a", e.Token, e.Token.Count+2); err != nil {
		t.Fatal(err)
	}
	f.take(0)
	f.settle()
	f.unlock(0, "a") // handed over here
	f.settle()
	if y, _ := f.members[1].Inspect("a"); y.Holder == nil || y.Holder.Token != (Token{1, e.Last + 2}) {
		t.Errorf("the next one: %+v", y.Holder)
	}
}

// A delegation counts as one of the handovers in a row, which do not begin anew when the lock
// is returned or kept.
func TestDelegationIsHandover(t *testing.T) {
	for _, kept := range []bool{false, true} {
		f, e, _ := delegated(t, "naimi-trehel", 2, 5)
		m := f.members[0]
		m.Settings.Handover = 2
		f.lock(1, "a")
		f.settle()
		for range 3 {
			f.lock(0, "a")
		}
		if !kept {
			if err := m.Return(m.now, "a", e.Token, e.Last); err != nil {
				t.Fatal(err)
			}
		} else {
			token, err := m.Keep(m.now, "a", e.Token, e.Last)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Unlock(m.now, "a", token); err != nil {
				t.Fatal(err)
			}
		}
		f.take(0)
		entries := 0
		for ; f.holds(0, "a"); entries++ {
			f.unlock(0, "a")
		}
		f.settle()
		if entries != 1 || !f.holds(1, "a") {
			t.Errorf("kept %t: %d entries here before the other member's", kept, entries)
		}
	}
}

// A delegated lock that is kept is in use: the tries that wait for the answer to the recall are
// refused at once, here and at other members.
func TestKeepAnswersTries(t *testing.T) {
	f, e, here := delegated(t, "naimi-trehel", 3, 5)
	there := told(f, 1)
	first, second, other := f.try(0, "a"), f.try(0, "a"), f.try(1, "a")
	f.settle()
	if recalls(here) != 1 || len(*there) > 0 {
		t.Fatalf("recalled %d times, and before the answer: %+v", recalls(here), *there)
	}
	*here = nil
	if _, err := f.members[0].Keep(f.members[0].now, "a", e.Token, e.Token.Count+2); err != nil {
		t.Fatal(err)
	}
	f.take(0)
	f.settle()
	if all := *here; len(all) != 2 || all[0].Kind != Busy || all[1].Kind != Busy || all[0].Ticket+all[1].Ticket != first+second {
		t.Errorf("the tries here: %+v", all)
	}
	if all := *there; len(all) != 1 || all[0].Kind != Busy || all[0].Ticket != other {
		t.Errorf("the try elsewhere: %+v", all)
	}
}

// In another view a delegated lock is recalled, and its counts are those of the former epoch.
func TestDelegatedCarried(t *testing.T) {
	f, e, events := delegated(t, "naimi-trehel", 2, 5)
	f.install(f.next())
	f.settle()
	if recalls(events) != 1 {
		t.Errorf("recalled %d times", recalls(events))
	}
	f.lock(1, "a")
	f.settle()
	if f.holds(1, "a") {
		t.Fatal("another member is inside, too")
	}
	if err := f.members[0].Return(f.members[0].now, "a", e.Token, e.Last); err != nil {
		t.Fatal(err)
	}
	f.take(0)
	f.settle()
	if y, _ := f.members[1].Inspect("a"); y.Holder == nil || y.Holder.Token != (Token{2, 1}) {
		t.Errorf("the next one: %+v", y.Holder)
	}
}

// If the name of a delegated lock becomes a kept one, the hold is lost, because its client may
// be inside with a later token than the one that is reported.
func TestDelegatedBecomesKept(t *testing.T) {
	f, e, events := delegated(t, "naimi-trehel", 2, 5)
	v := f.next()
	v.Choices = []Choice{{"", "kept:none", 1}}
	f.install(v)
	f.settle()
	lost := false
	for _, o := range *events {
		lost = lost || o.Kind == Lost && o.Cause == Changed && o.Token == e.Token
	}
	if !lost {
		t.Errorf("not lost: %+v", *events)
	}
}

// When a lock has had so many entries that its tokens soon cannot be packed, the member asks
// for another view.
func TestFullCount(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 1)
	m := f.members[0]
	f.lock(0, "a")
	m.epoch.table.lock(0).count = fullCount - 2
	f.unlock(0, "a")
	if m.Out.Forget {
		t.Error("asked for too early")
	}
	f.lock(0, "a")
	f.unlock(0, "a")
	if f.lock(0, "a"); !m.epoch.full {
		t.Error("not asked for")
	}
	if m.Wake(m.now); !m.Out.Forget {
		t.Error("not asked for again")
	}
}
