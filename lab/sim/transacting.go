package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// A transactor is what a run knows about a process that runs transactions, beside what
// its environment does.
type transactor struct {
	rand    kernel.Rand
	next    uint64 // event by which it goes on; earlier ones are void
	began   int64
	aborts  int // aborts of this transaction
	aborted int64
	commits int
	drawn   int
	job     *script.Action   // line that says what it runs, if there is one
	jobs    []*script.Action // lines that it has not begun
}

// A transacting is the group of a method against deadlock. Package transactions, shared
// with the checker, decides which process has which lock, which waits for which and what
// is violated. What is measured, and when a process goes on, is decided here.
type transacting struct {
	*group
	Transactions
	env      *transactions.Env
	procs    []transactor
	issued   int
	standing []standing // deadlocks that stand, the oldest first
	largest  int        // largest number of edges so far
	ledger   Ledger
	progress int64          // when a process last began or committed
	back     *SitesPlayback // playback of a scenario; nil if there is none
}

// transact makes the group of a run of transactions.
func (w *world) transact(spec algorithm.Spec, c Transactions) (*transacting, error) {
	g, err := w.add(spec, algorithm.View{N: c.Layout.Sites}, nil)
	if err != nil {
		return nil, err
	}
	env, err := transactions.New(transactions.Config{Method: c.Method, Mode: c.Mode, Layout: c.Layout, Detours: !w.Steps()}, 0)
	if err != nil {
		return nil, err
	}
	t := &transacting{group: g, Transactions: c, env: env, procs: make([]transactor, len(c.Layout.Home))}
	g.env, g.watch, g.lane = env, t, algorithm.ID(c.Layout.Sites)
	env.Watch(t)
	for p := range t.procs {
		t.procs[p].rand = kernel.NewRand(c.Seed, uint64(p)+1)
	}
	return t, nil
}

// later makes a process go on after a time; in steps a line must do so.
func (t *transacting) later(p algorithm.ID, after int64) {
	if !t.w.Steps() {
		t.procs[p].next = t.w.At(t.w.Now()+after, act, t.Layout.Home[p], int(p))
	}
}

// due makes a process go on, unless that is void by now.
func (t *transacting) due(e *kernel.Event) {
	if i := e.Arg(); t.procs[i].next == e.Seq {
		t.goOn(algorithm.ID(i))
	}
}

// goOn makes a process begin a transaction, request the next lock, or commit.
func (t *transacting) goOn(p algorithm.ID) {
	a := family.Act{Kind: script.Proceed, Proc: p}
	if !t.env.Waits(p) {
		if t.issued == t.Number {
			return
		}
		a.Kind = script.Take
		t.begin(p)
	}
	t.env.Do(t.group, a)
	if !t.env.Waits(p) {
		t.committed(p)
	}
}

// begin makes a process begin a transaction.
func (t *transacting) begin(p algorithm.ID) {
	x := &t.procs[p]
	t.issued++
	x.began, x.aborts = t.w.Now(), 0
	if len(x.jobs) > 0 {
		x.job, x.jobs = x.jobs[0], x.jobs[1:]
		t.progress = t.w.Now()
	}
	locks, modes := t.draw(p)
	t.env.Plan(p, locks, modes)
}

// committed makes a process that has committed, or given up, think about the next
// transaction.
func (t *transacting) committed(p algorithm.ID) {
	x := &t.procs[p]
	x.next = 0
	switch {
	case x.job == nil:
		t.later(p, x.rand.Sample(t.Think))
	case len(x.jobs) > 0:
		t.later(p, 0)
	}
}

// The methods of transactions.Watcher.

// Asks implements transactions.Watcher.
func (t *transacting) Asks(p algorithm.ID, lock int) {
	if t.w.Observed() {
		t.tells(trace.Ask, p, deadlock.LockName(lock))
	}
}

// Got implements transactions.Watcher.
func (t *transacting) Got(p algorithm.ID, lock int) {
	x := &t.procs[p]
	if t.w.Observed() {
		t.note(trace.Note, t.Layout.Home[p], 0, fmt.Sprintf("%v holds %s", p, deadlock.LockName(lock)))
		t.tells(trace.Enter, p, t.held(p))
	}
	hold := t.Hold
	if x.job != nil && x.job.Hold != nil {
		hold = *x.job.Hold
	}
	t.later(p, x.rand.Sample(hold))
}

// held names the locks that a process has.
func (t *transacting) held(p algorithm.ID) string {
	locks, got := t.env.Program(p)
	var words []string
	for _, k := range locks[:got] {
		words = append(words, deadlock.LockName(k))
	}
	return strings.Join(words, " ")
}

// Commits implements transactions.Watcher.
func (t *transacting) Commits(p algorithm.ID) {
	t.count(p)
	t.progress = t.w.Now()
	if _, got := t.env.Program(p); got > 0 {
		t.tells(trace.Exit, p, "commits")
	}
}

// Aborts implements transactions.Watcher.
func (t *transacting) Aborts(p algorithm.ID) {
	t.broken(p)
	if _, got := t.env.Program(p); got > 0 || t.env.Blocked(p) {
		t.tells(trace.Deny, p, "aborts")
	}
	t.procs[p].aborted = t.w.Now()
	t.procs[p].aborts++
}

// Aborted implements transactions.Watcher.
func (t *transacting) Aborted(p algorithm.ID) {
	locks, _ := t.env.Program(p)
	locks, modes := t.alive(locks, t.env.ModesOf(p))
	t.env.Plan(p, locks, modes)
	t.later(p, max(1, t.procs[p].rand.Sample(t.Backoff)))
}

// Cancelled implements transactions.Watcher.
func (t *transacting) Cancelled(p algorithm.ID) {
	t.broken(p)
	t.procs[p].aborted = t.w.Now()
	if _, got := t.env.Program(p); got > 0 {
		t.tells(trace.Enter, p, t.held(p))
	} else {
		t.tells(trace.Deny, p, "cancels")
	}
	t.later(p, 0)
}

// Loses implements transactions.Watcher.
func (t *transacting) Loses(p algorithm.ID) {
	if _, got := t.env.Program(p); got > 0 {
		t.tells(trace.Deny, p, "aborts")
	}
	t.ledger.Lost++
}

// Dies implements transactions.Watcher.
func (t *transacting) Dies(p algorithm.ID) {
	t.tells(trace.Crash, p, "")
	if t.env.Waits(p) {
		t.ledger.Lost++
	}
	t.broken(p)
}

// tells reports what a process does: it has a lane of its own, after those of the sites.
// It is inside while it has all that it has requested, so an Ask may follow an Enter. The
// name of an Ask is the lock, that of an Enter all locks that it has now; an Exit is
// called commits and a Deny aborts.
func (t *transacting) tells(kind trace.Kind, p algorithm.ID, name string) {
	if t.w.Observed() {
		t.w.Note(trace.Event{Kind: kind, Proc: t.lane + p, Name: name})
	}
}

// crashed ends the run if no process is left.
func (t *transacting) crashed(algorithm.ID) {
	if !slices.ContainsFunc(t.Layout.Home, func(site algorithm.ID) bool { return !t.w.Crashed(site) }) {
		t.ledger.Lost = t.Number - t.ledger.Committed
	}
}

func (t *transacting) took(algorithm.ID, *host.Output) {}
func (t *transacting) returned(algorithm.ID)           {}
