package sim

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A transactor is a process that runs transactions.
type transactor struct {
	id      core.ID
	rand    kernel.Rand
	locks   []int  // what its transaction asks for
	got     int    // how many of them it has
	active  bool   // a transaction is under way, perhaps between two attempts
	waits   bool   // for locks[got]
	arrived bool   // its request has
	doomed  bool   // somebody has decided that it is to abort
	dead    bool   // with its site
	next    uint64 // the event by which it goes on; what was to be done before is void
	began   int64
	aborts  int // of this transaction
	aborted int64
	commits int
	drawn   int
	job     *scenario.Action   // the line that says what it runs, if there is one
	jobs    []*scenario.Action // and those that it has not begun
}

// Transacting is the applications of a method against deadlock.
type transacting struct {
	*group
	Transactions
	procs    []transactor
	issued   int
	holder   []int // of each lock, or -1
	standing []standing
	largest  int // the most edges there were
	bound    int // there are at most so many now, and one more for a request that is arriving
	ledger   Ledger
	progress int64          // when somebody last began or committed
	back     *SitesPlayback // of a scenario; nil if there is none
}

// transact makes the group of a run of transactions.
func (w *world) transact(spec core.Spec, c Transactions) (*transacting, error) {
	g, err := w.add(spec, core.View{N: c.Layout.Sites}, nil)
	if err != nil {
		return nil, err
	}
	t := &transacting{group: g, Transactions: c, procs: make([]transactor, len(c.Layout.Home)), holder: make([]int, len(c.Layout.At))}
	g.watch = t
	for k := range t.holder {
		t.holder[k] = -1
	}
	for p := range t.procs {
		t.procs[p].id, t.procs[p].rand = core.ID(p), kernel.NewRand(c.Seed, uint64(p)+1)
	}
	return t, nil
}

// later lets a process go on after a time; in steps a line has to say so.
func (t *transacting) later(i int, after int64) {
	if !t.w.Steps() {
		t.procs[i].next = t.w.At(t.w.Now()+after, act, t.Layout.Home[i], i)
	}
}

// due lets a process go on, unless that is void by now.
func (t *transacting) due(e kernel.Event) {
	if i := e.Arg(); t.procs[i].next == e.Seq {
		t.goOn(i)
	}
}

// goOn lets a process begin a transaction, ask for the next lock, or commit.
func (t *transacting) goOn(i int) {
	p := &t.procs[i]
	if !p.active {
		if t.issued == t.Number {
			return
		}
		t.begin(i)
	}
	if p.got == len(p.locks) {
		t.commit(i)
		return
	}
	home := t.Layout.Home[i]
	if p.got == 0 {
		p.doomed = false
		t.claim(i)
	}
	k := p.locks[p.got]
	p.waits, p.arrived = true, false
	if p.got > 0 {
		t.lane(trace.Exit, i)
	}
	t.lane(trace.Ask, i)
	t.say(home, "%v asks for %s", p.id, deadlock.LockName(k))
	t.step(home, core.Input{Kind: core.Request, From: p.id, Arg: k})
}

// claim says beforehand what a transaction may ask for, if the method wants to
// know.
func (t *transacting) claim(i int) {
	if t.Method.Claims {
		for _, k := range t.procs[i].locks {
			t.step(t.Layout.Home[i], core.Input{Kind: core.Claim, From: core.ID(i), Arg: k})
		}
	}
}

// begin lets a process begin a transaction.
func (t *transacting) begin(i int) {
	p := &t.procs[i]
	t.issued++
	p.active, p.began, p.aborts = true, t.w.Now(), 0
	if len(p.jobs) > 0 {
		p.job, p.jobs = p.jobs[0], p.jobs[1:]
		t.progress = t.w.Now()
	}
	p.locks = t.draw(i)
}

func (t *transacting) commit(i int) {
	p := &t.procs[i]
	home := t.Layout.Home[i]
	t.free(i)
	t.committed(p)
	t.progress = t.w.Now()
	if p.active = false; p.got > 0 {
		t.lane(trace.Exit, i)
	}
	p.got = 0
	t.say(home, "%v commits", p.id)
	t.step(home, core.Input{Kind: core.Release, From: p.id})
	p.next = 0
	switch {
	case p.job == nil:
		t.later(i, p.rand.Sample(t.Think))
	case len(p.jobs) > 0:
		t.later(i, 0)
	}
}

// abort ends the attempt of a process and lets it start again later.
func (t *transacting) abort(i int) {
	p := &t.procs[i]
	t.free(i)
	t.broken(func(m int) bool { return m == i })
	if p.waits || p.got > 0 {
		t.lane(trace.Deny, i)
	}
	p.got, p.waits, p.doomed, p.aborted = 0, false, false, t.w.Now()
	p.aborts++
	t.step(t.Layout.Home[i], core.Input{Kind: core.Abort, From: p.id})
	p.locks = t.alive(p.locks)
	t.later(i, max(1, p.rand.Sample(t.Backoff)))
}

// took is told what a site says. A cycle is closed by the arrival of a request,
// and opened when it is decided that somebody aborts: so these come first.
func (t *transacting) took(_ core.ID, in core.Input, out *core.Output) {
	notices := out.Notices
	for i := range notices {
		switch n := &notices[i]; {
		case n.Kind == core.Heard && t.presents(n):
			t.procs[n.Who].arrived = t.procs[n.Who].waits
		case n.Kind == core.Doomed && t.presents(n):
			t.procs[n.Who].doomed = true
		}
	}
	for i := range notices {
		switch n := &notices[i]; n.Kind {
		case core.Granted:
			t.granted(int(n.Who))
		case core.Victim:
			t.victim(int(n.Who), n.Cycle, in.Kind == core.Suspect)
		case core.Denied:
			t.say(t.Layout.Home[n.Who], "%v is refused", n.Who)
			t.abort(int(n.Who))
		}
	}
	for i := range notices {
		if n := &notices[i]; n.Kind == core.Heard && t.presents(n) {
			t.closed(int(n.Who))
		}
	}
}

// presents reports whether a notice is about what a process waits for in its
// present attempt.
func (t *transacting) presents(n *core.Notice) bool {
	p := &t.procs[n.Who]
	return p.active && !p.dead && n.Attempt == deadlock.Attempt(t.machines[t.Layout.Home[n.Who]], n.Who)
}

func (t *transacting) granted(i int) {
	p := &t.procs[i]
	if !p.waits {
		t.broke(Violation{Property: "granted-unasked", Proc: core.ID(i), Other: core.None})
		return
	}
	k := p.locks[p.got]
	t.say(t.Layout.Home[i], "%v has %s", p.id, deadlock.LockName(k))
	t.lane(trace.Enter, i)
	t.gave(i, k)
	p.waits = false
	p.got++
	hold := t.Hold
	if p.job != nil && p.job.Hold != nil {
		hold = *p.job.Hold
	}
	t.later(i, p.rand.Sample(hold))
}

// victim: a transaction is told to abort, and does.
func (t *transacting) victim(i int, cycle []core.ID, burying bool) {
	p := &t.procs[i]
	if p.dead || !p.active {
		t.broke(Violation{Property: "victim-idle", Proc: core.ID(i), Other: core.None})
		return
	}
	t.told(i, cycle, burying)
	what := "%v aborts"
	if len(cycle) > 0 {
		what += ": " + deadlock.Round(cycle)
	}
	t.say(t.Layout.Home[i], what, p.id)
	t.abort(i)
}

// crashed: the transactions of a site die with it.
func (t *transacting) crashed(d core.ID) {
	live := 0
	for i := range t.procs {
		p := &t.procs[i]
		if t.Layout.Home[i] == d && !p.dead {
			t.free(i)
			p.dead = true
			t.lane(trace.Crash, i)
			if p.active {
				t.ledger.Lost++
			}
		}
		if !p.dead {
			live++
		}
	}
	t.broken(func(m int) bool { return t.procs[m].dead })
	if live == 0 {
		t.ledger.Lost = t.Number - t.ledger.Committed
	}
}

func (t *transacting) returned(core.ID) {}

func (t *transacting) broke(v Violation) {
	v.At = t.w.Now()
	t.ledger.Found = append(t.ledger.Found, v)
	t.w.Note(trace.Event{Kind: trace.Violation, Proc: t.Layout.Home[v.Proc], Peer: core.None, Name: v.Property})
}

// lane tells what a process does: it has a lane of its own, after those of the
// sites. It is inside while it has all that it has asked for. The name of an
// Ask is the lock, that of an Enter all locks that it has now, and where it
// does not go on to ask, an Exit is called commits and a Deny aborts.
func (t *transacting) lane(kind trace.Kind, i int) {
	if !t.w.Observed() {
		return
	}
	p, name := &t.procs[i], ""
	switch kind {
	case trace.Ask:
		name = deadlock.LockName(p.locks[p.got])
	case trace.Exit:
		if !p.active {
			name = "commits"
		}
	case trace.Deny:
		name = "aborts"
	case trace.Enter:
		var words []string
		for _, k := range p.locks[:p.got+1] {
			words = append(words, deadlock.LockName(k))
		}
		name = strings.Join(words, " ")
	}
	t.w.Note(trace.Event{Kind: kind, Proc: core.ID(t.Layout.Sites + i), Name: name})
}

// say tells people something that happens at a site.
func (t *transacting) say(site core.ID, format string, args ...any) {
	if t.w.Observed() {
		t.w.Note(trace.Event{Kind: trace.Note, Proc: site, Name: fmt.Sprintf(format, args...)})
	}
}
