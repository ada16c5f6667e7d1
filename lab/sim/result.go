package sim

import "github.com/stile-lock/stile/algorithm"

// A Result holds the measurements of a run. Delays are in units of T.
type Result struct {
	Algorithm  string         `json:"algorithm"`
	Section    string         `json:"section,omitempty"` // section, if there are several
	Nodes      int            `json:"nodes"`
	Entries    int            `json:"entries"`
	Seed       uint64         `json:"seed"`
	Messages   int            `json:"messages"`
	PerEntry   float64        `json:"messages_per_entry"`
	Multicasts float64        `json:"multicasts_per_entry"` // messages with a native multicast counted as one
	Bytes      float64        `json:"bytes_per_entry"`
	Client     *Stats         `json:"client_delay"` // request to entry, with no other process there
	Sync       *Stats         `json:"sync_delay"`   // exit to the next entry, with a process waiting
	SyncOne    *Stats         `json:"sync_delay_one_waiter"`
	Response   *Stats         `json:"response_time"` // request to exit
	Wait       *Stats         `json:"waiting_time"`  // request to entry
	Throughput float64        `json:"throughput"`    // entries per T
	MaxBypass  int            `json:"max_bypass"`    // how often one process overtook a waiting one
	Violations int            `json:"violations"`
	ByKind     map[string]int `json:"messages_by_kind"`
	Load       []int          `json:"load"` // messages sent and received, per process
	Theory     Theory         `json:"theory"`

	Stopped bool `json:"stopped,omitempty"` // whether Config.Watch stopped it before all requests were made
	Stalled bool `json:"stalled,omitempty"` // whether it was cut because events went on without progress

	LongestWait float64 `json:"-"` // request to entry, or to now for those that still wait

	Found   []Violation    `json:"-"` // the violations, one by one
	Members []algorithm.ID `json:"-"` // members of a section, by seat
}

func newResult(c Config, l *lock, s setting) *Result {
	m := &l.meter
	r := &Result{
		Algorithm: c.Spec.Name, Section: l.section, Nodes: c.Nodes, Entries: m.exits, Seed: c.Seed, Messages: m.messages,
		Client: summarise(m.client), Sync: summarise(m.sync), SyncOne: summarise(m.syncOne), Response: summarise(m.response), Wait: summarise(m.wait),
		MaxBypass: l.overtaken(), LongestWait: units(l.longestWait()), Violations: len(l.found), Found: l.found, Members: l.members,
		ByKind: map[string]int{}, Load: m.load,
		Theory: theory(c, l, s),
	}
	if m.exits > 0 {
		r.PerEntry = float64(m.messages) / float64(m.exits)
		r.Multicasts = float64(m.multicasts) / float64(m.exits)
		r.Bytes = float64(m.bytes) / float64(m.exits)
	}
	if m.lastExit > 0 {
		r.Throughput = float64(m.exits) / units(m.lastExit)
	}
	for k, n := range m.byKind {
		r.ByKind[c.Spec.Kinds[k]] += n
	}
	return r
}
