package meter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
)

// past returns copies of the holds of a lock that have ended.
func (m *tester) past(name string) (all []Past) {
	for p := range m.Past(name) {
		all = append(all, *p)
	}
	return all
}

// entered is an acquisition with a token.
func entered(kind process.EffectKind, t member.Ticket, count uint64) process.Effect {
	return process.Effect{Kind: kind, Event: member.Event{Ticket: t, Kind: member.Held, Token: member.Token{Epoch: 3, Count: count}}}
}

// The holds of a lock that have ended are known: whose they were, since when, until when, and
// how they ended. Requests that were not granted are not among them.
func TestPast(t *testing.T) {
	m := newTester()
	alice := &session.Owner{Session: 7, Who: "client/alice"}
	of := func(kind process.EffectKind, t member.Ticket) process.Effect {
		return process.Effect{Kind: kind, Event: member.Event{Ticket: t}, To: "x", Client: alice}
	}
	begin := m.now
	m.lock(1, "x", entered(process.Notify, 1, 1))
	m.now += 5 * ms
	m.unlock(1)
	m.lock(2, "x", entered(process.Notify, 2, 2))
	m.now += ms
	m.step(process.Input{Kind: process.Release}, event(member.Lost, 2, member.Released))
	m.lock(3, "x", event(member.Busy, 3, member.NoCause))
	m.lock(4, "x")
	m.step(process.Input{Kind: process.Cancel, Number: 4})
	m.step(process.Input{Kind: process.Frame}, of(process.Asked, 5))
	m.now += ms
	m.step(process.Input{Kind: process.Message}, entered(process.ClientEvent, 5, 3))
	m.now += ms
	m.step(process.Input{Kind: process.Wake}, process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: 5, Kind: member.Lost, Cause: member.Session}})
	m.step(process.Input{Kind: process.Frame}, of(process.Claimed, 6))
	m.step(process.Input{Kind: process.Frame}, entered(process.ClientEvent, 6, 3))
	m.now += ms
	m.step(process.Input{Kind: process.Frame}, of(process.Unlocked, 6))
	m.step(process.Input{Kind: process.Frame}, of(process.Claimed, 7))
	m.step(process.Input{Kind: process.Frame}, process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: 7, Kind: member.Lost, Cause: member.Released}}) // refused
	token := func(count uint64) member.Token { return member.Token{Epoch: 3, Count: count} }
	want := []Past{
		{Name: "x", Owner: alice, Token: token(3), Since: begin + 8*ms, Until: begin + 9*ms, Moved: true},
		{Name: "x", Owner: alice, Token: token(3), Since: begin + 7*ms, Until: begin + 8*ms, Lost: true, Cause: member.Session},
		{Name: "x", Token: token(2), Since: begin + 5*ms, Until: begin + 6*ms, Lost: true, Cause: member.Released},
		{Name: "x", Token: token(1), Since: begin, Until: begin + 5*ms},
	}
	if got := m.past("x"); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if got := m.past("y"); got != nil {
		t.Errorf("of another name: %+v", got)
	}
	for p := range m.Past("x") {
		if p.Token.Count == 2 {
			break // as a reader may
		}
	}
}

// The holds of one busy lock do not replace those of all others, and no more are kept than
// announced.
func TestPastOfOthers(t *testing.T) {
	m := newTester()
	const others = 200
	name := func(i int) string { return fmt.Sprintf("rare/%d", i) }
	use := func(name string) {
		m.lock(1, name, held(1))
		m.unlock(1)
	}
	for i := range others {
		use(name(i))
	}
	for range 20_000 {
		use("often")
	}
	known := 0
	for i := range others {
		known += len(m.past(name(i)))
	}
	if known < others*9/10 {
		t.Errorf("%d of %d holds of other locks are known", known, others)
	}
	if n := len(m.past("often")); n != Lasting {
		t.Errorf("%d holds of the busy one are known", n)
	}
}

// Nothing is allocated for a hold, once there is room for those of its name.
func TestPastIsFree(t *testing.T) {
	m := newTester()
	entered := []process.Effect{held(1)}
	if n := testing.AllocsPerRun(100, func() {
		m.lock(1, "x", entered...)
		m.unlock(1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A transaction that must abort is reported once, with the lock that it waits for. What it
// holds is held until it is released.
func TestVictims(t *testing.T) {
	m := newTester()
	bob := &session.Owner{Session: 8}
	why := &member.Victim{How: member.TimedOut}
	must := func(kind member.EventKind, t member.Ticket, tx uint64) process.Effect {
		return process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: t, Kind: kind, Cause: member.Deadlock, Tx: tx, Victim: why}}
	}
	ask := func(t member.Ticket, name string, tx uint64, effects ...process.Effect) {
		all := append([]process.Effect{{Kind: process.Asked, Event: member.Event{Ticket: t}, To: name, Client: bob, Terms: member.Terms{Tx: tx}}}, effects...)
		m.step(process.Input{Kind: process.Frame}, all...)
	}
	ask(1, "holds", 1, held(1))
	ask(2, "more", 1, held(2))
	ask(3, "waits", 1)
	ask(4, "single", 0)
	ask(5, "wounded", 2, held(5))
	m.lock(6, "own")
	m.now += 10 * ms
	m.step(process.Input{Kind: process.Message}, must(member.Doomed, 1, 70), must(member.Stopped, 3, 70), must(member.Doomed, 2, 70),
		must(member.Stopped, 4, 71), must(member.Doomed, 5, 72), must(member.Stopped, 6, 73), must(member.Stopped, 99, 74))
	want := []Victim{
		{Tx: 70, Owner: bob, Waits: true, Lock: "waits", Why: why},
		{Tx: 71, Owner: bob, Single: true, Waits: true, Lock: "single", Why: why},
		{Tx: 72, Owner: bob, Lock: "wounded", Why: why},
		{Tx: 73, Single: true, Waits: true, Lock: "own", Why: why},
	}
	if !slices.Equal(m.Victims, want) {
		t.Errorf("%+v\nwant\n%+v", m.Victims, want)
	}
	if m.step(process.Input{Kind: process.Wake}); len(m.Victims) > 0 {
		t.Errorf("they are reported again: %+v", m.Victims)
	}
	m.now += 10 * ms
	m.step(process.Input{Kind: process.Frame}, process.Effect{Kind: process.Unlocked, Event: member.Event{Ticket: 1}})
	if got := m.past("holds"); len(got) != 1 || got[0].Until-got[0].Since != 20*ms || got[0].Lost {
		t.Errorf("it was held until it was released, but %+v", got)
	}
	if h := m.Of("holds").Hold; h.Count() != 1 || h.Sum != 20*member.Millisecond {
		t.Errorf("%+v", h)
	}
}

// The hottest locks are those of the last seconds; the busiest are those of all time.
func TestHottest(t *testing.T) {
	m := newTester()
	use := func(name string, times int) {
		for range times {
			m.lock(1, name, held(1))
			m.unlock(1)
		}
	}
	first := func() string { return m.Hottest(m.now, 2)[0].Name }
	use("old", 1000)
	use("new", 1)
	if got := first(); got != "old" {
		t.Errorf("%s is the hottest", got)
	}
	for range 3 {
		m.now += member.Instant(Period)
		m.Hottest(m.now, 1)
		m.Hottest(m.now, 1) // does not begin another period
	}
	use("new", 10)
	if got := first(); got != "new" {
		t.Errorf("%s is the hottest", got)
	}
	m.now += member.Instant(Period)
	if got := m.Hottest(m.now, 2); got[0].Name != "new" || got[0].Lately != 10 || got[1].Lately != 0 || got[0].Count != 11 {
		t.Errorf("in the next period: %+v", got)
	}
	m.now += member.Instant(Period)
	if got := first(); got != "old" {
		t.Errorf("when nothing happens, %s is the hottest", got)
	}
	if b := m.Busiest(1); b[0].Name != "old" || m.Count("old") != 1000 || m.Count("new") != 11 || m.Count("other") != 0 {
		t.Errorf("%+v", b)
	}
}
