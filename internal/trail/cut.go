package trail

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/words"
)

// ErrNone is wrapped by the errors of logs that have no run in common, and may have later.
var ErrNone = errors.New("no run to show yet")

// A link is the way from one seat to another.
type link struct{ from, to algorithm.ID }

// A message is one in flight.
type message struct {
	number uint64 // of its frame
	bytes  []byte
}

// A merge puts logs together.
type merge struct {
	logs  []*Log // by seat
	start []int  // by seat: index of the first mark after the cut
	next  []int  // by seat: index of the next mark
	wire  map[link][]message
	order []event
}

// An event is a mark at its place in the run.
type event struct {
	seat algorithm.ID
	mark *member.Mark
	at   member.Instant
}

// newMerge sorts logs by seat. All members of the view must have one.
func newMerge(logs []*Log) (*merge, error) {
	var last *Log
	for _, l := range logs {
		if last == nil || l.Epoch() > last.Epoch() {
			last = l
		}
	}
	if last == nil || last.Epoch() == 0 {
		return nil, fmt.Errorf("%w: no member has answered", ErrNone)
	}
	v := last.Base.View
	m := &merge{logs: make([]*Log, len(v.Members)), wire: map[link][]message{}}
	for _, l := range logs {
		if l.Epoch() != v.Epoch {
			continue
		}
		own := l.Base.View
		if own.Algorithm != v.Algorithm || own.Version != v.Version || !slices.Equal(own.Members, v.Members) {
			return nil, fmt.Errorf("%s and %s disagree about the members or the algorithm of epoch %d", words.Quoted(l.Node), words.Quoted(last.Node), v.Epoch)
		}
		m.logs[own.Seat] = l
	}
	var missing []string
	for seat, l := range m.logs {
		if l == nil {
			missing = append(missing, words.Quoted(v.Members[seat].Name))
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: waiting for the trail of %s in epoch %d", ErrNone, strings.Join(missing, ", "), v.Epoch)
	}
	m.start, m.next = make([]int, len(m.logs)), make([]int, len(m.logs))
	return m, nil
}

func (m *merge) view() *member.TrailView { return m.logs[0].Base.View }

// cut finds the earliest consistent cut: it moves the beginning of each log behind the last
// message that had arrived before the beginning of its receiver's log.
func (m *merge) cut() {
	n := len(m.logs)
	came := make([][]uint64, n) // by receiver and sender: number of the last frame known to have arrived before the cut
	for i, l := range m.logs {
		came[i] = slices.Clone(l.Base.View.Came)
	}
	for moved := true; moved; {
		moved = false
		for j, l := range m.logs {
			for k := len(l.Marks) - 1; k >= m.start[j]; k-- {
				early := func(s member.MarkSend) bool { return s.Went > 0 && s.Went <= came[s.To][j] }
				if !slices.ContainsFunc(l.Marks[k].Sends, early) {
					continue
				}
				for _, x := range l.Marks[m.start[j] : k+1] {
					if x.Came > 0 {
						came[j][x.From] = max(came[j][x.From], x.Came)
					}
				}
				m.start[j], moved = k+1, true
				break
			}
		}
	}
	for j, l := range m.logs {
		for k, x := range l.Marks {
			for _, s := range x.Sends {
				if k < m.start[j] && s.Went > came[s.To][j] {
					m.send(algorithm.ID(j), s)
				}
			}
		}
	}
	m.unseen()
}

// unseen finds the messages in flight that were sent before the logs of their senders began:
// they arrive later.
func (m *merge) unseen() {
	for i, l := range m.logs {
		early := map[link][]message{}
		for _, x := range l.Marks[m.start[i]:] {
			if x.Came > 0 && x.Came <= m.logs[x.From].Base.View.Sent[i] {
				to := link{x.From, algorithm.ID(i)}
				early[to] = append(early[to], message{x.Came, x.Message})
			}
		}
		for from := range m.logs {
			to := link{algorithm.ID(from), algorithm.ID(i)}
			m.wire[to] = append(early[to], m.wire[to]...)
		}
	}
}

func (m *merge) send(from algorithm.ID, s member.MarkSend) {
	if s.Went > 0 {
		to := link{from, s.To}
		m.wire[to] = append(m.wire[to], message{s.Went, s.Bytes})
	}
}

// run puts the marks in order: always that with the earliest time among those that are
// possible.
func (m *merge) run() {
	copy(m.next, m.start)
	for {
		seat, first := algorithm.None, member.Instant(0)
		for i, l := range m.logs {
			if m.next[i] == len(l.Marks) || !m.possible(algorithm.ID(i), l.Marks[m.next[i]]) {
				continue
			}
			if at := l.Marks[m.next[i]].At + l.Ahead; seat == algorithm.None || at < first {
				seat, first = algorithm.ID(i), at
			}
		}
		if seat == algorithm.None {
			return
		}
		k := m.logs[seat].Marks[m.next[seat]]
		m.next[seat]++
		m.take(seat, k)
		m.order = append(m.order, event{seat, k, first})
	}
}

// possible reports whether a message that a mark needs is the first in flight on its link.
func (m *merge) possible(seat algorithm.ID, k *member.Mark) bool {
	if k.Came == 0 {
		return true
	}
	on := m.wire[link{k.From, seat}]
	return len(on) > 0 && on[0].number == k.Came
}

// take changes what is in flight.
func (m *merge) take(seat algorithm.ID, k *member.Mark) {
	if k.Came > 0 {
		from := link{k.From, seat}
		m.wire[from] = m.wire[from][1:]
	}
	for _, s := range k.Sends {
		m.send(seat, s)
	}
}

// left returns how many steps are not part of the run.
func (m *merge) left() int {
	n := 0
	for i, l := range m.logs {
		for _, k := range l.Marks[m.next[i]:] {
			if k.Kind == member.MarkStep {
				n++
			}
		}
	}
	return n
}

// inFlight returns what is in flight, by link.
func (m *merge) inFlight() []flight {
	var all []flight
	for from := range m.logs {
		for to := range m.logs {
			l := link{algorithm.ID(from), algorithm.ID(to)}
			for _, x := range m.wire[l] {
				all = append(all, flight{l, x.bytes})
			}
		}
	}
	return all
}

// A flight is a message in flight on a link, in the order of sending.
type flight struct {
	link
	bytes []byte
}

// A group is the machines of all seats. It takes the steps of a run, and compares them with
// the members'.
type group struct {
	m        *merge
	machines []algorithm.Machine
	states   [][]byte // of the machines
	out      host.Output
}

// newGroup returns machines in the states of the cut.
func newGroup(spec algorithm.Spec, m *merge) (*group, error) {
	all, err := spec.Group(algorithm.View{N: len(m.logs), Busy: true})
	if err != nil {
		return nil, err
	}
	g := &group{m: m, machines: all}
	for i, l := range m.logs {
		state := l.Base.State
		for _, k := range l.Marks[:m.start[i]] {
			if k.Kind == member.MarkStep {
				state = k.State
			}
		}
		if err := all[i].LoadState(state); err != nil {
			return nil, fmt.Errorf("the state of %s at the beginning: %w", g.name(algorithm.ID(i)), err)
		}
		g.states = append(g.states, state)
	}
	return g, nil
}

func (g *group) name(seat algorithm.ID) string {
	return words.Quoted(cmp.Or(g.m.view().Members[seat].Name, seat.String()))
}

// step takes a step. An error means that it is not what the member did.
func (g *group) step(e *event) error {
	k := e.mark
	in := host.Input{Kind: k.Input, From: algorithm.None}
	if k.Input == host.Receive {
		in.From, in.Bytes = k.From, k.Message
	}
	fail := func(what string) error {
		return fmt.Errorf("the trail of %s does not fit the algorithm: %s", g.name(e.seat), what)
	}
	if err := g.machines[e.seat].Step(in, &g.out); err != nil {
		return fail(err.Error())
	}
	if g.out.Entered != k.Entered || len(g.out.Sends) != len(k.Sends) {
		return fail("another step was recorded")
	}
	for i, s := range g.out.Sends {
		if s.To != k.Sends[i].To || !slices.Equal(g.out.Bytes(i), k.Sends[i].Bytes) {
			return fail("another message was recorded")
		}
	}
	if !slices.Equal(g.machines[e.seat].AppendState(nil), k.State) {
		return fail("another state was recorded")
	}
	g.states[e.seat] = k.State
	return nil
}
