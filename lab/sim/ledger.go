package sim

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Ledger holds the measurements of a run of transactions. Times in JSON are in T.
type Ledger struct {
	Method    string `json:"method"`
	Mode      string `json:"mode,omitempty"`
	Sites     int    `json:"sites"`
	Processes int    `json:"processes"`
	Locks     int    `json:"locks"`
	Seed      uint64 `json:"seed"`

	Committed      int     `json:"committed"`
	Aborted        int     `json:"aborted"`            // attempts that ended because they were ordered to abort
	Unnecessary    int     `json:"unnecessary_aborts"` // of these, those that were part of no deadlock
	FalsePositives int     `json:"false_positives"`    // reported deadlocks that were none, without the phantoms
	Deadlocks      int     `json:"deadlocks"`          // deadlocks that arose
	DetectionDelay float64 `json:"detection_delay"`    // mean time from when a deadlock arises to when its victim is notified
	PerTransaction float64 `json:"messages_per_transaction"`
	Throughput     float64 `json:"throughput"`        // commits per T
	Stuck          int     `json:"stuck"`             // transactions that will never end
	Stopped        bool    `json:"stopped,omitempty"` // whether Transactions.Watch stopped it before all had committed

	Phantoms     int             `json:"-"` // reported deadlocks that an abort or a death had broken
	Resolved     int             `json:"-"` // deadlocks whose victim was notified
	WrongVictims int             `json:"-"` // victims that were not the youngest
	Buried       int             `json:"-"` // aborts because of dead sites
	Lost         int             `json:"-"` // transactions that could no longer be run
	Messages     int             `json:"-"`
	Events       int             `json:"-"` // messages delivered, steps of processes, timers
	Time         int64           `json:"-"` // ticks
	LongestDelay int64           `json:"-"` // longest time that a deadlock stood, in ticks
	LongestLife  int64           `json:"-"` // longest time from the first request to the commit
	MostAborts   int             `json:"-"` // most aborts of one transaction
	Commits      []int           `json:"-"` // by process
	Graph        *deadlock.Graph `json:"-"` // wait-for graph at the end if stuck; else when the first deadlock arose; else the busiest
	FirstVictim  algorithm.ID    `json:"-"` // victim of the first deadlock found, if any
	False        *FalseCycle     `json:"-"` // the first false report
	Found        []Violation     `json:"-"` // violations: what must never happen, and did

	steps  bool // whether At counts actions, not ticks
	delays int64
	ring   bool // whether Graph is that of the first deadlock
}

// A FalseCycle is a reported deadlock that does not exist.
type FalseCycle struct {
	Cycle  []algorithm.ID
	Victim algorithm.ID    // process that was ordered to abort
	Graph  *deadlock.Graph // real graph at that time
	At     int64
}

// Moment formats the time of an event: in T, or in steps the number of the action.
func (r *Ledger) Moment(at int64) string { return moment(at, r.steps) }

// cyclic reports whether Graph has a cycle.
func (r *Ledger) cyclic() bool { return r.Graph != nil && len(r.Graph.Cycles()) > 0 }

// count counts a commit.
func (t *transacting) count(p algorithm.ID) {
	r, x := &t.ledger, &t.procs[p]
	r.Committed++
	x.commits++
	if t.back != nil {
		t.back.Commits = append(t.back.Commits, Ending{Proc: p, At: t.w.Now()})
	}
	r.LongestLife = max(r.LongestLife, t.w.Now()-x.began)
	r.MostAborts = max(r.MostAborts, x.aborts)
}

// finish completes the ledger of a run that was meant to have the given number of
// transactions.
func (t *transacting) finish(number int) *Ledger {
	r := &t.ledger
	r.Method, r.Mode, r.Seed = t.Method.Name, t.Mode, t.Seed
	r.Sites, r.Processes, r.Locks = t.Layout.Sites, len(t.procs), len(t.Layout.At)
	r.Time, r.Messages, r.steps, r.Found = t.w.Now(), t.meter.messages, t.w.Steps(), t.found
	active := 0
	for i := range t.procs {
		x := &t.procs[i]
		r.Commits = append(r.Commits, x.commits)
		r.MostAborts = max(r.MostAborts, x.aborts)
		if t.env.Waits(algorithm.ID(i)) {
			r.LongestLife = max(r.LongestLife, t.w.Now()-x.began)
			active++
		}
	}
	if r.Stopped = t.w.stopped; !r.Stopped && r.Committed+r.Lost < number {
		r.Stuck = active
		if g := t.graph(); len(g.Edges()) > 0 {
			r.Graph = g
		}
	}
	if r.Resolved > 0 {
		r.DetectionDelay = float64(r.delays) / float64(r.Resolved) / scenario.T
	}
	if r.Committed > 0 {
		r.PerTransaction = float64(r.Messages) / float64(r.Committed)
	}
	if r.Time > 0 {
		r.Throughput = float64(r.Committed) * scenario.T / float64(r.Time)
	}
	if r.Graph == nil {
		r.Graph = &deadlock.Graph{}
	}
	return r
}

// Graph draws the wait-for graph of a run as a picture: the last one if it is stuck, else
// that of the first deadlock, else that of the first false one, else the busiest.
func Graph(c *Transactions, r *Ledger, title string) string {
	p := draw.Caption{Title: title, Note: r.When(), Victim: algorithm.None, Layout: c.Layout}
	if title == "" {
		p.Title = "Wait-for graph: " + c.Method.Title
	}
	g := r.Graph
	switch {
	case r.Stuck > 0:
	case !r.cyclic() && r.False != nil:
		f := r.False
		g, p.Reported, p.Victim = f.Graph, f.Cycle, f.Victim
		p.Note = fmt.Sprintf("Wait-for graph at %s, when %v was chosen to abort; dashed: no longer true", r.Moment(f.At), f.Victim)
	case r.Resolved > 0:
		p.Victim = r.FirstVictim
		p.Note += fmt.Sprintf("; %v was chosen to abort", r.FirstVictim)
	}
	return draw.WaitFor(g, p)
}

// When describes the moment that the graph of a result shows.
func (r *Ledger) When() string {
	switch {
	case r.Stuck > 0:
		return "Wait-for graph at the end, when all of these wait forever"
	case r.cyclic():
		return "Wait-for graph when the first deadlock arose"
	}
	return "Wait-for graph at the busiest time"
}
