package trial

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
)

// A Result is what a run measured. Times in JSON are in T.
type Result struct {
	Committed      int     `json:"committed"`
	Aborted        int     `json:"aborted"`            // attempts that ended by being told to abort
	Unnecessary    int     `json:"unnecessary_aborts"` // of these, who was part of no deadlock
	FalsePositives int     `json:"false_positives"`    // deadlocks reported that were none, without the phantoms
	Deadlocks      int     `json:"deadlocks"`          // that arose
	DetectionDelay float64 `json:"detection_delay"`    // mean, from when a deadlock arises to when its victim is told
	PerTransaction float64 `json:"messages_per_transaction"`
	Throughput     float64 `json:"throughput"` // commits per T
	Stuck          int     `json:"stuck"`      // transactions that will never end

	Phantoms     int             `json:"-"` // reported deadlocks that an abort or a death had broken
	Found        int             `json:"-"` // deadlocks whose victim was told
	WrongVictims int             `json:"-"` // who was told was not the youngest
	Buried       int             `json:"-"` // aborts because of dead sites
	Lost         int             `json:"-"` // transactions that could not be run any more
	Messages     int             `json:"-"`
	Events       int             `json:"-"` // messages delivered, steps of processes, timers
	Time         int64           `json:"-"` // ticks
	LongestDelay int64           `json:"-"` // the longest that a deadlock stood, in ticks
	LongestLife  int64           `json:"-"` // the longest from the first request to the commit
	MostAborts   int             `json:"-"` // of one transaction
	Commits      []int           `json:"-"` // by process
	Graph        *deadlock.Graph `json:"-"` // at the end if stuck; else when the first deadlock arose; else the busiest
	FirstVictim  core.ID         `json:"-"` // of a deadlock, if one was found
	False        *FalseCycle     `json:"-"` // the first false report
	Violations   []string        `json:"-"` // what must never happen, and did

	delays  int64
	burying bool
	ring    []int
}

// A FalseCycle is a reported deadlock that is none.
type FalseCycle struct {
	Cycle  []core.ID
	Victim core.ID         // who was told to abort
	Graph  *deadlock.Graph // what is true at that time
	At     int64
}

// Ring reports whether Graph has a cycle.
func (r *Result) Ring() bool { return r.Graph != nil && len(r.Graph.Cycles()) > 0 }

func (r *Result) committed(w *world, p *process) {
	r.Committed++
	p.commits++
	if w.back != nil {
		w.back.Commits = append(w.back.Commits, Ending{Proc: p.id, At: w.now})
	}
	r.LongestLife = max(r.LongestLife, w.now-p.began)
	r.MostAborts = max(r.MostAborts, p.aborts)
}

// finish completes the result.
func (w *world) finish() *Result {
	r := &w.result
	r.Time = w.now
	for i := range w.procs {
		p := &w.procs[i]
		r.Commits = append(r.Commits, p.commits)
		r.MostAborts = max(r.MostAborts, p.aborts)
		if p.active && !p.dead {
			r.LongestLife = max(r.LongestLife, w.now-p.began)
		}
	}
	if done := r.Committed + r.Lost; done < w.Transactions && !w.cut() {
		for i := range w.procs {
			if p := &w.procs[i]; p.active && !p.dead {
				r.Stuck++
			}
		}
		if g := w.oracle.graph(); len(g.Edges()) > 0 {
			r.Graph = g
		}
	}
	if r.Found > 0 {
		r.DetectionDelay = float64(r.delays) / float64(r.Found) / scenario.T
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
