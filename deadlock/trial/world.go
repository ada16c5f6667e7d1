package trial

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A process runs transactions.
type process struct {
	id      core.ID
	rand    kernel.Rand
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
	jobs    []Job // that it has not begun, if all are written down
	job     *Job  // that it has
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
	rand     kernel.Rand
	timers   map[[2]int]uint64 // the event that each timer last set will be
	procs    []process
	issued   int
	oracle   oracle
	result   Result
	progress int64     // when somebody last began or committed
	quiet    int       // how much has happened since
	remote   bool      // the last request went to another site
	slowest  int64     // the longest that a message may take
	events   int       // how many were told
	back     *Playback // of a scenario; nil if there is none
	judge    *judge    // of its expectations
	err      error
}

// Run runs c until all transactions have committed, or nothing can happen any
// more, or a deadlock has stood for too long.
func Run(c Config) (*Result, error) {
	w, err := newWorld(c)
	if err == nil {
		err = w.run()
	}
	if err != nil {
		return nil, err
	}
	return w.finish(), nil
}

func newWorld(c Config) (*world, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", c.Method.Name, err)
	}
	spec, err := c.Method.Spec(c.Layout, c.Mode)
	if err != nil {
		return nil, err
	}
	w := &world{Config: c, spec: spec, rand: kernel.NewRand(c.Seed, 0), timers: map[[2]int]uint64{}}
	if w.machines, err = spec.Group(core.View{N: c.Layout.Sites}); err != nil {
		return nil, err
	}
	w.last = make([]int64, c.Layout.Sites*c.Layout.Sites)
	w.slowest = c.Latency.Max()
	for _, l := range c.Links {
		w.slowest = max(w.slowest, l.Latency.Max())
	}
	w.procs = make([]process, len(c.Layout.Home))
	w.oracle.init(w)
	for p := range w.procs {
		w.procs[p].id, w.procs[p].rand = core.ID(p), newRand(c.Seed, p)
		if c.Jobs == nil {
			w.later(p, w.procs[p].rand.Sample(c.Think))
		}
	}
	w.hire()
	for _, x := range c.Crashes {
		w.queue.push(event{at: x.At, kind: crash, site: x.Site})
	}
	return w, nil
}

// hire gives every process the jobs that are written down for it.
func (w *world) hire() {
	for _, j := range w.Jobs {
		p := &w.procs[j.Proc]
		if p.jobs = append(p.jobs, j); len(p.jobs) == 1 {
			w.later(int(j.Proc), j.At)
		}
	}
	if w.Jobs != nil {
		w.Transactions = len(w.Jobs)
	}
}

func (w *world) run() error {
	for len(w.queue.heap) > 0 && w.err == nil && !w.over() {
		if w.judge != nil {
			w.judge.before(w.queue.heap[0].at)
		}
		e := w.queue.pop()
		w.now = e.at
		w.result.Events++
		w.happen(e)
	}
	return w.err
}

// over reports whether the run has come to its end. Where all transactions are
// written down, what is under way when the last one has committed still
// arrives.
func (w *world) over() bool {
	if w.Jobs == nil && w.result.Committed+w.result.Lost >= w.Transactions {
		return true
	}
	if w.cut() {
		w.now = w.Until
		return true
	}
	if w.back != nil && w.back.enough(w.events) {
		return true
	}
	if w.quiet++; w.Jobs != nil && w.quiet > restless*(len(w.procs)+10) {
		return true
	}
	since := w.oracle.oldest()
	return since >= 0 && w.now-since > w.Patient || w.now-w.progress > 5*w.Patient
}

// cut reports whether the time is up.
func (w *world) cut() bool {
	return w.Until > 0 && len(w.queue.heap) > 0 && w.queue.heap[0].at > w.Until
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
		if w.Jobs != nil {
			p.job, p.jobs = &p.jobs[0], p.jobs[1:]
			w.progress, w.quiet = w.now, 0
		}
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
	w.progress, w.quiet = w.now, 0
	if p.active = false; p.got > 0 {
		w.lane(trace.Exit, i)
	}
	p.got = 0
	w.note(home, "%v commits", core.ID(i))
	w.step(home, core.Input{Kind: core.Release, From: core.ID(i)})
	p.gen++
	switch {
	case w.Jobs == nil:
		w.later(i, p.rand.Sample(w.Think))
	case len(p.jobs) > 0:
		w.later(i, max(0, p.jobs[0].At-w.now))
	}
}

// abort ends the attempt of a process and lets it start again later.
func (w *world) abort(i int) {
	p := &w.procs[i]
	w.oracle.free(i)
	w.oracle.broken(func(m int) bool { return m == i })
	if p.waits || p.got > 0 {
		w.lane(trace.Deny, i)
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
	if w.back != nil {
		w.back.ByKind[name]++
	}
	e := event{kind: deliver, site: s.To, from: from, proc: -1, bytes: slices.Clone(bytes), name: name}
	if name == "REQUEST" {
		w.remote = true
		e.proc, e.attempt = asker, w.procs[asker].attempt
	}
	w.oracle.decided(from, name, bytes)
	link := &w.last[int(from)*w.Layout.Sites+int(s.To)]
	*link = max(*link, w.now+max(1, w.rand.Sample(w.latency(from, s.To))))
	e.at = *link
	n := w.queue.push(e)
	w.message(trace.Send, from, s.To, int(n), name, bytes)
}

// latency returns how long a message on a link takes.
func (w *world) latency(from, to core.ID) scenario.Dist {
	for _, l := range slices.Backward(w.Links) { // what is said last counts
		if l.From == from && l.To == to {
			return l.Latency
		}
	}
	return w.Latency
}

func (w *world) deliver(e event) {
	if w.dead.Has(e.site) {
		w.message(trace.Drop, e.from, e.site, int(e.seq), e.name, e.bytes)
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
	hold := w.Hold
	if p.job != nil && p.job.Hold != nil {
		hold = *p.job.Hold
	}
	w.later(i, p.rand.Sample(hold))
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
