package trial

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// A process runs transactions.
type process struct {
	rand    sim.Rand
	locks   []int // what its transaction asks for
	got     int   // how many of them it has
	active  bool  // a transaction is under way, perhaps between two attempts
	attempt uint64
	gen     int  // what was to be done in an earlier one is void
	waits   bool // for locks[got]
	arrived bool // its request has
	doomed  bool // somebody has decided that it is to abort
	dead    bool // with its site
	began   int64
	aborts  int // of this transaction
	aborted int64
	commits int
	drawn   int
}

// A world is sites, the messages between them, processes, and the oracle.
type world struct {
	Config
	spec     core.Spec
	machines []core.Machine
	out      core.Output
	queue    queue
	now      int64
	dead     core.Set
	last     []int64 // the last arrival on each link
	rand     sim.Rand
	timers   map[[2]int]uint64 // the event that each timer last set will be
	procs    []process
	issued   int
	oracle   oracle
	result   Result
	steps    int
	progress int64 // when somebody last committed
	remote   bool  // the last request went to another site
	err      error
}

// Run runs c until all transactions have committed, or nothing can happen any
// more, or a deadlock has stood for too long.
func Run(c Config) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", c.Method.Name, err)
	}
	spec, err := c.Method.Spec(c.Layout, c.Mode)
	if err != nil {
		return nil, err
	}
	w := &world{Config: c, spec: spec, rand: sim.NewRand(c.Seed, 0), timers: map[[2]int]uint64{}}
	if w.machines, err = spec.Group(core.View{N: c.Layout.Sites}); err != nil {
		return nil, err
	}
	w.last = make([]int64, c.Layout.Sites*c.Layout.Sites)
	w.procs = make([]process, len(c.Layout.Home))
	w.oracle.init(w)
	for p := range w.procs {
		w.procs[p].rand = newRand(c.Seed, p)
		at := w.procs[p].rand.Sample(c.Think)
		if p < len(c.Starts) {
			at = c.Starts[p]
		}
		w.later(p, at)
	}
	for _, x := range c.Crashes {
		w.queue.push(event{at: x.At, kind: crash, site: x.Site})
	}
	for len(w.queue.heap) > 0 && w.err == nil && !w.over() {
		e := w.queue.pop()
		w.now = e.at
		w.happen(e)
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.finish(), nil
}

// over reports whether the run has come to its end.
func (w *world) over() bool {
	if w.result.Committed+w.result.Lost >= w.Transactions {
		return true
	}
	since := w.oracle.oldest()
	return since >= 0 && w.now-since > w.Patient || w.now-w.progress > 5*w.Patient
}

func (w *world) happen(e event) {
	switch e.kind {
	case act:
		if p := &w.procs[e.proc]; !p.dead && p.gen == e.gen {
			w.act(e.proc)
		}
	case deliver:
		w.deliver(e)
	case expire:
		if !w.dead.Has(e.site) && w.timers[[2]int{int(e.site), e.timer}] == e.seq {
			w.step(e.site, core.Input{Kind: core.Expire, Timer: e.timer})
		}
	case crash:
		w.crash(e.site)
	case bury:
		if !w.dead.Has(e.site) {
			w.result.burying = true
			w.step(e.site, core.Input{Kind: core.Suspect, From: e.from})
			w.result.burying = false
		}
	}
}

// later lets a process act after a time.
func (w *world) later(p int, after int64) {
	w.queue.push(event{at: w.now + after, kind: act, proc: p, gen: w.procs[p].gen})
}

// act lets a process begin a transaction, ask for the next lock, or commit.
func (w *world) act(i int) {
	p := &w.procs[i]
	if !p.active {
		if w.issued == w.Transactions {
			return
		}
		w.issued++
		p.active, p.began, p.aborts = true, w.now, 0
		p.locks = w.draw(i)
	}
	if p.got == len(p.locks) {
		w.commit(i)
		return
	}
	home := w.Layout.Home[i]
	if p.got == 0 {
		p.attempt++
		p.doomed = false
		if w.Method.Claims {
			for _, k := range p.locks {
				w.step(home, core.Input{Kind: core.Claim, From: core.ID(i), Arg: k})
			}
		}
	}
	k := p.locks[p.got]
	p.waits = true
	if p.got > 0 {
		w.lane(trace.Exit, i)
	}
	w.lane(trace.Ask, i)
	w.note(home, "%v asks for %s", core.ID(i), deadlock.LockName(k))
	// Nobody knows whether it goes to another site until it does.
	w.remote, p.arrived = false, true
	w.step(home, core.Input{Kind: core.Request, From: core.ID(i), Arg: k})
	if w.remote {
		p.arrived = false
	} else {
		w.oracle.closed(i)
	}
}

func (w *world) commit(i int) {
	p := &w.procs[i]
	home := w.Layout.Home[i]
	w.oracle.free(i)
	w.result.committed(w, p)
	w.progress = w.now
	if p.got > 0 {
		w.lane(trace.Exit, i)
	}
	p.active, p.got = false, 0
	w.note(home, "%v commits", core.ID(i))
	w.step(home, core.Input{Kind: core.Release, From: core.ID(i)})
	p.gen++
	w.later(i, p.rand.Sample(w.Think))
}

// abort ends the attempt of a process and lets it start again later.
func (w *world) abort(i int) {
	p := &w.procs[i]
	w.oracle.free(i)
	w.oracle.broken(func(m int) bool { return m == i })
	if p.waits {
		w.lane(trace.Deny, i)
	} else if p.got > 0 {
		w.lane(trace.Exit, i)
	}
	p.got, p.waits, p.doomed, p.aborted = 0, false, false, w.now
	p.aborts++
	p.gen++
	w.step(w.Layout.Home[i], core.Input{Kind: core.Abort, From: core.ID(i)})
	if !w.dead.Empty() {
		p.locks = w.draw(i)
	}
	w.later(i, max(1, p.rand.Sample(w.Backoff)))
}

// step gives a site an input and does what it wants done.
func (w *world) step(site core.ID, in core.Input) {
	if w.err != nil {
		return
	}
	if err := w.machines[site].Step(in, &w.out); err != nil {
		w.err = fmt.Errorf("%s: site %d at %s: %w", w.spec.Name, site+1, scenario.FormatTime(w.now), err)
		return
	}
	asker := -1
	if in.Kind == core.Request {
		asker = int(in.From)
	}
	for i, s := range w.out.Sends {
		w.send(site, s, w.out.Bytes(i), asker)
	}
	notices := slices.Clone(w.out.Notices)
	for _, n := range notices {
		w.noticed(site, n)
	}
}

func (w *world) send(from core.ID, s core.Send, bytes []byte, asker int) {
	name := w.spec.Kinds[s.Kind]
	w.result.Messages++
	e := event{kind: deliver, site: s.To, from: from, proc: -1, bytes: slices.Clone(bytes), name: name}
	if name == "REQUEST" {
		w.remote = true
		e.proc, e.attempt = asker, w.procs[asker].attempt
	}
	w.oracle.decided(from, name, bytes)
	link := &w.last[int(from)*w.Layout.Sites+int(s.To)]
	*link = max(*link, w.now+max(1, w.rand.Sample(w.Latency)))
	e.at = *link
	n := w.queue.push(e)
	w.message(trace.Send, from, s.To, int(n), name, bytes)
}

func (w *world) deliver(e event) {
	if w.dead.Has(e.site) {
		return
	}
	w.message(trace.Receive, e.site, e.from, int(e.seq), e.name, e.bytes)
	asks := e.proc >= 0 && !w.dead.Has(e.from) && w.procs[e.proc].waits && w.procs[e.proc].attempt == e.attempt
	if asks {
		w.procs[e.proc].arrived = true
	}
	w.step(e.site, core.Input{Kind: core.Receive, From: e.from, Bytes: e.bytes})
	if asks {
		w.oracle.closed(e.proc)
	}
}

func (w *world) noticed(site core.ID, n core.Notice) {
	switch n.Kind {
	case core.SetTimer:
		after := int64(n.After) * w.Latency.Max()
		w.timers[[2]int{int(site), n.Timer}] = w.queue.push(event{at: w.now + after, kind: expire, site: site, timer: n.Timer})
	case core.Granted:
		w.granted(int(n.Who))
	case core.Victim:
		w.victim(int(n.Who), n.Cycle)
	case core.Denied:
		w.note(site, "%v is refused", n.Who)
		if p := &w.procs[n.Who]; p.got == 0 {
			p.attempt-- // it has not begun
		}
		w.abort(int(n.Who))
	}
}

func (w *world) granted(i int) {
	p := &w.procs[i]
	if !p.waits {
		w.violate("granted-unasked", i)
		return
	}
	w.note(w.Layout.Home[i], "%v has %s", core.ID(i), deadlock.LockName(p.locks[p.got]))
	w.lane(trace.Enter, i)
	w.oracle.took(i, p.locks[p.got])
	p.waits = false
	p.got++
	w.later(i, p.rand.Sample(w.Hold))
}

// victim: a transaction is told to abort, and does.
func (w *world) victim(i int, cycle []core.ID) {
	p := &w.procs[i]
	if p.dead || !p.active {
		w.violate("victim-idle", i)
		return
	}
	w.oracle.judge(i, cycle)
	what := "%v aborts"
	if len(cycle) > 0 {
		what += ": " + deadlock.Round(cycle)
	}
	w.note(w.Layout.Home[i], what, core.ID(i))
	w.abort(i)
}

// crash kills a site, with its transactions. Every other site is told.
func (w *world) crash(d core.ID) {
	if w.dead.Has(d) {
		return
	}
	w.dead.Add(d)
	w.event(trace.Event{Kind: trace.Crash, Proc: d})
	for i := range w.procs {
		if w.Layout.Home[i] == d {
			w.oracle.free(i)
			w.procs[i].dead = true
			w.lane(trace.Crash, i)
			if w.procs[i].active {
				w.result.Lost++
			}
		}
	}
	w.oracle.broken(func(m int) bool { return w.procs[m].dead })
	if w.live() == 0 {
		w.result.Lost = w.Transactions - w.result.Committed
	}
	for s := range core.ID(w.Layout.Sites) {
		if !w.dead.Has(s) {
			w.queue.push(event{at: w.now + w.Latency.Max() + w.rand.Sample(w.Latency), kind: bury, site: s, from: d})
		}
	}
}

func (w *world) live() int {
	n := 0
	for i := range w.procs {
		if !w.procs[i].dead {
			n++
		}
	}
	return n
}

func (w *world) violate(what string, i int) {
	w.result.Violations = append(w.result.Violations, fmt.Sprintf("%s: %v at %s", what, core.ID(i), scenario.FormatTime(w.now)))
	w.event(trace.Event{Kind: trace.Violation, Proc: w.Layout.Home[i], Peer: core.None, Name: what})
}

func (w *world) event(e trace.Event) {
	if w.Observe != nil {
		e.Step, e.At = w.steps, w.now
		w.steps++
		w.Observe(e)
	}
}

// lane tells what a process does: it has a lane of its own, after those of the
// sites. It is inside while it has all that it has asked for.
func (w *world) lane(kind trace.Kind, i int) {
	w.event(trace.Event{Kind: kind, Proc: core.ID(w.Layout.Sites + i)})
}

func (w *world) note(site core.ID, format string, args ...any) {
	if w.Observe != nil {
		w.event(trace.Event{Kind: trace.Note, Proc: site, Name: fmt.Sprintf(format, args...)})
	}
}

func (w *world) message(kind trace.Kind, at, peer core.ID, n int, name string, bytes []byte) {
	if w.Observe == nil {
		return
	}
	fields, _ := core.DescribeMessage(w.machines[at], w.Layout.Sites, bytes)
	w.event(trace.Event{Kind: kind, Proc: at, Peer: peer, Msg: n, Name: name, Fields: fields})
}
