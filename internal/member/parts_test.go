package member

import (
	"fmt"
	"slices"
	"testing"
)

// parts returns two members, of which the first holds some locks, waits for others
// behind the second, and has just installed a new view. The second is the home of
// all of them. A part of a report has room for one name.
func parts(t *testing.T, holds, waits int) (f *fleet, held, waited []string) {
	f = newFleet(t, "central", 2)
	f.members[0].Limits.Part = 1
	names := homed(f.view, 1, holds+waits, 20)
	held, waited = names[:holds], names[holds:]
	for _, name := range waited {
		f.lock(1, name)
		f.settle()
	}
	for _, name := range names {
		f.lock(0, name)
		f.settle()
	}
	f.view = f.next()
	for _, m := range f.members {
		if err := m.Install(0, f.view); err != nil {
			t.Fatal(err)
		}
	}
	f.take(1)
	return f, held, waited
}

// sent returns the frames that a member has sent, and takes them.
func (f *fleet) sent(i int) (all []FrameInfo) {
	m := f.members[i]
	for _, x := range m.Out.Frames {
		s, err := Look(x.Bytes)
		if err != nil {
			f.tb.Fatal(err)
		}
		all = append(all, s)
		f.mail = append(f.mail, posted{m.Inc, x.To, slices.Clone(x.Bytes)})
	}
	m.Out.Reset()
	return all
}

// text writes frames for comparison.
func text(all []FrameInfo) string {
	s := ""
	for _, x := range all {
		if s += x.Kind + fmt.Sprint(x.Held, x.Waits); x.More {
			s += "+"
		}
	}
	return s
}

// Install makes the first part, and More the others; only the last says so.
func TestParts(t *testing.T) {
	f, held, waited := parts(t, 2, 1)
	m := f.members[0]
	want := []string{
		fmt.Sprintf("REPORT[%s] []+", held[0]),
		fmt.Sprintf("REPORT[%s] []+", held[1]),
		fmt.Sprintf("REPORT[] [%s]", waited[0]),
	}
	for i, want := range want {
		if i > 0 && !m.More(0, 2) {
			t.Fatalf("there is no part %d", i)
		}
		if got := text(f.sent(0)); got != want {
			t.Errorf("part %d is %s, want %s", i, got, want)
		}
		if got := m.Bulk(); got != (i < 2) {
			t.Errorf("more to come after part %d: %v", i, got)
		}
	}
	if m.More(0, 2) || m.More(0, 1) || m.More(0, 9) || len(m.Out.Frames) > 0 {
		t.Error("there are more parts than that")
	}
	f.settle()
	f.unlock(0, held[0])
	f.unlock(0, held[1])
	f.unlock(1, waited[0])
	f.settle()
	if !f.holds(0, waited[0]) {
		t.Error("the lock that was waited for is not lent")
	}
}

// A report of nothing has one part.
func TestPartOfNothing(t *testing.T) {
	f, _, _ := parts(t, 0, 0)
	if got := text(f.sent(0)); got != "REPORT[] []" || f.members[0].Bulk() {
		t.Errorf("got %s", got)
	}
}

// A lock that is released before its part is made is not listed, and RELEASED is not sent;
// a lock that is released afterwards is RELEASED behind it.
func TestPartReleased(t *testing.T) {
	f, held, _ := parts(t, 4, 0)
	m := f.members[0]
	f.sent(0)
	for _, name := range []string{held[0], held[1], held[3]} {
		f.release(0, name)
	}
	if got := text(f.sent(0)); got != "RELEASED[] []" {
		t.Errorf("three are released, one of them was reported: got %s", got)
	}
	all(m)
	f.release(0, held[2])
	if got, want := text(f.sent(0)), fmt.Sprintf("REPORT[%s] []RELEASED[] []", held[2]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.settle()
	for _, name := range held {
		f.lock(1, name)
		if f.settle(); !f.holds(1, name) {
			t.Errorf("%s is not free", name)
		}
	}
}

// release is unlock, but leaves in Out what the member wants sent.
func (f *fleet) release(i int, name string) {
	y, _ := f.members[i].Inspect(name)
	if err := f.members[i].Unlock(0, name, y.Holder.Token); err != nil {
		f.tb.Fatal(err)
	}
}

// If all parts that are left become void, the last one is empty.
func TestPartsVoid(t *testing.T) {
	f, held, waited := parts(t, 3, 1)
	m := f.members[0]
	f.sent(0)
	y, _ := m.Inspect(waited[0])
	m.Cancel(0, y.Waiters[0].Ticket)
	f.release(0, held[1])
	f.release(0, held[2])
	if got := text(f.sent(0)); got != "" || !m.Bulk() {
		t.Errorf("got %s; more to come: %v", got, m.Bulk())
	}
	all(m)
	if got := text(f.sent(0)); got != "REPORT[] []" || m.Bulk() {
		t.Errorf("got %s", got)
	}
	f.settle()
	if s := f.members[1].suspects(f.members[1].epoch, &use{may: f.members[1].epoch.everybody}); !s.empty() {
		t.Errorf("suspects are left: %v", s.list())
	}
}

// A request that is cancelled before its part is made is not listed. If it was the
// last from an older epoch, later ones ask by the algorithm: no loan will come.
func TestPartCancelled(t *testing.T) {
	f, _, waited := parts(t, 0, 3)
	m := f.members[0]
	f.sent(0)
	tickets := map[string]Ticket{}
	for _, name := range waited {
		y, _ := m.Inspect(name)
		tickets[name] = y.Waiters[0].Ticket
		if _, err := m.Lock(0, name, Ask{Deadline: Never}); err != nil {
			t.Fatal(err)
		}
	}
	if got := text(f.sent(0)); got != "" {
		t.Errorf("it asks, though the home will lend: %s", got)
	}
	m.Cancel(0, tickets[waited[0]]) // reported before: it waits for the loan
	if got := text(f.sent(0)); got != "" {
		t.Errorf("got %s", got)
	}
	m.Cancel(0, tickets[waited[1]])
	if got := text(f.sent(0)); got != "ALG[] []" {
		t.Errorf("after the last older request is cancelled: %s, want a request", got)
	}
	all(m)
	if got, want := text(f.sent(0)), fmt.Sprintf("REPORT[] [%s]", waited[2]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.settle()
	for _, name := range waited {
		f.unlock(1, name)
		if f.settle(); !f.holds(0, name) {
			t.Errorf("%s: the waiter does not get it", name)
		}
	}
}

// A new view voids the parts that are left; its own report begins anew.
func TestPartsOfTwoViews(t *testing.T) {
	f, held, waited := parts(t, 3, 2)
	m := f.members[0]
	f.release(0, held[2])
	f.sent(0)
	f.install(f.next())
	if m.Bulk() || m.frozen.reporting > 0 {
		t.Error("parts are left")
	}
	f.settle()
	for _, name := range waited {
		f.unlock(1, name)
	}
	f.unlock(0, held[0])
	f.settle()
	for _, name := range []string{held[1], waited[0], waited[1]} {
		if !f.holds(0, name) {
			t.Errorf("%s is not held", name)
		}
	}
	for _, name := range []string{held[0], held[2]} {
		f.lock(1, name)
		if f.settle(); !f.holds(1, name) {
			t.Errorf("%s is not free", name)
		}
	}
}

// A hold counts in testimony whether or not it has been reported.
func TestPartTestimony(t *testing.T) {
	f, held, _ := parts(t, 2, 0)
	m := f.members[0]
	for i, name := range held {
		if got, want := m.testimony(name), m.epoch.those(1); got != want {
			t.Errorf("hold %d: %v may be inside, want %v", i, got.list(), want.list())
		}
	}
}

// An evicted member makes no further parts.
func TestPartsOfGhost(t *testing.T) {
	f, _, _ := parts(t, 3, 0)
	m := f.members[0]
	m.Gone(0)
	m.Out.Reset()
	if m.Bulk() || m.More(0, 2) || len(m.Out.Frames) > 0 {
		t.Error("it goes on")
	}
}

// queries returns three members, of which the first is the home of some locks that
// are wanted there, and the third has not reported. A QUERY has room for two names.
func queries(t *testing.T, many int) (f *fleet, names []string) {
	f = newFleet(t, "central", 3)
	m := f.members[0]
	m.Limits.Part = 2 * (20 + 8)
	names = homed(f.view, 0, many, 20)
	v := f.next()
	for i := range 2 {
		if err := f.members[i].Install(0, v); err != nil {
			t.Fatal(err)
		}
	}
	f.view = v
	all(f.members[1])
	f.sent(1)
	f.sent(0)
	m.frozen = nil // it knows nothing of the view before itself
	for _, name := range names {
		if _, err := m.Lock(0, name, Ask{Deadline: Never}); err != nil {
			t.Fatal(err)
		}
	}
	return f, names
}

// QUERYs go to each other survivor in parts, at its own pace, and not for locks
// that no longer need one.
func TestQueryParts(t *testing.T) {
	f, names := queries(t, 5)
	m := f.members[0]
	if len(m.Out.Frames) > 0 || !m.Bulk() {
		t.Fatalf("%d frames, more to come: %v", len(m.Out.Frames), m.Bulk())
	}
	asked := func(to uint64) (all []string) {
		if m.More(0, to) {
			var x frame
			if err := x.parse(m.Out.Frames[0].Bytes); err != nil || x.kind != queryFrame || m.Out.Frames[0].To != to {
				t.Fatalf("%v to %d: %v", x.kind, m.Out.Frames[0].To, err)
			}
			all = x.names
			m.Out.Reset()
		}
		return all
	}
	for i, want := range [][]string{names[:2], names[2:4], names[4:], nil} {
		if got := asked(2); !slices.Equal(got, want) {
			t.Errorf("part %d for 2 asks about %q, want %q", i, got, want)
		}
	}
	if got := asked(3); !slices.Equal(got, names[:2]) || !m.Bulk() {
		t.Errorf("the first part for 3 asks about %q", got)
	}
	u := m.epoch.found(find(&m.epoch.table, names[2], hashName(names[2])))
	u.may = set{} // a witness has ruled out all
	m.settle(u)
	m.Out.Reset()
	if got := asked(3); !slices.Equal(got, names[3:]) || m.Bulk() || len(m.epoch.queries) > 0 {
		t.Errorf("the last part for 3 asks about %q; %d queries are left", got, len(m.epoch.queries))
	}
}

// Locks that are wanted again and again do not make queries grow without bound
// while a survivor takes none; and it is asked about each of them once. Another one,
// which takes them all, is asked each time.
func TestQueriesCompact(t *testing.T) {
	f, names := queries(t, 5)
	m := f.members[0]
	counted := func(got map[string]int) (all int) {
		for _, x := range m.Out.Frames {
			var q frame
			if err := q.parse(x.Bytes); err != nil {
				t.Fatal(err)
			}
			for _, name := range q.names {
				got[name]++
				all++
			}
		}
		m.Out.Reset()
		return all
	}
	for m.More(0, 2) {
	}
	counted(map[string]int{})
	for i := range 10_000 {
		name := names[i%4]
		y, _ := m.Inspect(name)
		for _, w := range y.Waiters {
			m.Cancel(0, w.Ticket)
		}
		if _, err := m.Lock(0, name, Ask{Deadline: Never}); err != nil {
			t.Fatal(err)
		}
		for m.More(0, 2) {
		}
		if n := counted(map[string]int{}); n != 1 {
			t.Fatalf("2 is asked about %d locks, %d requests later", n, i)
		}
	}
	if n := len(m.epoch.queries); n > 1100 {
		t.Errorf("%d queries are kept for five locks", n)
	}
	got := map[string]int{}
	for m.More(0, 3) {
	}
	counted(got)
	for _, name := range names {
		if got[name] != 1 {
			t.Errorf("3 is asked about %s %d times", name, got[name])
		}
	}
	if m.Bulk() {
		t.Error("there is more")
	}
}

// All other survivors are asked, the first one too, and a member that has joined is not.
// When they have been asked, nothing is left, and the next lock is asked about anew. A
// QUERY has one name at least.
func TestSurvivorsAreAsked(t *testing.T) {
	f := newFleet(t, "central", 3)
	m := f.members[1]
	v := f.next()
	v.Members = append(v.Members, Who{"m4", 4})
	names := homed(v, 1, 5, 20)
	m.Limits.Part = 1
	if err := m.Install(0, v); err != nil {
		t.Fatal(err)
	}
	all(m)
	m.frozen = nil // it knows nothing of the view before itself
	asked := func(to uint64, want ...string) {
		t.Helper()
		for _, name := range want {
			m.Out.Reset()
			var q frame
			if !m.More(0, to) || len(m.Out.Frames) != 1 || q.parse(m.Out.Frames[0].Bytes) != nil || !slices.Equal(q.names, []string{name}) {
				t.Errorf("%d is asked about %q, want %q", to, q.names, name)
			}
		}
		if m.Out.Reset(); m.More(0, to) {
			t.Errorf("%d is asked about more", to)
		}
	}
	lock := func(name string) {
		if _, err := m.Lock(0, name, Ask{Deadline: Never}); err != nil {
			t.Fatal(err)
		}
	}
	lock(names[0])
	lock(names[1])
	asked(4)
	asked(1, names[0], names[1])
	if !m.Bulk() {
		t.Error("3 need not be asked")
	}
	asked(3, names[0], names[1])
	if m.Bulk() {
		t.Error("there is more, though all survivors have been asked")
	}
	lock(names[2])
	asked(3, names[2])
	asked(1, names[2])
	if m.Bulk() {
		t.Error("there is more")
	}
	m.Limits.Part = 2*m.epoch.cost(0) - 1 // one byte less than two names take
	lock(names[3])
	lock(names[4])
	asked(1, names[3], names[4])
}
