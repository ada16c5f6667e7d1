package sim

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
)

// A workload decides which process requests when, and for how long.
type workload struct {
	Config
	*lock
	total  int
	issued int
	asks   algorithm.Set
	made   []int         // requests so far, by process
	done   []int         // exits so far, by process
	streak []int         // requests of the current burst, by process
	rand   []kernel.Rand // stream of random numbers for each process
}

// sectionStreams is the number of random number streams of a section.
const sectionStreams = 1 << 40

func newWorkload(c Config, on *lock) *workload {
	l := &workload{Config: c, lock: on, total: c.Entries}
	if l.Requesters == nil {
		for p := range algorithm.ID(c.Nodes) {
			l.Requesters = append(l.Requesters, p)
		}
	}
	l.asks = algorithm.SetOf(l.Requesters...)
	l.made = make([]int, c.Nodes)
	l.done = make([]int, c.Nodes)
	l.streak = make([]int, c.Nodes)
	l.rand = make([]kernel.Rand, c.Nodes)
	for seat := range l.rand {
		stream := uint64(l.proc(algorithm.ID(seat))) + 1 + uint64(l.index)*sectionStreams
		l.rand[seat] = kernel.NewRand(c.Seed, stream)
	}
	l.onEnter = func(p algorithm.ID) { l.at(leave, p, l.hold(p)) }
	l.onDeny = func(p algorithm.ID) {
		l.w.denied++
		l.issued--
		l.made[p]--
		l.at(ask, p, max(l.rand[p].Sample(l.Think), l.Latency.Mean()))
	}
	return l
}

func (l *workload) at(kind kernel.EventKind, p algorithm.ID, after int64) {
	l.w.At(l.w.Now()+after, kind, l.proc(p), l.index)
}

func (l *workload) begin() {
	if l.Busy {
		l.issued++
		l.onEnter(l.Holder)
	}
	for _, p := range l.Requesters {
		if l.Busy && p == l.Holder {
			continue
		}
		l.at(ask, p, l.think(p))
	}
}

func (l *workload) request(p algorithm.ID) {
	if l.issued < l.total {
		l.issued++
		l.made[p]++
		l.ask(p)
	}
}

// exit makes p leave, if it has not left by itself, and then think and request again if
// it had requested and is one of the requesters.
func (l *workload) exit(p algorithm.ID) {
	asked := l.visits[p].asked
	if asked {
		l.done[p]++
	}
	if l.env.Inside(p) {
		l.leave(p)
	}
	if asked && l.issued < l.total && l.asks.Has(p) && (l.Quota < 1 || l.made[p] < l.Quota) {
		l.at(ask, p, l.think(p))
	}
}

func (l *workload) hold(p algorithm.ID) int64 {
	if l.Work != nil {
		return max(0, l.Work(p, l.w.Now()))
	}
	return l.rand[p].Sample(l.Hold)
}

func (l *workload) think(p algorithm.ID) int64 {
	t := l.rand[p].Sample(l.Think)
	if l.Local > 1 && p == l.Requesters[0] {
		t /= int64(l.Local)
	}
	if l.Burst > 1 {
		l.streak[p]++
		if l.streak[p] < l.Burst {
			return 0
		}
		l.streak[p] = 0
		t *= int64(l.Burst)
	}
	return t
}
