package meter

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

const ms = member.Instant(member.Millisecond)

// A tester shows steps to a meter.
type tester struct {
	*Meter
	now member.Instant
	out process.Output
}

func newTester() *tester {
	m := &tester{Meter: New(), now: 1000 * ms}
	m.step(process.Input{Kind: process.Wake}, process.Effect{Kind: process.View, Record: record(1)})
	return m
}

// record returns a view of these members.
func record(incs ...uint64) *views.Record {
	r := &views.Record{}
	for _, inc := range incs {
		r.Members = append(r.Members, views.Member{Inc: inc})
	}
	r.Choices = []member.Choice{{Algorithm: "general"}, {Prefix: "special/deep/", Algorithm: "special"}}
	return r
}

func (m *tester) step(in process.Input, effects ...process.Effect) {
	in.At = m.now
	m.out.Effects = effects
	m.Took(&in, &m.out)
}

func event(kind member.EventKind, t member.Ticket, cause member.Cause) process.Effect {
	return process.Effect{Kind: process.Notify, Event: member.Event{Ticket: t, Kind: kind, Cause: cause}}
}

func held(t member.Ticket) process.Effect { return event(member.Held, t, 0) }

// lock is an application's request, and what comes of it at once.
func (m *tester) lock(t member.Ticket, name string, effects ...process.Effect) {
	m.out.Ticket = t
	m.step(process.Input{Kind: process.Lock, Text: name}, effects...)
	m.out.Ticket = 0
}

func (m *tester) unlock(t member.Ticket, effects ...process.Effect) {
	m.step(process.Input{Kind: process.Unlock, Number: uint64(t)}, effects...)
}

// Waits and holds are measured from the inputs and effects of applications and of clients,
// and a lock that is passed on counts by where it comes from.
func TestTook(t *testing.T) {
	m := newTester()
	asked := func(kind process.EffectKind, t member.Ticket) process.Effect {
		return process.Effect{Kind: kind, Event: member.Event{Ticket: t}, To: "a/x"}
	}
	m.lock(1<<32, "a/x", held(1<<32))
	m.lock(1<<32|1, "a/x")
	m.step(process.Input{Kind: process.Frame, Bytes: []byte{2}}, asked(process.Asked, 1<<32|2))
	m.step(process.Input{Kind: process.Frame, Bytes: []byte{2}}, asked(process.Asked, 1<<32|3))
	m.now += 20 * ms
	m.unlock(1<<32, held(1<<32|1)) // passed on here
	m.now += 20 * ms
	m.unlock(1<<32 | 1)
	m.now += 200 * ms
	m.step(process.Input{Kind: process.Message, Bytes: []byte{0}}, process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: 1<<32 | 2, Kind: member.Held}})
	m.now += 2 * ms
	m.step(process.Input{Kind: process.Frame, Bytes: []byte{4}}, asked(process.Unlocked, 1<<32|2), asked(process.Cancelled, 1<<32|3))
	m.lock(2<<32, "a/x", event(member.Busy, 2<<32, 0))
	m.lock(3<<32, "a/x")
	m.step(process.Input{Kind: process.Cancel, Number: 3 << 32})
	m.lock(4<<32, "a/x", held(4<<32))
	m.now += 2 * ms
	m.step(process.Input{Kind: process.Wake}, event(member.Lost, 4<<32, member.Lease))
	m.step(process.Input{Kind: process.Frame, Bytes: []byte{6}}, asked(process.Claimed, 5<<32), process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: 5 << 32, Kind: member.Held}})
	m.now += 2 * ms
	m.step(process.Input{Kind: process.Frame, Bytes: []byte{4}}, process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: 5 << 32, Kind: member.Lost, Cause: member.Moved}}, asked(process.Unlocked, 5<<32))
	m.out.Err = member.ErrNames
	m.lock(6<<32, "a/x", held(6<<32))
	m.unlock(6 << 32)
	s := m.Of("a/x")
	if s.Acquired != 4 || s.Local != 1 || s.Remote != 1 || s.Wait.Count() != 4 || s.Hold.Count() != 5 {
		t.Errorf("%+v", s)
	}
	if s.Wait.Sum != 260*member.Millisecond || s.Hold.Sum != 46*member.Millisecond {
		t.Errorf("waited for %v, held for %v", s.Wait.Sum, s.Hold.Sum)
	}
	losses := uint64(0)
	for _, n := range m.Lost {
		losses += n
	}
	if losses != 1 || m.Totals.Busy != 1 || m.Lost[member.Lease] != 1 || m.Claimed != 1 || m.Received[0] != 1 || m.FromClients[2] != 2 {
		t.Errorf("%+v", m.Totals)
	}
}

// Names belong to the prefix up to their first slash, and to the algorithm that serves them.
func TestSeries(t *testing.T) {
	m := newTester()
	for name, want := range map[string]label{
		"a/b/c": {"general", "a/"}, "/": {"general", "/"}, "plain": {"general", Other}, "": {"general", Other},
		"special/x": {"general", "special/"}, "special/deep/x": {"special", "special/"},
		fmt.Sprintf("%064d/", 0): {"general", Other},
	} {
		if s := m.Of(name); s.Algorithm != want.algorithm || s.Prefix != want.prefix {
			t.Errorf("%q belongs to %q and %q", name, s.Algorithm, s.Prefix)
		}
	}
	for i := range 10_000 {
		m.lock(1<<32, fmt.Sprintf("p%d/x", i), held(1<<32))
		m.unlock(1 << 32)
	}
	if len(m.all) > MaxPrefixes+2 { // others, by each algorithm
		t.Errorf("%d series", len(m.all))
	}
	// A lock that is served by another algorithm from now on.
	r := record(1)
	r.Choices = r.Choices[:1]
	r.Choices[0].Algorithm = "new"
	m.step(process.Input{Kind: process.Wake}, process.Effect{Kind: process.View, Record: r})
	if s := m.Of("p1/x"); s.Algorithm != "new" {
		t.Error(s.Algorithm)
	}
}

// Views count by what has changed.
func TestCauses(t *testing.T) {
	m := newTester()
	voter := record(1, 2)
	voter.Members[1].Voter = 7
	ghost := record(1)
	ghost.Ghosts = []views.Ghost{{Inc: 3}}
	for i, x := range []struct {
		r    *views.Record
		want Cause
	}{{record(1, 2), Join}, {record(1, 2), Refresh}, {voter, Vote}, {record(1, 3), Leave}, {ghost, Evict}} {
		before := m.Views[x.want]
		if m.step(process.Input{Kind: process.Wake}, process.Effect{Kind: process.View, Record: x.r}); m.Views[x.want] != before+1 {
			t.Errorf("%d is not %v: %v", i, x.want, m.Views)
		}
	}
}

// Durations are counted in the bucket with the next bound.
func TestHistogram(t *testing.T) {
	var h Histogram
	for i, b := range Bounds() {
		h.Add(b)
		h.Add(b + 1)
		if h.Buckets[i] == 0 || h.Buckets[i+1] != 1 {
			t.Errorf("%v: %v", b, h.Buckets)
		}
	}
	h.Add(-1)
	h.Add(0)
	h.Add(1<<63 - 1)
	if h.Count() != uint64(2*len(bounds)+3) || h.Buckets[0] != 3 {
		t.Error(h)
	}
}

// The lock that is acquired most often is found among very many others, and the table does
// not grow.
func TestBusiest(t *testing.T) {
	m := newTester()
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range 200_000 {
		name := fmt.Sprintf("rare/%d", chance.IntN(50_000))
		if i%20 == 0 {
			name = "often"
		}
		m.lock(1<<32, name, held(1<<32))
		m.unlock(1 << 32)
	}
	all := m.Busiest(3)
	if len(all) != 3 || all[0].Name != "often" || all[0].Count < 9_000 || all[0].Count > 10_000 || all[1].Count > 1000 {
		t.Errorf("%v", all)
	}
	if len(m.Busiest(10_000)) > slots || len(m.requests) != 1 {
		t.Error("it grows")
	}
}

// The margin is the least of the last minute or two.
func TestMargin(t *testing.T) {
	m := New()
	if _, ok := m.Least(); ok {
		t.Error("there was no lease")
	}
	now := member.Instant(1)
	renew := func(margin member.Span) member.Span {
		now += 10_000 * ms
		m.Leased(now, now+member.Instant(margin), now+member.Instant(period))
		least, _ := m.Least()
		return least
	}
	renew(7)
	if least := renew(3); least != 3 {
		t.Error(least)
	}
	for i := range 5 {
		if least := renew(9); least != 3 {
			t.Error(i, least)
		}
	}
	for range 12 {
		renew(9)
	}
	if least := renew(9); least != 9 {
		t.Error(least)
	}
	m.Leased(now, now+5, 0)
	m.Leased(now, 0, now+5)
	if m.Lapses != 1 {
		t.Error(m.Lapses)
	}
}

// BenchmarkTook is what measuring adds to a lock without competition.
func BenchmarkTook(b *testing.B) {
	m := newTester()
	in := process.Input{Kind: process.Lock, At: m.now, Text: "orders/1234567"}
	entered := process.Output{Ticket: 1 << 32, Effects: []process.Effect{held(1 << 32)}}
	left := process.Output{}
	b.ReportAllocs()
	for b.Loop() {
		in.Kind = process.Lock
		m.Took(&in, &entered)
		in.Kind, in.Number = process.Unlock, 1<<32
		m.Took(&in, &left)
	}
}

// The entries that a client makes by itself count as acquisitions that waited for nothing and
// were equally long.
func TestDelegatedEntries(t *testing.T) {
	m := newTester()
	frame := process.Input{Kind: process.Frame, Bytes: []byte{2}}
	m.step(frame, process.Effect{Kind: process.Asked, Event: member.Event{Ticket: 1}, To: "a/x"})
	m.step(frame, process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: 1, Kind: member.Held, Token: member.Token{Epoch: 1, Count: 5}, Last: 99}})
	m.step(frame, process.Effect{Kind: process.ClientEvent, Event: member.Event{Ticket: 1, Kind: member.Wanted}})
	m.now += 20 * ms
	m.step(frame, process.Effect{Kind: process.Unlocked, Number: 8, Event: member.Event{Ticket: 1}})
	if s := m.Of("a/x"); s.Acquired != 4 || s.Wait.Count() != 4 || s.Hold.Count() != 4 || s.Hold.Sum != member.Span(20*ms) {
		t.Errorf("got %+v", s)
	}
}
