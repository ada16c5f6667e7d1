package node

import (
	"encoding/json"
	"time"

	"github.com/stile-lock/stile/internal/meter"
)

// A PulseQuery asks a node for its Pulse.
type PulseQuery struct {
	For string `json:"for,omitempty"` // as in LockQuery
}

// A Pulse is what a node tells of itself for the console: its status, and what it has
// measured and seen since it was started. Moments are Unix times in milliseconds, by the
// clock of the node's machine. A node without Config.Metrics has no measurements.
type Pulse struct {
	Status
	At      int64  `json:"at_ms"`          // when it was asked
	Started int64  `json:"started_ms"`     // when it was started: its counters began at 0
	HTTP    string `json:"http,omitempty"` // URL at which others reach its HTTP interface; empty if it has none

	Measured bool              `json:"measured"`        // there are measurements
	Margin   float64           `json:"lease_margin_s"`  // least time that was left of its lease at a renewal, in the last one to two minutes; -1 if unknown
	Local    uint64            `json:"handoffs_local"`  // acquisitions by requests that waited until the lock was released at this node
	Remote   uint64            `json:"handoffs_remote"` // the same at another node
	Lost     map[string]uint64 `json:"lost"`            // locks that their holders here have lost, by cause, as in the metrics
	Wait     Durations         `json:"wait"`            // from a request to its acquisition
	Hold     Durations         `json:"hold"`            // from an acquisition to its end
	Victims  []VictimInfo      `json:"victims"`         // the last transactions here that had to abort, oldest first

	Sent      map[string]uint64 `json:"sent"`      // frames about locks to each other member, by name, since both are members with their present incarnations
	Complains []string          `json:"complains"` // names of the members that it complains about at present, because it cannot reach them
	History   []ViewChange      `json:"history"`   // the last views, oldest first
}

// Durations are durations, counted by their lengths.
type Durations struct {
	Bounds []float64 `json:"bounds_s"` // upper bounds of the counts; the last count has none
	Counts []uint64  `json:"counts"`
	Sum    float64   `json:"sum_s"`
}

// durations returns a histogram as others read it.
func durations(h *meter.Histogram) Durations {
	d := Durations{Counts: h.Buckets[:], Sum: time.Duration(h.Sum).Seconds()}
	for _, b := range meter.Bounds() {
		d.Bounds = append(d.Bounds, time.Duration(b).Seconds())
	}
	return d
}

// SetHTTP says at which URL others reach the HTTP interface of the node; empty if it has none.
func (n *Node) SetHTTP(url string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.http = url
}

// pulse answers a query for the pulse of the node. It lists only victims whose locks the
// caller may read.
func (n *Node) pulse(q *PulseQuery, who *Caller) ([]byte, error) {
	may, err := n.mayRead(who, q.For)
	if err != nil {
		return nil, err
	}
	var none meter.Histogram
	p := Pulse{
		Status: n.status(), At: time.Now().UnixMilli(), Started: n.started, HTTP: n.http, Measured: n.meter != nil,
		Margin: -1, Lost: map[string]uint64{}, Wait: durations(&none), Hold: durations(&none), Victims: []VictimInfo{},
		Sent: map[string]uint64{}, Complains: []string{}, History: append([]ViewChange{}, n.history...),
	}
	if n.meter != nil {
		n.measured(&p)
	}
	for i := range n.victims {
		if v := &n.victims[i]; v.readable(may) {
			p.Victims = append(p.Victims, v.VictimInfo)
		}
	}
	for _, m := range n.p.Record().Members {
		if m.Address != n.address {
			p.Sent[m.Name] = n.p.SentTo(m.Inc)
		}
	}
	for _, inc := range n.p.Complaints() {
		if name := n.named(inc); name != "" {
			p.Complains = append(p.Complains, name)
		}
	}
	return json.Marshal(p)
}

// measured adds what is measured.
func (n *Node) measured(p *Pulse) {
	if least, ok := n.meter.Least(); ok {
		p.Margin = time.Duration(least).Seconds()
	}
	for i, name := range meter.LossNames() {
		p.Lost[name] = n.meter.Lost[i]
	}
	var wait, hold meter.Histogram
	for s := range n.meter.Series {
		p.Local += s.Local
		p.Remote += s.Remote
		wait.Merge(&s.Wait)
		hold.Merge(&s.Hold)
	}
	p.Wait, p.Hold = durations(&wait), durations(&hold)
}
