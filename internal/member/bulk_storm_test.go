package member

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// A bulkStorm is a cluster with hundreds of locks and hardly any room for bulk
// frames. Applications lock, unlock and cancel, leases lapse, connections break,
// and views change before reports are complete. It judges every frame.
type bulkStorm struct {
	*cluster
	r        *rand.Rand
	names    []string
	views    []View
	alive    []uint64
	limits   Limits
	sessions LinkLimits
	reports  map[[2]uint64]*account // by epoch and sender
	parts    int
	late     int // holds that were released before their part was made
}

// An account is what a member has stated in its REPORTs of one epoch.
type account struct {
	had      map[string]bool // what it held when it installed the view
	listed   map[string]bool // as held
	waits    map[string]bool
	released map[string]bool
	done     map[uint64]bool // homes that have had the last part
}

func newBulkStorm(t testing.TB, seed uint64) *bulkStorm {
	r := rand.New(rand.NewPCG(seed, 11))
	s := &bulkStorm{
		r: r, reports: map[[2]uint64]*account{}, limits: Limits{Part: 1 + r.IntN(200)},
		sessions: LinkLimits{Window: 1 + r.IntN(400), Early: 300 + r.IntN(2000), Patience: 40, Complain: 1 << 40},
	}
	for i := range 100 + r.IntN(200) {
		s.names = append(s.names, fmt.Sprintf("%0*d", 3+r.IntN(20), i))
	}
	s.cluster = newCluster(t, live()[r.IntN(len(live()))], 0, s.limits, s.sessions)
	s.sees = s.judge
	for range 2 + r.IntN(3) {
		s.view.Members = append(s.view.Members, s.join())
	}
	s.views = []View{s.view}
	for _, inc := range s.alive {
		s.installs(inc)
	}
	return s
}

func (s *bulkStorm) join() Who {
	w := s.start(s.limits, s.sessions)
	s.alive = append(s.alive, w.Inc)
	s.procs[w.Inc-1].later = s.r.IntN(2) == 0
	return w
}

func (s *bulkStorm) proc() *process { return s.procs[s.alive[s.r.IntN(len(s.alive))]-1] }

// epochOf returns the epoch that a process is in, or 0.
func epochOf(p *process) uint64 {
	if p.epoch == nil {
		return 0
	}
	return p.epoch.view.Epoch
}

// installs lets a process go to the last view, if it is not there.
func (s *bulkStorm) installs(inc uint64) {
	p := s.procs[inc-1]
	if p.dead || epochOf(p) == s.view.Epoch {
		return
	}
	all := &account{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[uint64]bool{}}
	for name := range p.inside {
		all.had[name] = true
	}
	s.reports[[2]uint64{s.view.Epoch, inc}] = all
	s.begin(p, s.view)
}

// commit makes another view: a process dies, joins, or neither.
func (s *bulkStorm) commit() {
	v := nextView(s.view)
	switch s.r.IntN(3) {
	case 0:
		if len(v.Members) < 5 {
			v.Members = append(v.Members, s.join())
		}
	case 1:
		if len(v.Members) > 2 {
			dead := v.Members[s.r.IntN(len(v.Members))].Inc
			v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(w Who) bool { return w.Inc == dead })
			s.alive = slices.DeleteFunc(s.alive, func(inc uint64) bool { return inc == dead })
			v.Ghosts = []Ghost{{dead, 0}}
			for name, inc := range s.held {
				if inc == dead {
					delete(s.held, name) // its lease is over when the view says so
				}
			}
			s.procs[dead-1].dead = true
		}
	}
	s.view = v
	s.views = append(s.views, v)
}

// snap breaks a connection, with what is in flight, and makes a new one.
func (s *bulkStorm) snap(a, b uint64) {
	if a == b {
		return
	}
	delete(s.wires, [2]uint64{a, b})
	delete(s.wires, [2]uint64{b, a})
	for _, k := range [][2]uint64{{a, b}, {b, a}} {
		p := s.procs[k[0]-1]
		p.links.Down(s.now, k[1])
		p.links.Up(s.now, k[1])
		s.flush(p)
	}
}

// lapse takes a process one step further: its lease ends, what it has lost is
// passed on, it has a lease again.
func (s *bulkStorm) lapse(p *process) {
	s.use(p.Inc, func(p *process) {
		switch {
		case p.usable():
			p.Member.lease = s.now + p.margin/2
			p.Wake(s.now)
		case p.epoch.lapses > 0:
			for name, h := range p.inside {
				if h.lost {
					delete(s.held, name)
					delete(p.inside, name)
				}
			}
			p.restsOver()
			p.Wake(s.now)
		default:
			p.renewals = []renewal{{number: 1, at: Never / 2}}
			p.Renewed(s.now, 1)
		}
	})
}

// A cycle of steps: locks are acquired, then views change, then locks are released
// while little is delivered.
const (
	acquiring = 500
	changing  = 60
	releasing = 140
)

// step lets one thing happen.
func (s *bulkStorm) step(i int) {
	s.now += Instant(s.r.IntN(10))
	lock, release, change, carry := 30, 2, 0, 8
	if i %= acquiring + changing + releasing; i >= acquiring+changing {
		lock, release, change, carry = 5, 60, 1, 1
	} else if i >= acquiring {
		lock, release, change, carry = 5, 10, 40, 1
	}
	p := s.proc()
	switch k := s.r.IntN(100); {
	case epochOf(p) == 0:
		s.installs(p.Inc)
	case k < lock:
		s.locks(p)
	case k < lock+release:
		s.releases(p)
	case k < lock+release+change:
		if s.r.IntN(8) == 0 {
			s.commit()
		}
		s.installs(p.Inc)
	case s.r.IntN(400) == 0 || !p.usable() && s.r.IntN(4) == 0:
		s.lapse(p)
	case s.r.IntN(100) == 0:
		s.snap(p.Inc, s.proc().Inc)
	default:
		for range carry {
			s.flush(p)
			s.carry(s.proc().Inc, p.Inc)
		}
	}
}

// locks has a process ask for a lock, often one that is held.
func (s *bulkStorm) locks(p *process) {
	name := s.names[s.r.IntN(len(s.names))]
	if held := slices.Sorted(maps.Keys(s.held)); len(held) > 0 && s.r.IntN(3) == 0 {
		name = held[s.r.IntN(len(held))]
	}
	if len(p.tickets) < 100 {
		s.lock(p.Inc, name)
	}
}

// releases has a process release a lock, or cancel a request.
func (s *bulkStorm) releases(p *process) {
	if all := slices.Sorted(maps.Keys(p.inside)); len(all) > 0 && s.r.IntN(3) > 0 {
		s.unlock(p.Inc, all[s.r.IntN(len(all))])
	} else if all := slices.Sorted(maps.Keys(p.tickets)); len(all) > 0 {
		s.cancel(p.Inc, all[s.r.IntN(len(all))])
	}
}

// judge checks what a frame claims.
func (s *bulkStorm) judge(p *process, to uint64, b []byte) {
	var f frame
	if err := f.parse(b); err != nil {
		s.tb.Fatal(err)
	}
	e := p.epoch
	all := s.reports[[2]uint64{e.view.Epoch, p.Inc}]
	fail := func(format string, args ...any) {
		s.tb.Helper()
		s.tb.Fatalf("epoch %d, %v from %d to %d: %s", e.view.Epoch, f.kind, p.Inc, to, fmt.Sprintf(format, args...))
	}
	homed := func(name string) bool { return e.view.Members[e.view.Home(name)].Inc == to }
	switch f.kind {
	case reportFrame:
		if s.parts++; all.done[to] {
			fail("another part after the last")
		}
		if len(b) > s.limits.Part+100 {
			fail("%d bytes, want about %d", len(b), s.limits.Part)
		}
		for _, x := range f.held {
			name := x.name
			if h, ok := p.inside[name]; !ok || h.Token != x.token || h.Epoch >= e.view.Epoch || !all.had[name] || all.listed[name] || !homed(name) {
				fail("it lists %q: held %v %v, held at the start %v, listed before %v", name, ok, h, all.had[name], all.listed[name])
			}
			all.listed[name] = true
		}
		for _, x := range f.waits {
			if y := p.Explained(x.name); len(y.Waiters) == 0 || y.Waiters[0].Stamp != x.stamp || x.stamp.Epoch >= e.view.Epoch || all.waits[x.name] || !homed(x.name) {
				fail("it lists %q, waited for since %v: %+v", x.name, x.stamp, y.Waiters)
			}
			all.waits[x.name] = true
		}
		if f.more {
			return
		}
		all.done[to] = true
		for name := range all.had {
			if h, ok := p.inside[name]; homed(name) && !all.listed[name] {
				if s.late++; ok && h.Epoch < e.view.Epoch {
					fail("it does not list %q, held with %v", name, h)
				}
			}
		}
	case releasedFrame:
		if name := string(f.name); !all.listed[name] || all.released[name] || p.inside[name] != (hold{}) && p.inside[name].Epoch < e.view.Epoch {
			fail("%q: listed %v, released before %v, held %v", name, all.listed[name], all.released[name], p.inside[name])
		} else {
			all.released[name] = true
		}
	case answerFrame:
		for _, x := range f.may {
			inc := s.held[x.name]
			if inc == 0 || s.procs[inc-1].inside[x.name].Epoch >= e.view.Epoch {
				continue
			}
			if i := e.place(inc); i >= 0 && !x.who.has(i) {
				fail("%q: %d is inside with %v, and it says that only %v may be", x.name, inc, s.procs[inc-1].inside[x.name], x.who.list())
			}
		}
	}
}

// drain lets all processes reach the last view, and all requests be granted and
// released.
func (s *bulkStorm) drain() {
	for _, inc := range s.alive {
		s.installs(inc)
		p := s.procs[inc-1]
		for i := 0; !p.usable() || p.epoch.lapses > 0; i++ {
			s.lapse(p)
		}
	}
	for range len(s.procs) * (len(s.names) + 10) {
		s.settle()
		if len(s.held) == 0 {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(s.held)) {
			s.unlock(s.held[name], name)
		}
	}
	for _, inc := range s.alive {
		p := s.procs[inc-1]
		for ticket, name := range p.tickets {
			s.tb.Fatalf("%d waits for %q forever: ticket %d, %+v", inc, name, ticket, p.Explained(name))
		}
		if p.Bulk() {
			s.tb.Fatalf("%d has bulk frames left", inc)
		}
	}
	s.healthy()
}

// Whatever happens between two parts of a report, each part is true when it is
// made, nothing is left out, no two processes are inside a lock, and every request
// is granted in the end.
func TestBulkStorm(t *testing.T) {
	seeds := uint64(300)
	if !nightly.On() {
		seeds = 15
	}
	parts, late, views := 0, 0, 0
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newBulkStorm(t, seed)
			for i := range 2000 + s.r.IntN(3000) {
				s.step(i)
			}
			s.drain()
			parts, late, views = parts+s.parts, late+s.late, views+len(s.views)
		})
	}
	t.Logf("%d parts of %d views; %d holds were released before their part", parts, views, late)
	if n := int(seeds); parts < 100*n || late < 5*n || views < 5*n {
		t.Error("that was no storm")
	}
}
