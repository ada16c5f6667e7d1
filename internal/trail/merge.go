package trail

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
)

// Options say what to make of logs.
type Options struct {
	Name  string // of the lock, for the title
	First int    // if above 0: keep this many steps at most, the first ones
	Last  int    // if above 0: keep this many steps at most, the last ones
}

// A Scenario is the run of a lock, as a file.
type Scenario struct {
	Text      string         `json:"text"`
	Algorithm string         `json:"algorithm"`
	Epoch     uint64         `json:"epoch"`
	Seats     []string       `json:"seats"` // names of the members: P1, P2 and so on
	Steps     int            `json:"steps"`
	Left      int            `json:"left"` // number of recorded steps after the end of the run: they depend on what is not recorded, or are too many
	From      member.Instant `json:"-"`    // times of the first and the last step, on the clock of the reader; 0 if there is none
	To        member.Instant `json:"-"`
	States    [][]byte       `json:"-"` // of the machines at the end, by seat
}

// Merge makes a scenario of the logs of all members of a view. The newest view counts. An
// error that wraps ErrNone says what is missing; another one, that the logs are not those of
// a correct group.
func Merge(spec algorithm.Spec, logs []Log, o Options) (*Scenario, error) {
	all := make([]*Log, len(logs))
	for i := range logs {
		all[i] = &logs[i]
	}
	m, err := newMerge(all)
	if err != nil {
		return nil, err
	}
	v := m.view()
	if spec.Name != v.Algorithm || spec.Version != v.Version {
		return nil, fmt.Errorf("the lock runs version %d of %s, and this build has version %d of %s", v.Version, v.Algorithm, spec.Version, spec.Name)
	}
	m.cut()
	g, err := newGroup(spec, m)
	if err != nil {
		return nil, err
	}
	before := m.clone() // what is in flight at the cut
	m.run()
	first, last := m.window(o)
	b := &builder{spec: spec, group: g, name: o.Name}
	before.skip(first, m.order)
	for i := range m.order[:first] {
		if err := b.apply(&m.order[i]); err != nil {
			return nil, err
		}
	}
	if err := b.begin(before.inFlight()); err != nil {
		return nil, err
	}
	for i := first; i < last; i++ {
		e := &m.order[i]
		if err := b.add(e); err != nil {
			return nil, err
		}
		before.take(e.seat, e.mark)
		if e.mark.Kind == member.MarkStep {
			b.settled(before.flies())
		}
	}
	s, err := b.end()
	if err != nil {
		return nil, err
	}
	s.Epoch, s.Algorithm = v.Epoch, spec.Name
	for i := range v.Members {
		s.Seats = append(s.Seats, v.Members[i].Name)
	}
	s.Left = m.left() + stepsIn(m.order[first:]) - s.Steps
	return s, nil
}

// window returns the part of the run to show: any part of it begins with a consistent cut.
func (m *merge) window(o Options) (first, last int) {
	last = len(m.order)
	for n := stepsIn(m.order); o.Last > 0 && n > o.Last; first++ {
		if m.order[first].mark.Kind == member.MarkStep {
			n--
		}
	}
	n := 0
	for i := first; o.First > 0 && i < last; i++ {
		if m.order[i].mark.Kind != member.MarkStep {
			continue
		}
		if n++; n > o.First {
			return first, i
		}
	}
	return first, last
}

func stepsIn(all []event) int {
	n := 0
	for i := range all {
		if all[i].mark.Kind == member.MarkStep {
			n++
		}
	}
	return n
}

// clone copies what is in flight.
func (m *merge) clone() *merge {
	c := *m
	c.wire = map[link][]message{}
	for from := range m.logs {
		for to := range m.logs {
			l := link{algorithm.ID(from), algorithm.ID(to)}
			c.wire[l] = append([]message(nil), m.wire[l]...)
		}
	}
	return &c
}

// skip changes what is in flight by the first events.
func (m *merge) skip(n int, order []event) {
	for _, e := range order[:n] {
		m.take(e.seat, e.mark)
	}
}

// flies reports whether any message is in flight.
func (m *merge) flies() bool {
	for from := range m.logs {
		for to := range m.logs {
			if len(m.wire[link{algorithm.ID(from), algorithm.ID(to)}]) > 0 {
				return true
			}
		}
	}
	return false
}

// waitsInVain reports whether a process waits while none is inside and nothing is in
// flight: a correct lock is never in such a state, so a message in flight must be unknown.
func (g *group) waitsInVain() bool {
	waits := false
	for _, m := range g.machines {
		switch p, _ := algorithm.PhaseOf(m); p {
		case host.Inside:
			return false
		case host.Waiting:
			waits = true
		}
	}
	return waits
}
