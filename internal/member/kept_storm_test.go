package member

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/nightly"
)

// A keptStorm is a cluster whose applications run transactions over a few kept locks.
// Processes crash and pause, members are evicted while they may still act, views change
// at any time, and requests are cancelled. It judges every hold and every victim.
type keptStorm struct {
	tb       testing.TB
	r        *rand.Rand
	method   string
	now      Instant
	view     View
	procs    []*keptProc // by incarnation - 1
	wires    map[[3]uint64][][]byte
	names    []string
	units    map[string]int
	tokens   map[string][2]Token // the highest token of any hold, and of an exclusive one
	quiet    bool                // no more faults
	trace    bool                // log what happens
	changes  bool                // an operator chooses other kinds of locks
	lag      [5]int              // how slow links are
	patience int                 // how seldom a request is cancelled
	clients  []*keptClient
	places   map[keptPlace]*keptAsk
	sessions uint64 // number of the last session of a client
	attempts uint64 // number of the last transaction of a client

	holds, victims, views, moved int
}

func (s *keptStorm) logf(format string, args ...any) {
	if s.trace {
		s.tb.Logf("%d "+format, append([]any{s.now / 1000}, args...)...)
	}
}

type keptProc struct {
	*Member
	dead, out bool // crashed; evicted
	paused    Instant
	cut       Instant // until when its renewals are lost
	granted   Instant // until when the service counts its lease
	renewals  []keptRenewal
	apps      []*keptApp
	txs       uint64
	foreign   map[Ticket]*keptHold // what clients have requested
}

type keptRenewal struct {
	number uint64
	at     Instant
}

// A keptApp is one application: it runs one transaction after the other.
type keptApp struct {
	p      *keptProc
	number uint64
	born   uint64
	plan   []keptWish
	waits  *keptHold
	has    []*keptHold
	past   []*keptHold
	doomed bool
	left   int // transactions to go
	rest   Instant
}

type keptWish struct {
	name string
	mode deadlock.Mode
}

type keptHold struct {
	keptWish
	app    *keptApp
	ticket Ticket
	token  Token
	lost   bool
	since  Instant // when it began to wait
	inside Instant // when it began to hold
	ended  Instant // 0 if it has not
	until  Instant // of a lost one: when its application stops acting at the latest
	tx     int
}

func newKeptStorm(tb testing.TB, method string, seed uint64) *keptStorm {
	s := &keptStorm{tb: tb, r: rand.New(rand.NewPCG(seed, 31)), method: method, now: Instant(Second), wires: map[[3]uint64][][]byte{}, units: map[string]int{}, tokens: map[string][2]Token{}}
	for i := range s.lag {
		s.lag[i] = []int{0, 0, 5, 40}[s.r.IntN(4)]
	}
	s.changes = s.r.IntN(3) == 0
	s.patience = []int{4, 10, 60}[s.r.IntN(3)]
	s.view = View{Epoch: 1, Choices: []Choice{{"", keptPrefix + method, 1}}}
	for i := range 2 + s.r.IntN(3) {
		name := string(rune('a' + i))
		if s.names = append(s.names, name); s.r.IntN(3) == 0 && method != distributed {
			s.units[name] = 2 + s.r.IntN(3)
		}
	}
	for range 2 + s.r.IntN(2) {
		s.view.Members = append(s.view.Members, s.start())
	}
	for _, p := range s.procs {
		s.install(p)
	}
	if s.places = map[keptPlace]*keptAsk{}; !s.changes {
		s.addClients()
	}
	return s
}

func (s *keptStorm) start() Who {
	inc := uint64(len(s.procs) + 1)
	settings := Usual()
	settings.Lease, settings.Renew, settings.Drift, settings.ViewLife = 200*Millisecond, 40*Millisecond, 0, 0
	m, err := New(Config{Inc: inc, Settings: settings, Spec: specs, Limits: Limits{Part: 60}})
	if err != nil {
		s.tb.Fatal(err)
	}
	p := &keptProc{Member: m, granted: s.now + Instant(settings.Lease)}
	m.lease = s.now + Instant(settings.Lease)
	m.later = s.r.IntN(2) == 0
	for range 1 + s.r.IntN(3) {
		p.apps = append(p.apps, &keptApp{p: p, left: 1 + s.r.IntN(25)})
	}
	s.procs = append(s.procs, p)
	return Who{fmt.Sprint("m", inc), inc}
}

func (p *keptProc) acts(s *keptStorm) bool { return !p.dead && s.now >= p.paused }

// install has a process install the view.
func (s *keptStorm) install(p *keptProc) {
	if p.out || s.view.Rank(p.Inc) < 0 {
		if !p.out {
			p.out = true
			p.Gone(s.now)
			s.take(p)
		}
		return
	}
	if p.epoch != nil && p.epoch.view.Epoch == s.view.Epoch {
		return
	}
	s.logf("m%d installs %d", p.Inc, s.view.Epoch)
	if err := p.Install(s.now, s.view); err != nil {
		s.tb.Fatal(err)
	}
	s.take(p)
}

// take does what a member wants done.
func (s *keptStorm) take(p *keptProc) {
	for _, f := range p.Out.Frames {
		k := [3]uint64{p.epoch.view.Epoch, p.Inc, f.To}
		s.wires[k] = append(s.wires[k], slices.Clone(f.Bytes))
	}
	if p.Out.Renew > 0 {
		p.renewals = append(p.renewals, keptRenewal{p.Out.Renew, s.now})
	}
	events := slices.Clone(p.Out.Events)
	p.Out.Reset()
	for _, e := range events {
		s.event(p, e)
	}
}

func (s *keptStorm) find(p *keptProc, t Ticket) *keptHold {
	for _, a := range p.apps {
		if a.waits != nil && a.waits.ticket == t {
			return a.waits
		}
		for _, h := range a.has {
			if h.ticket == t {
				return h
			}
		}
	}
	return nil
}

func (s *keptStorm) event(p *keptProc, e Event) {
	if a := s.places[keptPlace{p, e.Ticket}]; a != nil {
		if e.Victim != nil {
			s.judgeVictim(e.Victim)
		}
		s.told(a, e)
		return
	}
	h := s.find(p, e.Ticket)
	if h == nil {
		s.tb.Fatalf("%v of an unknown ticket", e.Kind)
	}
	a := h.app
	s.logf("m%d: %q %v: kind %d cause %d token %v", p.Inc, h.name, h.mode, e.Kind, e.Cause, e.Token)
	if e.Born != 0 {
		a.born = e.Born
	}
	switch e.Kind {
	case Held:
		h.token, h.inside = e.Token, s.now
		a.waits = nil
		s.judge(h)
		a.has = append(a.has, h)
		s.holds++
	case Lost:
		h.lost, h.ended = true, s.now
		if e.Cause == Lease || e.Cause == Changed {
			h.until = p.lease
		}
		a.doomed = true
	case Doomed:
		a.doomed = true
		s.judgeVictim(e.Victim)
	case Stopped, Busy, Recovering, Late:
		if e.Cause == Deadlock {
			s.judgeVictim(e.Victim)
			s.victims++
		}
		a.waits, h.ended = nil, s.now
		a.doomed = true
	}
}

// valid reports whether an application may act on a hold now.
func (s *keptStorm) valid(h *keptHold) bool {
	p := h.app.p
	return !p.dead && (s.now < h.until || h.ended == 0 && p.Usable(s.now))
}

// judge checks a new hold against all others.
func (s *keptStorm) judge(h *keptHold) { s.judgeHeld(h.keptWish, h.token, h.app.p.Inc, nil, true) }

// judgeHeld checks a hold against all others. A new one has a token above earlier ones.
func (s *keptStorm) judgeHeld(h keptWish, token Token, inc uint64, of *movedHold, fresh bool) {
	amount, whole := h.mode.Of(s.units[h.name])
	amount += s.heldBy(h.name, of)
	for _, p := range s.procs {
		for _, a := range p.apps {
			for _, o := range a.has {
				if o.name == h.name && s.valid(o) {
					n, _ := o.mode.Of(s.units[h.name])
					amount += n
				}
			}
		}
	}
	if amount > whole {
		s.tb.Fatalf("%q is held %v at %d with %v, and by others, so that it is %d of %d", h.name, h.mode, inc, token, amount, whole)
	}
	if !fresh {
		return
	}
	top := s.tokens[h.name]
	if !top[1].Less(token) || h.mode == deadlock.Exclusive && !top[0].Less(token) {
		s.tb.Fatalf("%q is held %v with %v after %v", h.name, h.mode, token, top)
	}
	if top[0].Less(token) {
		top[0] = token
	}
	if h.mode == deadlock.Exclusive {
		top[1] = token
	}
	s.tokens[h.name] = top
}

// judgeVictim checks that all in a deadlock waited at one time.
func (s *keptStorm) judgeVictim(v *Victim) {
	if v.How != InCycle {
		return
	}
	begin, end := Instant(0), Never
	for _, w := range v.Cycle {
		h := s.waited(w)
		if h == nil && s.changes {
			return // a request for an ordinary lock that has become one of a transaction
		}
		if h == nil {
			s.tb.Fatalf("phantom: %v did not wait for %q: %v", w, w.Lock, v)
		}
		begin = max(begin, h.since)
		if h.inside > 0 {
			end = min(end, h.inside)
		}
		if h.ended > 0 {
			end = min(end, h.ended)
		}
	}
	if begin > end {
		s.tb.Fatalf("phantom: no time at which all of them waited: %v", v)
	}
}

// waited returns the last wait of a transaction for a lock.
func (s *keptStorm) waited(w Wait) (last *keptHold) {
	for _, a := range s.procs[w.Inc-1].apps {
		for _, h := range a.past {
			if h.tx == int(w.Tx) && h.name == w.Lock {
				last = h
			}
		}
	}
	for _, h := range s.procs[w.Inc-1].foreign {
		if h.tx == int(w.Tx) && h.name == w.Lock && (last == nil || last.since < h.since) {
			last = h
		}
	}
	return last
}

// act lets an application do something.
func (s *keptStorm) act(a *keptApp) {
	p := a.p
	if p.out || p.epoch == nil || s.now < a.rest {
		return
	}
	switch {
	case a.doomed:
		s.end(a, true)
	case a.waits != nil:
		if len(a.has) > 0 && s.r.IntN(2*s.patience) == 0 && !s.quiet { // it releases a lock early
			h := a.has[0]
			h.ended = s.now
			if err := p.Unlock(s.now, h.name, h.token); err != nil && !h.lost {
				s.tb.Fatalf("release %q: %v", h.name, err)
			}
			s.take(p)
			a.has = slices.Delete(a.has, 0, 1)
		} else if s.r.IntN(s.patience) == 0 && !s.quiet {
			t := a.waits.ticket
			a.waits.ended = s.now
			a.waits = nil
			p.Cancel(s.now, t)
			s.take(p)
		}
	case len(a.plan) == 0 && len(a.has) > 0:
		s.end(a, false)
	case len(a.plan) == 0:
		if a.left > 0 {
			s.begin(a)
		}
	default:
		w := a.plan[0]
		terms := Terms{w.mode, s.units[w.name], a.number, a.born}
		if p.epoch.schoolOf(w.name).method == nil {
			w.mode, terms = deadlock.Exclusive, Terms{}
		}
		t, err := p.Lock(s.now, w.name, Ask{Deadline: Never, Terms: terms})
		if err != nil {
			s.tb.Fatalf("%v %q: %v", w.mode, w.name, err)
		}
		a.plan = a.plan[1:]
		a.waits = &keptHold{keptWish: w, app: a, ticket: t, since: s.now}
		s.logf("m%d requests %q %v, terms %+v", p.Inc, w.name, w.mode, terms)
		a.past = append(a.past, a.waits)
		if x := p.waiter(t); x != nil && x.part != nil {
			a.waits.tx = x.part.Tx
		} else if len(a.has) > 0 { // it has ended already
			a.waits.tx = a.has[0].tx
		}
		s.take(p)
	}
}

// begin makes a plan.
func (s *keptStorm) begin(a *keptApp) {
	a.left--
	a.p.txs++
	a.number = a.p.txs
	a.born = 0
	s.planFor(a)
}

func (s *keptStorm) planFor(a *keptApp) { a.plan = s.plan() }

// end ends an attempt, and begins another one if it was aborted.
func (s *keptStorm) end(a *keptApp, again bool) {
	p := a.p
	if a.waits != nil {
		t := a.waits.ticket
		a.waits.ended = s.now
		a.waits = nil
		p.Cancel(s.now, t)
		s.take(p)
	}
	for _, h := range a.has {
		s.logf("m%d releases %q %v", p.Inc, h.name, h.token)
		h.until = 0 // it has stopped
		if h.ended == 0 {
			h.ended = s.now
		}
		if err := p.Unlock(s.now, h.name, h.token); err != nil && !h.lost {
			s.tb.Fatalf("release %q: %v", h.name, err)
		}
		s.take(p)
	}
	a.has, a.doomed, a.plan = nil, false, nil
	if again {
		a.p.txs++
		a.number = a.p.txs
		a.rest = s.now + Instant(s.r.IntN(int(20*Millisecond)))
		s.planFor(a)
	}
}

// commit makes another view.
func (s *keptStorm) commit() {
	v := nextView(s.view)
	v.Ghosts = nil
	for _, g := range s.view.Ghosts {
		v.Ghosts = append(v.Ghosts, Ghost{g.Inc, max(0, Span(s.procs[g.Inc-1].granted-s.now))})
	}
	switch s.r.IntN(3) {
	case 0:
		if len(v.Members) < 4 && len(s.procs) < 8 {
			v.Members = append(v.Members, s.start())
		}
	case 1:
		if len(v.Members) > 2 {
			p := s.procs[v.Members[s.r.IntN(len(v.Members))].Inc-1]
			v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(w Who) bool { return w.Inc == p.Inc })
			v.Ghosts = append(v.Ghosts, Ghost{p.Inc, max(0, Span(p.granted-s.now))})
			switch s.r.IntN(3) {
			case 0:
				p.dead = true
			case 1:
				p.paused = s.now + Instant(s.r.IntN(int(400*Millisecond)))
			}
		}
	}
	if s.changes && s.r.IntN(3) == 0 {
		v.Choices = []Choice{{"", []string{keptPrefix + s.method, "central", "naimi-trehel"}[s.r.IntN(3)], 1}}
	}
	s.view = v
	s.views++
	s.logf("view %+v", v)
}

// renew has the view service handle the renewals of a process.
func (s *keptStorm) renew(p *keptProc) {
	if s.view.Rank(p.Inc) < 0 || s.now < p.cut {
		return // evicted, or cut off
	}
	for _, r := range p.renewals {
		p.granted = max(p.granted, s.now+Instant(p.Settings.Lease))
		p.Renewed(s.now, r.number)
		s.take(p)
	}
	p.renewals = nil
}

// carry delivers a frame to a process.
func (s *keptStorm) carry(p *keptProc) {
	for _, k := range s.r.Perm(len(s.procs)) {
		if p.out || p.epoch == nil {
			return
		}
		at := [3]uint64{p.epoch.view.Epoch, uint64(k + 1), p.Inc}
		if q := s.wires[at]; len(q) > 0 && (s.quiet || s.r.IntN(1+s.lag[(k+int(p.Inc)*3)%len(s.lag)]) == 0) {
			s.wires[at] = q[1:]
			if err := p.Deliver(s.now, uint64(k+1), q[0]); err != nil {
				s.tb.Fatal(err)
			}
			s.take(p)
			return
		}
	}
}

// step lets one thing happen.
func (s *keptStorm) step() {
	s.now += Instant(s.r.IntN(int(Millisecond)))
	p := s.procs[s.r.IntN(len(s.procs))]
	if !p.acts(s) {
		return
	}
	if s.now >= p.Out.Wake && !p.out {
		p.Wake(s.now)
		s.take(p)
	}
	switch k := s.r.IntN(100); {
	case p.epoch == nil || k < 3:
		s.install(p)
	case k < 6 && !s.quiet && s.r.IntN(20) == 0:
		s.commit()
	case k < 7 && !s.quiet && s.r.IntN(20) == 0:
		p.paused = s.now + Instant(s.r.IntN(int(300*Millisecond)))
	case k < 8 && !s.quiet && s.r.IntN(10) == 0:
		p.cut = s.now + Instant(s.r.IntN(int(400*Millisecond)))
		p.renewals = nil
	case k < 25:
		s.renew(p)
	case k < 45:
		if i := s.r.IntN(len(p.apps) + len(s.clients)); i >= len(p.apps) {
			s.clients[i-len(p.apps)].act()
		} else {
			s.act(p.apps[i])
		}
	case k < 60:
		for _, w := range s.view.Members {
			if !p.out && p.More(s.now, w.Inc) {
				s.take(p)
			}
		}
	default:
		s.carry(p)
	}
}

// idle reports whether all transactions of processes that still act have ended.
func (s *keptStorm) idle() bool {
	for _, p := range s.procs {
		for _, a := range p.apps {
			if !p.dead && !p.out && (a.left > 0 || a.waits != nil || len(a.has) > 0 || len(a.plan) > 0) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(s.clients, func(c *keptClient) bool { return c.left > 0 || c.waits != nil || len(c.has)+len(c.plan) > 0 })
}

func (s *keptStorm) run() {
	for range 10_000 {
		s.step()
	}
	s.quiet = true
	for i := 0; !s.idle(); i++ {
		if s.step(); i > 400_000 {
			s.tb.Fatalf("stuck: %s", s.stuck())
		}
	}
}

func (s *keptStorm) stuck() string {
	text := ""
	for _, p := range s.procs {
		if p.dead || p.out {
			continue
		}
		for y := range p.each {
			text += fmt.Sprintf("\n%d: %s holder %+v shared %+v waiters %+v recovering %+v", p.Inc, y.Name, y.Holder, y.Shared, y.Waiters, y.Recovering)
		}
	}
	return text
}

// keptSeeds is the number of storms for each method.
var keptSeeds = 40

// Whatever happens, kept locks are held compatibly, tokens rise, victims were in a
// deadlock, and all transactions end. Some are those of clients, which move from member to
// member with what they hold.
func TestKeptStorm(t *testing.T) {
	seeds := uint64(keptSeeds)
	if !nightly.On() {
		seeds = 15
	}
	for _, m := range KeptMethods() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			holds, victims, views, moved := 0, 0, 0, 0
			for seed := range seeds {
				s := newKeptStorm(t, m.Name, seed)
				func() {
					defer func() {
						if t.Failed() {
							t.Logf("seed %d", seed)
						}
					}()
					s.run()
				}()
				holds, victims, views, moved = holds+s.holds, victims+s.victims, views+s.views, moved+s.moved
			}
			if holds < 100 || views < 10 || moved == 0 {
				t.Errorf("%d holds, %d victims, %d views, %d moves: the storms show nothing", holds, victims, views, moved)
			}
			t.Logf("%d holds, %d victims, %d views, %d moves", holds, victims, views, moved)
		})
	}
}
