package member

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/host"
)

// A fleet is members on reliable links of equal latency: what is sent in one
// round arrives in the next. It counts what it carries.
type fleet struct {
	tb      testing.TB
	members []*Member
	view    View
	mail    []posted // that arrives in the next round
	rounds  int
	frames  map[string]int // by kind
	events  func(rank int, e Event)
}

type posted struct {
	from, to uint64
	bytes    []byte
}

// all has a member make all its bulk frames.
func all(m *Member) {
	if m.Bulk() {
		for _, w := range m.epoch.view.Members {
			for m.More(m.now, w.Inc) {
			}
		}
	}
}

func specs(name string, _ int) (algorithm.Spec, error) {
	return catalog.Make(name, algorithm.Options{})
}

func newFleet(tb testing.TB, alg string, n int) *fleet {
	f := &fleet{tb: tb, frames: map[string]int{}, events: func(int, Event) {}}
	f.view = View{Epoch: 1, Choices: []Choice{{"", alg, 1}}}
	for i := range n {
		f.view.Members = append(f.view.Members, Who{fmt.Sprint("m", i+1), uint64(i + 1)})
		m, err := New(Config{Inc: uint64(i + 1), Settings: Usual(), Spec: specs})
		if err != nil {
			tb.Fatal(err)
		}
		m.lease = Never - 1
		f.members = append(f.members, m)
	}
	f.install(f.view)
	return f
}

// install has all members of a view install it, in one round.
func (f *fleet) install(v View) {
	f.view, f.mail = v, nil
	for i, m := range f.members {
		if v.Rank(m.Inc) < 0 {
			continue
		}
		if err := m.Install(m.now, v); err != nil {
			f.tb.Fatal(err)
		}
		f.take(i)
	}
}

// next returns the view after this one, without some members.
func (f *fleet) next(without ...uint64) View {
	v := View{Epoch: f.view.Epoch + 1, BeforeEpoch: f.view.Epoch, Choices: f.view.Choices}
	for _, m := range f.view.Members {
		if v.Before = append(v.Before, m.Inc); !slices.Contains(without, m.Inc) {
			v.Members = append(v.Members, m)
		}
	}
	return v
}

// take does what a member wants done.
func (f *fleet) take(i int) {
	m := f.members[i]
	all(m)
	for _, x := range m.Out.Frames {
		f.frames[frameKind(x.Bytes[0]).String()]++
		f.mail = append(f.mail, posted{m.Inc, x.To, slices.Clone(x.Bytes)})
	}
	events := slices.Clone(m.Out.Events)
	m.Out.Reset()
	for _, e := range events {
		f.events(i, e)
	}
}

// round delivers what was sent in the last one.
func (f *fleet) round() {
	mail := f.mail
	f.mail = nil
	f.rounds++
	for _, l := range mail {
		f.deliver(l)
	}
}

func (f *fleet) deliver(l posted) {
	i := int(l.to) - 1
	if err := f.members[i].Deliver(f.members[i].now, l.from, l.bytes); err != nil {
		f.tb.Fatal(err)
	}
	f.take(i)
}

// settle continues until nothing is in flight.
func (f *fleet) settle() {
	for n := 0; len(f.mail) > 0; n++ {
		if n > 10_000 {
			f.tb.Fatal("it goes on for ever")
		}
		f.round()
	}
}

func (f *fleet) lock(i int, name string) Ticket {
	f.tb.Helper()
	t, err := f.members[i].Lock(f.members[i].now, name, Ask{Deadline: Never})
	if err != nil {
		f.tb.Fatal(err)
	}
	f.take(i)
	return t
}

func (f *fleet) unlock(i int, name string) {
	f.tb.Helper()
	y, _ := f.members[i].Inspect(name)
	if y.Holder == nil {
		f.tb.Fatalf("m%d does not hold %s", i+1, name)
	}
	if err := f.members[i].Unlock(f.members[i].now, name, y.Holder.Token); err != nil {
		f.tb.Fatal(err)
	}
	f.take(i)
}

func (f *fleet) holds(i int, name string) bool {
	y, _ := f.members[i].Inspect(name)
	return y.Holder != nil
}

// total is how many frames were sent, of some kinds or of all.
func (f *fleet) total(kinds ...string) int {
	n := 0
	for k, c := range f.frames {
		if len(kinds) == 0 || slices.Contains(kinds, k) {
			n += c
		}
	}
	return n
}

func live() []string {
	return []string{
		"naimi-trehel", "central", "raymond", "token-ring-lazy", "suzuki-kasami", "ricart-agrawala-token",
		"carvalho-roucairol", "ricart-agrawala", "lamport", "maekawa",
	}
}

// Without failures, members send exactly what the algorithm sends, and one TOUCH
// at most for each member, lock and view.
func TestExactMessages(t *testing.T) {
	for _, alg := range live() {
		for _, n := range []int{1, 2, 3, 4, 5, 7, 9} {
			f := newFleet(t, alg, n)
			for _, name := range []string{"a", "b", "c"} {
				if err := exactMessages(t, f, alg, name); err != nil {
					t.Errorf("%s among %d, lock %s: %v", alg, n, name, err)
				}
			}
			if others := f.total() - f.total("ALG", "TOUCH"); others != 0 {
				t.Errorf("%s among %d: %d frames besides the algorithm's: %v", alg, n, others, f.frames)
			}
			if touches := f.total("TOUCH"); touches > 3*(n-1) {
				t.Errorf("%s among %d: %d times TOUCH for three locks", alg, n, touches)
			}
		}
	}
}

// The comparison notices messages that are not the algorithm's.
func TestOtherMessages(t *testing.T) {
	if err := exactMessages(t, newFleet(t, "raymond", 5), "central", "a"); err == nil {
		t.Error("the messages of raymond pass for those of central")
	}
}

// exactMessages runs a lock beside bare machines in the same order: first all ask
// one after the other, then all at once.
func exactMessages(t *testing.T, f *fleet, alg, name string) error {
	n := len(f.members)
	spec, err := specs(alg, 1)
	if err != nil {
		t.Fatal(err)
	}
	bare := newBare(t, spec, n)
	home := f.view.Home(name)
	seat := func(i int) algorithm.ID { return f.view.seat(i, home) }
	var wrong error
	compare := func(what string) {
		if got, want := f.total("ALG"), bare.sent; got != want && wrong == nil {
			wrong = fmt.Errorf("%s: %d messages, the bare machines send %d", what, got, want)
		}
	}
	bare.sent = f.total("ALG")
	// The home releases the lock when the first other member requests it.
	first := (home + 1) % n
	if n > 1 {
		f.lock(first, name)
		bare.request(seat(first))
		f.settle()
		bare.settle()
		compare("the first entry")
		f.unlock(first, name)
		bare.release(seat(first))
		f.settle()
		bare.settle()
		compare("the first exit")
	}
	for i := range 2 * n {
		k := i * 7 % n
		f.lock(k, name)
		if n > 1 {
			bare.request(seat(k))
		}
		f.settle()
		bare.settle()
		f.unlock(k, name)
		if n > 1 {
			bare.release(seat(k))
		}
		f.settle()
		bare.settle()
		compare(fmt.Sprint("entry ", i))
	}
	if n == 1 || wrong != nil {
		return wrong
	}
	for i := range n {
		f.lock(i, name)
		bare.request(seat(i))
	}
	for range n {
		f.settle()
		bare.settle()
		in := slices.IndexFunc(f.members, func(m *Member) bool { return f.holds(m.epoch.me, name) })
		if in < 0 || seat(in) != bare.inside {
			return fmt.Errorf("m%d is inside, of the bare machines seat %d", in+1, bare.inside)
		}
		f.unlock(in, name)
		bare.release(bare.inside)
	}
	f.settle()
	bare.settle()
	compare("all at once")
	return wrong
}

// A bare group is machines without members, on the same kind of links.
type bare struct {
	t        *testing.T
	machines []algorithm.Machine
	mail     []bareLetter
	inside   algorithm.ID
	born     bool // the home is inside, and releases the lock at the first request
	sent     int
}

type bareLetter struct {
	from, to algorithm.ID
	bytes    []byte
}

func newBare(t *testing.T, spec algorithm.Spec, n int) *bare {
	all, err := spec.Group(algorithm.View{N: n, Holder: 0, Busy: true})
	if err != nil {
		t.Fatal(err)
	}
	return &bare{t: t, machines: all, inside: algorithm.None, born: true}
}

func (b *bare) request(i algorithm.ID) {
	b.step(i, host.Input{Kind: host.Request, From: algorithm.None})
	if b.born && !slices.ContainsFunc(b.mail, func(l bareLetter) bool { return l.to == 0 }) {
		b.mail = append(b.mail, bareLetter{from: i}) // TOUCH
	}
}

func (b *bare) release(i algorithm.ID) {
	b.inside = algorithm.None
	b.step(i, host.Input{Kind: host.Release, From: algorithm.None})
}

func (b *bare) step(i algorithm.ID, in host.Input) {
	var out host.Output
	if err := b.machines[i].Step(in, &out); err != nil {
		b.t.Fatal(err)
	}
	for k, s := range out.Sends {
		b.sent++
		b.mail = append(b.mail, bareLetter{i, s.To, slices.Clone(out.Bytes(k))})
	}
	if out.Entered {
		b.inside = i
	}
}

func (b *bare) settle() {
	for len(b.mail) > 0 {
		mail := b.mail
		b.mail = nil
		for _, l := range mail {
			if l.bytes != nil {
				b.step(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
			}
			if b.born && l.to == 0 {
				b.born = false
				b.step(0, host.Input{Kind: host.Release, From: algorithm.None})
			}
		}
	}
}
