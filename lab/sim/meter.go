package sim

import (
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
)

// A meter measures a run.
type meter struct {
	messages   int
	multicasts int
	bytes      int
	byKind     []int
	load       []int // messages sent and received, per process
	exits      int
	lastExit   int64

	askedAt  []int64
	response []int64      // request to exit
	wait     []int64      // request to entry
	client   []int64      // request to entry, with no other process there
	sync     []int64      // exit to the next entry, with a process waiting
	syncOne  []int64      // the same, with exactly one waiting
	alone    algorithm.ID // process that requested when no other was there, and still waits alone
	pending  bool         // whether a process waited at the last exit
	one      bool         // whether exactly one did
}

func (m *meter) init(n, kinds int) {
	m.byKind = make([]int, kinds)
	m.load = make([]int, n)
	m.askedAt = make([]int64, n)
	m.alone = algorithm.None
}

// sent counts one multicast with the given number of parts.
func (m *meter) sent(from algorithm.ID, kind uint8, parts, size int) {
	m.multicasts++
	m.messages += parts
	m.bytes += parts * size
	m.byKind[kind] += parts
	m.load[from] += parts
}

// beyond reports whether messages of a kind beyond the first kinds were sent. It is false
// if kinds is 0.
func (m *meter) beyond(kinds int) bool {
	return kinds > 0 && slices.ContainsFunc(m.byKind[kinds:], func(n int) bool { return n > 0 })
}

// asked records a request, and whether no other process was there.
func (m *meter) asked(p algorithm.ID, now int64, alone bool) {
	m.askedAt[p] = now
	m.alone = algorithm.None
	if alone {
		m.alone = p
	}
}

func (m *meter) entered(p algorithm.ID, now int64) {
	m.wait = append(m.wait, now-m.askedAt[p])
	if m.alone == p {
		m.client = append(m.client, now-m.askedAt[p])
	}
	m.alone = algorithm.None
	if m.pending {
		m.sync = append(m.sync, now-m.lastExit)
		if m.one {
			m.syncOne = append(m.syncOne, now-m.lastExit)
		}
	}
	m.pending = false
}

// left records an exit, and how many processes wait.
func (m *meter) left(p algorithm.ID, now int64, waiting int) {
	m.exits++
	m.response = append(m.response, now-m.askedAt[p])
	m.lastExit = now
	m.pending = waiting > 0
	m.one = waiting == 1
}

// Stats summarises a list of durations, in units of T.
type Stats struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`

	Samples int `json:"-"` // number of durations
}

// summarise sorts the samples. It returns nil if there are none.
func summarise(samples []int64) *Stats {
	if len(samples) == 0 {
		return nil
	}
	sort.Slice(samples, func(i, j int) bool { return samples[i] < samples[j] })
	var sum int64
	for _, s := range samples {
		sum += s
	}
	at := func(percent int) float64 {
		i := (len(samples)*percent + 99) / 100
		return units(samples[max(i, 1)-1])
	}
	return &Stats{
		Mean: units(sum) / float64(len(samples)),
		P50:  at(50), P99: at(99), Max: at(100), Samples: len(samples),
	}
}

func units(ticks int64) float64 { return float64(ticks) / scenario.T }
