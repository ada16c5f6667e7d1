package console

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/node"
)

// maxHistory is the number of views that the time line shows.
const maxHistory = 50

// An overviewDoc shows the cluster and its members.
type overviewDoc struct {
	At        int64                         `json:"at_ms"`
	Node      string                        `json:"node"` // that serves the document
	Cluster   string                        `json:"cluster"`
	Epoch     uint64                        `json:"epoch"`
	Lease     float64                       `json:"lease_s"`
	Leader    string                        `json:"leader"`
	Term      uint64                        `json:"term"`
	Algorithm string                        `json:"algorithm"`
	Ghosts    int                           `json:"ghosts"`
	Members   map[string]memberDoc          `json:"members"`
	Disagree  []string                      `json:"disagree"`
	Rate      *float64                      `json:"rate,omitempty"`
	Wait      *percentiles                  `json:"wait,omitempty"` // of the last interval, if there was any
	Hold      *percentiles                  `json:"hold,omitempty"`
	WaitHist  histogram                     `json:"wait_hist"` // since the nodes were started
	HoldHist  histogram                     `json:"hold_hist"`
	History   map[uint64]viewDoc            `json:"history"`
	Traffic   map[string]map[string]traffic `json:"traffic"`
	Victims   map[string]victim             `json:"victims"`
}

// A memberDoc is a member as it described itself when it answered last.
type memberDoc struct {
	Name        string   `json:"name"`
	Address     string   `json:"address"`
	Incarnation uint64   `json:"incarnation"`
	Voter       bool     `json:"voter"`
	Linked      bool     `json:"linked"` // to the node that serves the document
	HTTP        string   `json:"http,omitempty"`
	State       string   `json:"state"`
	Why         string   `json:"why,omitempty"`
	Epoch       uint64   `json:"epoch"`
	Leader      string   `json:"leader"`
	Margin      *float64 `json:"lease_margin_s,omitempty"`
	Left        float64  `json:"lease_left_s"`
	Clients     int      `json:"clients"`
	Held        int      `json:"held"`
	Waiting     int      `json:"waiting"`
	Known       int      `json:"known"`
	Acquired    uint64   `json:"acquired"`
	Rate        *float64 `json:"rate,omitempty"` // acquisitions per second in the last interval
	Lost        uint64   `json:"lost"`
	Complains   []string `json:"complains"` // members that it cannot reach
	Heard       int64    `json:"heard_ms,omitempty"`
	Error       string   `json:"error,omitempty"` // why it does not answer
}

// A traffic is what a member has sent to another.
type traffic struct {
	Sent uint64   `json:"sent"`
	Rate *float64 `json:"rate,omitempty"`
}

// A viewDoc is the beginning of a view.
type viewDoc struct {
	Epoch   uint64   `json:"epoch"`
	At      int64    `json:"at_ms"`
	Cause   string   `json:"cause"`
	Text    string   `json:"text"`
	Members []string `json:"members"`

	known bool // its node knows why
}

// An overview looks at the whole cluster.
type overview struct {
	cluster Cluster
	who     node.Caller
	moments moments
	samples map[string]*sample // by name; the last ones of members
	history map[uint64]viewDoc
	doubts  map[string]bool // disagreements of the last look
}

// A sample is what a member answered last, and the answer before if it measures the same
// incarnation.
type sample struct {
	pulse, before node.Pulse
	at, then      time.Time
	since         bool // before and then are set
}

func beginOverview(c *Console, who node.Caller, _ url.Values) look {
	return (&overview{cluster: c.cluster, who: who, samples: map[string]*sample{}, history: map[uint64]viewDoc{}}).look
}

func (v *overview) look(ctx context.Context) (any, bool, error) {
	s, err := membersOf(v.cluster)
	if err != nil {
		return nil, false, err
	}
	all, err := askAll[node.Pulse](ctx, v.cluster, v.who, s.Members, node.AskPulse, node.PulseQuery{For: v.who.Path()})
	if err != nil {
		return nil, false, err
	}
	may, err := v.cluster.May(v.who)
	if err != nil {
		return nil, false, err
	}
	v.moments.begin()
	v.take(all)
	d := &overviewDoc{
		At: v.moments.now.UnixMilli(), Node: s.Node, Cluster: s.Cluster, Epoch: s.Epoch, Lease: s.Lease, Leader: s.Leader, Term: s.Term, Algorithm: s.Algorithm, Ghosts: s.Ghosts,
		Members: map[string]memberDoc{}, Disagree: v.disagreements(&s, all), Traffic: map[string]map[string]traffic{}, Victims: map[string]victim{},
	}
	for i := range all {
		v.member(d, &all[i], may.Reads)
	}
	v.measure(d)
	v.remember(s.Node)
	d.History = v.history
	lastVictims(d.Victims)
	return d, false, nil
}

// take notes the answers. Members that have gone are forgotten.
func (v *overview) take(all []reply[node.Pulse]) {
	old := v.samples
	v.samples = map[string]*sample{}
	for i := range all {
		r := &all[i]
		was := old[r.member.Name]
		switch {
		case r.err != nil && was != nil:
			was.since = false
			v.samples[r.member.Name] = was
		case r.err != nil:
		case was != nil && was.pulse.Started == r.answer.Started:
			v.samples[r.member.Name] = &sample{pulse: r.answer, at: r.at, before: was.pulse, then: was.at, since: true}
		default:
			v.samples[r.member.Name] = &sample{pulse: r.answer, at: r.at}
		}
	}
}

// rate returns the increase of a count per second; nil if it is not known.
func (s *sample) rate(now, before uint64) *float64 {
	seconds := s.at.Sub(s.then).Seconds()
	if !s.since || now < before || seconds <= 0 || !s.pulse.Measured {
		return nil
	}
	r := rounded(float64(now-before) / seconds)
	return &r
}

// member describes a member by its last answer.
func (v *overview) member(d *overviewDoc, r *reply[node.Pulse], reads func(string) bool) {
	m := &r.member
	x := memberDoc{Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, Voter: m.Voter, Linked: m.Linked, Complains: []string{}}
	if r.err != nil {
		x.Error = r.err.Error()
	}
	s := v.samples[m.Name]
	if s == nil {
		d.Members[m.Name] = x
		return
	}
	p := &s.pulse
	x.HTTP, x.State, x.Why, x.Epoch, x.Leader, x.Left = p.HTTP, p.State, p.Why, p.Epoch, p.Leader, rounded(p.Left)
	x.Clients, x.Held, x.Waiting, x.Known, x.Acquired = p.Clients, p.Held, p.Waiting, p.Known, p.Acquired
	x.Rate, x.Heard = s.rate(p.Acquired, s.before.Acquired), s.at.UnixMilli()
	x.Complains = append(x.Complains, p.Complains...)
	if p.Margin >= 0 {
		margin := rounded(p.Margin)
		x.Margin = &margin
	}
	for _, n := range p.Lost {
		x.Lost += n
	}
	d.Members[m.Name] = x
	if x.Rate != nil {
		sum := *x.Rate
		if d.Rate != nil {
			sum = rounded(sum + *d.Rate)
		}
		d.Rate = &sum
	}
	to := map[string]traffic{}
	for name, n := range p.Sent {
		before, known := s.before.Sent[name]
		to[name] = traffic{Sent: n}
		if known {
			to[name] = traffic{n, s.rate(n, before)}
		}
	}
	d.Traffic[m.Name] = to
	v.moments.victims(d.Victims, p, s.at, reads)
}

// measure adds up how long requests have waited, and how long locks were held.
func (v *overview) measure(d *overviewDoc) {
	var wait, hold, lately, held histogram
	for _, name := range slices.Sorted(maps.Keys(v.samples)) {
		s := v.samples[name]
		wait.add(&s.pulse.Wait, nil)
		hold.add(&s.pulse.Hold, nil)
		if s.since {
			lately.add(&s.pulse.Wait, &s.before.Wait)
			held.add(&s.pulse.Hold, &s.before.Hold)
		}
	}
	d.WaitHist, d.HoldHist = wait.orEmpty(), hold.orEmpty()
	d.Wait, d.Hold = lately.percentiles(), held.percentiles()
}

// remember adds the views that members have seen to the time line. A node that knows why a
// member has gone is believed, and otherwise the node that serves the document.
func (v *overview) remember(self string) {
	for _, name := range slices.Sorted(maps.Keys(v.samples)) {
		s := v.samples[name]
		for _, h := range s.pulse.History {
			old, have := v.history[h.Epoch]
			if have && (old.known || !h.Known && name != self) {
				continue
			}
			at := h.At + s.at.UnixMilli() - s.pulse.At // on this node's clock
			if have {
				at = old.At
			}
			v.history[h.Epoch] = viewDoc{h.Epoch, at, h.Cause, h.Text, append([]string{}, h.Members...), h.Known}
		}
	}
	all := slices.Sorted(maps.Keys(v.history))
	for _, epoch := range all[:max(0, len(all)-maxHistory)] {
		delete(v.history, epoch)
	}
}
