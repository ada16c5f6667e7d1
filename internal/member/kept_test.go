package member

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A keptFleet is a fleet whose locks are kept. It remembers the last event of each request.
type keptFleet struct {
	*fleet
	last map[Ticket]Event // by the member's rank in the upper bits
}

func newKeptFleet(tb testing.TB, method string, n int) *keptFleet {
	f := &keptFleet{newFleet(tb, keptPrefix+method, n), map[Ticket]Event{}}
	f.events = func(rank int, e Event) { f.last[e.Ticket|Ticket(rank)<<56] = e }
	return f
}

// want requests a lock, and fails the test if that is refused.
func (f *keptFleet) want(i int, name string, t Terms) Ticket {
	f.tb.Helper()
	ticket, err := f.members[i].Lock(f.members[i].now, name, Ask{Deadline: Never, Terms: t})
	if err != nil {
		f.tb.Fatal(err)
	}
	f.take(i)
	return ticket | Ticket(i)<<56
}

// release releases what a request holds.
func (f *keptFleet) release(i int, name string, t Ticket) {
	f.tb.Helper()
	if err := f.members[i].Unlock(f.members[i].now, name, f.last[t].Token); err != nil {
		f.tb.Fatal(err)
	}
	f.take(i)
}

// is fails the test unless the last event of a request is of this kind.
func (f *keptFleet) is(t Ticket, kind EventKind, cause Cause) {
	f.tb.Helper()
	if e, ok := f.last[t]; !ok || e.Kind != kind || e.Cause != cause {
		f.tb.Fatalf("event %+v (%v), want kind %d and cause %d", e, ok, kind, cause)
	}
	if e := f.last[t]; (e.Tx != 0) != (cause == Deadlock) {
		f.tb.Fatalf("event %+v: want a transaction if it must abort", e)
	}
}

// waits fails the test if a request has an event.
func (f *keptFleet) waits(t Ticket) {
	f.tb.Helper()
	if e, ok := f.last[t]; ok {
		f.tb.Fatalf("event %+v, want none yet", e)
	}
}

// pass lets time pass at all members.
func (f *keptFleet) pass(d Span) {
	for i, m := range f.members {
		m.Wake(m.now + Instant(d))
		f.take(i)
	}
}

// at returns a name whose home is the member of a rank.
func (f *keptFleet) at(rank int) string {
	for c := 'a'; ; c++ {
		if name := string(c); f.view.Home(name) == rank {
			return name
		}
	}
}

// Requests are served in the order of arrival, and those that share go together.
func TestKeptModes(t *testing.T) {
	f := newKeptFleet(t, "none", 3)
	name := f.at(1)
	shared := Terms{Mode: deadlock.Shared}
	r1, r2 := f.want(0, name, shared), f.want(2, name, shared)
	f.settle()
	f.is(r1, Held, NoCause)
	f.is(r2, Held, NoCause)
	w := f.want(0, name, Terms{})
	f.settle()
	r3 := f.want(1, name, shared)
	f.settle()
	f.waits(w)
	f.waits(r3) // not before the writer
	f.release(0, name, r1)
	f.release(2, name, r2)
	f.settle()
	f.is(w, Held, NoCause)
	f.waits(r3)
	if !f.last[r2].Token.Less(f.last[w].Token) {
		t.Errorf("token %v of a writer after %v of a reader", f.last[w].Token, f.last[r2].Token)
	}
	f.release(0, name, w)
	f.settle()
	f.is(r3, Held, NoCause)
}

// A semaphore has as many units as its users say, who must agree as long as it is in use.
func TestKeptUnits(t *testing.T) {
	f := newKeptFleet(t, "none", 2)
	a := f.want(0, "s", Terms{Mode: 2, Units: 3})
	f.settle()
	b := f.want(1, "s", Terms{Mode: 2, Units: 3})
	c := f.want(0, "s", Terms{Mode: 1, Units: 4})
	f.settle()
	f.is(a, Held, NoCause)
	f.waits(b)
	f.is(c, Stopped, Units)
	f.release(0, "s", a)
	f.settle()
	f.is(b, Held, NoCause)
	f.release(1, "s", b)
	f.settle()
	c = f.want(0, "s", Terms{Mode: 1, Units: 4})
	f.settle()
	f.is(c, Held, NoCause)
}

// What cannot be granted is refused at once, with the reason.
func TestKeptRefusals(t *testing.T) {
	f := newKeptFleet(t, "ordered", 2)
	f.want(0, "b", Terms{Tx: 1})
	f.settle()
	for _, x := range []struct {
		name  string
		terms Terms
		want  error
	}{
		{"b", Terms{Tx: 1}, ErrReentrant},
		{"a", Terms{Tx: 1}, ErrOrder},
		{"c", Terms{Tx: 1, Mode: 3, Units: 2}, ErrMode},
		{"c", Terms{Mode: deadlock.Shared, Units: 2}, ErrMode},
		{"c", Terms{Mode: -2}, ErrMode},
	} {
		if _, err := f.members[0].Lock(0, x.name, Ask{Deadline: Never, Terms: x.terms}); !errors.Is(err, x.want) {
			t.Errorf("%q with %+v: %v, want %v", x.name, x.terms, err, x.want)
		}
	}
	other := f.want(1, "b", Terms{Tx: 1})
	f.settle()
	f.waits(other)
	if _, err := f.members[1].Lock(0, "c", Ask{Deadline: Never, Terms: Terms{Tx: 1}}); !errors.Is(err, ErrWaits) {
		t.Errorf("a second request: %v, want %v", err, ErrWaits)
	}
	g := newFleet(t, "central", 2)
	if _, err := g.members[0].Lock(0, "a", Ask{Deadline: Never, Terms: Terms{Mode: deadlock.Shared}}); !errors.Is(err, ErrOrdinary) {
		t.Errorf("an ordinary lock, shared: %v, want %v", err, ErrOrdinary)
	}
}

// A try is granted at once or refused.
func TestKeptTry(t *testing.T) {
	f := newKeptFleet(t, "wound-wait", 3)
	name := f.at(2)
	try := func(i int, mode deadlock.Mode) Ticket {
		ticket, err := f.members[i].Lock(0, name, Ask{Deadline: Never, Try: true, Terms: Terms{Mode: mode}})
		if err != nil {
			t.Fatal(err)
		}
		f.take(i)
		f.settle()
		return ticket | Ticket(i)<<56
	}
	f.is(try(0, deadlock.Shared), Held, NoCause)
	f.is(try(2, deadlock.Shared), Held, NoCause)
	f.is(try(1, deadlock.Exclusive), Busy, NoCause)
	f.is(try(2, deadlock.Exclusive), Busy, NoCause)
}

// A victim must have been in a deadlock: if one of those in it has cancelled its request,
// none aborts, though the graphs, collected at different times, show a cycle.
func TestKeptPhantom(t *testing.T) {
	for _, cancels := range []bool{true, false} {
		f := newKeptFleet(t, "detect-central", 3)
		a, b := f.at(1), f.at(2)
		older, younger := Terms{Tx: 1}, Terms{Tx: 1}
		f.want(0, b, older)
		f.settle()
		f.want(1, a, younger)
		f.settle()
		wait := f.want(0, a, older) // for the younger one
		f.settle()
		f.members[0].Wake(f.members[0].now + Instant(DetectAfter))
		f.take(0) // the round begins
		var late []posted
		for len(f.mail) > 0 {
			mail := f.mail
			f.mail = nil
			for _, l := range mail {
				if l.from == 1 && l.to == 3 {
					late = append(late, l) // the third member is asked later
				} else {
					f.deliver(l)
				}
			}
		}
		if cancels {
			f.members[0].Cancel(f.members[0].now, wait)
			f.take(0)
			end := f.mail
			f.mail = nil
			for _, l := range end {
				f.deliver(l)
			}
		}
		phantom := f.want(1, b, younger) // for the older one
		f.settle()
		f.mail = late
		f.settle()
		if cancels {
			f.waits(phantom)
			continue
		}
		f.is(phantom, Stopped, Deadlock)
		if text := f.last[phantom].Victim.String(); !strings.Contains(text, a) || !strings.Contains(text, b) || !strings.Contains(text, "m2") {
			t.Errorf("the deadlock is described as %q", text)
		}
		if f.last[phantom].Born == 0 {
			t.Error("the victim has no age to keep")
		}
	}
}

// A transaction that releases a lock while it waits for another one waits no longer:
// otherwise a detector could take it for deadlocked.
func TestKeptEarlyRelease(t *testing.T) {
	f := newKeptFleet(t, "detect-central", 2)
	h := f.want(0, "a", Terms{Tx: 1})
	f.want(1, "b", Terms{})
	f.settle()
	w := f.want(0, "b", Terms{Tx: 1})
	f.settle()
	f.release(0, "a", h)
	f.settle()
	f.is(w, Stopped, Ended)
}

// A wounded holder is notified, and holds its lock until it releases it.
func TestKeptWound(t *testing.T) {
	f := newKeptFleet(t, "wound-wait", 3)
	name := f.at(2)
	born := Terms{Tx: 1}
	f.want(0, "x", born)
	f.settle()
	young := f.want(1, name, Terms{Tx: 1})
	f.settle()
	old := f.want(0, name, born)
	f.settle()
	f.is(young, Doomed, Deadlock)
	if w, _ := f.members[1].Inspect(name); w.Holder == nil || w.Holder.Tx != f.last[young].Tx {
		t.Errorf("transaction %d is wounded, but the holder is %+v", f.last[young].Tx, w.Holder)
	}
	f.waits(old)
	if _, err := f.members[1].Lock(0, "y", Ask{Deadline: Never, Terms: Terms{Tx: 1}}); !errors.Is(err, ErrDoomed) {
		t.Errorf("the wounded one requests another lock: %v, want %v", err, ErrDoomed)
	}
	f.release(1, name, young)
	f.settle()
	f.is(old, Held, NoCause)
}

// The age of a transaction outlives its attempts: what had to die before dies no more when
// those that are left are younger.
func TestKeptAge(t *testing.T) {
	f := newKeptFleet(t, "wait-die", 2)
	first := f.want(0, "a", Terms{Tx: 1})
	f.settle()
	dies := f.want(1, "a", Terms{Tx: 1})
	f.settle()
	f.is(dies, Stopped, Deadlock)
	f.release(0, "a", first)
	for range 3 {
		f.want(0, "b", Terms{}) // time passes
	}
	next := f.want(0, "a", Terms{Tx: 2})
	f.settle()
	f.is(next, Held, NoCause)
	again := f.want(1, "a", Terms{Tx: 2, Born: f.last[dies].Born})
	f.settle()
	f.waits(again) // it is the older one now
}

// A request that waits for too long is given up, if that is the method.
func TestKeptTimeout(t *testing.T) {
	f := newKeptFleet(t, "timeout", 2)
	f.want(0, "a", Terms{Tx: 1})
	f.settle()
	w := f.want(1, "a", Terms{Tx: 1})
	f.settle()
	f.pass(giveUp - Millisecond)
	f.install(f.next())
	f.settle()
	f.waits(w)
	f.pass(Millisecond)
	f.is(w, Stopped, Deadlock)
}

// An operator who chooses another kind of lock for names in use takes no exclusive hold
// from anyone; holds that only kept locks can have are lost.
func TestKeptChange(t *testing.T) {
	for _, kinds := range [][2]string{{"kept:none", "central"}, {"central", "kept:none"}, {"kept:none", "kept:detect-central"}} {
		f := &keptFleet{newFleet(t, kinds[0], 3), map[Ticket]Event{}}
		f.events = func(rank int, e Event) { f.last[e.Ticket|Ticket(rank)<<56] = e }
		held, waits := f.want(0, "a", Terms{}), Ticket(0)
		f.settle()
		if waits = f.want(1, "a", Terms{}); strings.HasPrefix(kinds[0], keptPrefix) {
			f.want(2, "s", Terms{Mode: deadlock.Shared})
			f.want(2, "s", Terms{Mode: deadlock.Shared})
		}
		f.settle()
		v := f.next()
		v.Choices = []Choice{{"", kinds[1], 1}}
		f.install(v)
		f.settle()
		f.waits(waits)
		f.is(held, Held, NoCause)
		lost := 0
		for _, e := range f.last {
			if e.Kind == Lost && e.Cause == Changed {
				lost++
			}
		}
		if want := 2; kinds[1] == "central" && lost != want || kinds[1] != "central" && lost != 0 {
			t.Errorf("from %s to %s: %d holds are lost", kinds[0], kinds[1], lost)
		}
		if kinds[1] == "central" { // the shared lock is passed on when its holders can no longer act
			f.members[2].lease = f.members[2].now + f.members[2].margin // it ends a little later
			for _, u := range f.members[2].epoch.uses {
				if u != nil && u.lapsed {
					u.rests = f.members[2].lease
				}
			}
			f.members[2].lapse = f.members[2].lease
			s := f.want(1, "s", Terms{})
			f.settle()
			f.waits(s)
			f.members[2].Wake(f.members[2].lease)
			f.take(2)
			f.settle()
			f.is(s, Held, NoCause)
		}
		f.release(0, "a", held)
		f.settle()
		f.is(waits, Held, NoCause)
	}
}

// An exclusive kept lock costs three messages at most, and a shared one two and its
// release: no more than a coordinator's.
func TestKeptMessages(t *testing.T) {
	f := newKeptFleet(t, "detect-central", 5)
	name := f.at(3)
	for _, mode := range []deadlock.Mode{deadlock.Exclusive, deadlock.Shared} {
		f.frames = map[string]int{}
		h := f.want(0, name, Terms{Mode: mode})
		f.settle()
		if got := f.total(); got != 2 {
			t.Errorf("%v: %d messages to acquire it: %v", mode, got, f.frames)
		}
		f.release(0, name, h)
		f.settle()
		if got := f.total(); got != 3 {
			t.Errorf("%v: %d messages in all: %v", mode, got, f.frames)
		}
	}
}

// A lock is explained with all its holders here.
func TestKeptWhy(t *testing.T) {
	f := newKeptFleet(t, "none", 2)
	first := f.want(0, "a", Terms{Mode: deadlock.Shared})
	f.settle()
	f.pass(5)
	for range 2 {
		f.want(0, "a", Terms{Mode: deadlock.Shared})
	}
	f.want(0, "a", Terms{Tx: 7})
	f.settle()
	for _, entered := range []Instant{0, 5} {
		f.members[0].Queues(func(q Queue) bool {
			if q.Waiting != 1 || !q.Held || q.Entered != entered {
				t.Errorf("%+v, want it held since %d", q, entered)
			}
			return true
		})
		if entered == 0 {
			f.release(0, "a", first)
			f.settle()
		}
	}
	if held, waiting := f.members[0].Counts(); held != 2 || waiting != 1 {
		t.Errorf("%d held, %d waiting", held, waiting)
	}
	y, ok := f.members[0].Inspect("a")
	if !ok || y.Holder == nil || len(y.Shared) != 1 || y.Shared[0].Mode != deadlock.Shared || len(y.Waiters) != 1 {
		t.Errorf("%+v", y)
	}
	var names []string
	for q := range f.members[0].Queues {
		names = append(names, string(q.Name))
	}
	if known, busy, _ := f.members[0].Known(); !slices.Equal(names, []string{"a"}) || known != 1 || busy != 1 {
		t.Errorf("%v, %d known, %d busy", names, known, busy)
	}
}

// keptFrames returns frames of each kind that is about kept locks.
func keptFrames() []frame {
	mine := deadlock.Attempt{Origin: 1, Tx: 1, Number: 1, Stamp: algorithm.TimeOf(1), Seq: 1}
	other := deadlock.Attempt{Origin: 2, Tx: 1, Number: 1, Stamp: algorithm.TimeOf(2), Seq: 1}
	v := &Victim{How: InCycle, Cycle: []Wait{{"", 1, 1, "a"}, {"", 2, 1, "b"}}}
	var all []frame
	for k := wantFrame; k < frameKinds; k++ {
		for _, name := range []string{"a", "b", "c"} {
			for _, who := range []deadlock.Attempt{mine, other} {
				all = append(all, frame{
					kind: k, name: []byte(name), who: who, mode: deadlock.Shared, token: Token{1, 9}, victim: v, round: 1,
					path: []deadlock.Attempt{other, mine}, arcs: []arc{{mine, other, "a", 1, 0}, {other, mine, "b", 1, 0}}, lock: name, ext: name == "a",
				})
			}
		}
	}
	line := keptLine{"a", 0, deadlock.Request{Attempt: other, Mode: deadlock.Shared}, Token{1, 4}, byClient, ""}
	return append(all, frame{kind: reportFrame, kept: []keptLine{line}}, frame{kind: reportFrame, kept: []keptLine{line, {"a", 3, deadlock.Request{Attempt: other, Mode: 2}, Token{}, byOwn, ""}}})
}
