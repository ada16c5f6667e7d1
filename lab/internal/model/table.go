package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A Table is everything that the machines of a group do in any of its states, so that a
// program without the machines can explore the group. Machine states are numbered for
// each seat, and messages for all, in the order of their bytes.
type Table struct {
	States   [][][]byte // of each seat
	Messages [][]byte
	Starts   []TableStart
	Steps    []TableStep // sorted by seat, state and input
}

// A TableStart is an initial state.
type TableStart struct {
	States   []int          // of each seat
	Inside   []algorithm.ID // applications inside
	Starting []algorithm.ID // machines whose Start input is still to come
}

// A TableStep is what a machine in one state does with one input.
type TableStep struct {
	Seat    algorithm.ID
	State   int
	Kind    host.InputKind
	From    algorithm.ID // Receive: sender
	Message int          // Receive: its number
	Next    int          // state afterwards
	Entered bool
	Denied  bool
	Sends   []TableSend
}

// A TableSend is a message that is sent in a step.
type TableSend struct {
	To      algorithm.ID
	Message int
}

// Tabulate explores a group of machines and returns what they do. Nothing is renumbered
// and no messages are merged, so the Form must be the zero Form. Only what the algorithm
// and its applications do is in the table: a group with timers, deaths or tags is
// refused.
func Tabulate(c Config, l explore.Limits) (*Table, *explore.Exploration, error) {
	if c.Form != (Form{}) || c.Tagged || c.Sites || c.Upset || c.Clock != Anytime || c.Crashes+c.Comebacks+c.Losses > 0 || c.Wrong {
		return nil, nil, errors.New("a table is made only of locks in which no process crashes, without renumbering")
	}
	c.Copies = true
	m, err := New(c)
	if err != nil {
		return nil, nil, err
	}
	r := &recorder{Model: m}
	e, err := explore.Explore(r, l)
	if err != nil {
		return nil, nil, err
	}
	if e.Unfinished != "" {
		return nil, e, nil
	}
	t, err := r.table()
	return t, e, err
}

// A recorder is a model that remembers its workers, which know what machines did.
type recorder struct {
	*Model
	workers []*worker
}

// Worker implements explore.Model.
func (r *recorder) Worker() explore.Worker {
	w := r.worker()
	r.workers = append(r.workers, w)
	return w
}

// table collects what the workers know.
func (r *recorder) table() (*Table, error) {
	t := &Table{States: make([][][]byte, r.Seats)}
	number := r.number(t)
	all := map[uint64]*effect{}
	for _, w := range r.workers {
		for k, i := range w.steps {
			all[k] = &w.effects[i]
		}
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		s, err := r.step(k, all[k], number)
		if err != nil {
			return nil, err
		}
		t.Steps = append(t.Steps, s)
	}
	slices.SortFunc(t.Steps, func(a, b TableStep) int {
		return cmp.Or(cmp.Compare(a.Seat, b.Seat), cmp.Compare(a.State, b.State), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.From, b.From), cmp.Compare(a.Message, b.Message))
	})
	return t, r.starts(t, number)
}

// number sorts the blobs into the table, and returns the number that each has there.
func (r *recorder) number(t *Table) []int {
	sorted := slices.Clone(r.blobs.infos)
	slices.SortFunc(sorted, func(a, b *blob) int { return cmp.Or(cmp.Compare(a.seat, b.seat), bytes.Compare(a.bytes, b.bytes)) })
	number := make([]int, len(sorted))
	for _, b := range sorted {
		list := &t.Messages
		if b.seat != algorithm.None {
			list = &t.States[b.seat]
		}
		number[b.id] = len(*list)
		*list = append(*list, b.bytes)
	}
	return number
}

// step returns one step: the reverse of stepKey.
func (r *recorder) step(k uint64, e *effect, number []int) (TableStep, error) {
	state := uint32(k >> (argBits + fromBits + kindBits))
	s := TableStep{
		Seat: r.blobs.infos[state].seat, State: number[state], Kind: host.InputKind(k & (1<<kindBits - 1)),
		From: algorithm.ID(k>>kindBits&(1<<fromBits-1)) - 1, Next: number[e.state], Entered: e.entered,
	}
	if s.Kind == host.Receive {
		s.Message = number[k>>(fromBits+kindBits)&(1<<argBits-1)]
	}
	for _, n := range e.notices {
		if n.Kind != host.Denied {
			return s, fmt.Errorf("%v gives its host a notice that the table has no place for, such as a timer", s.Seat)
		}
		s.Denied = true
	}
	for _, m := range e.sends {
		s.Sends = append(s.Sends, TableSend{algorithm.ID(int(m.link) % r.Seats), number[m.blob]})
	}
	return s, nil
}

// starts adds the initial states.
func (r *recorder) starts(t *Table, number []int) error {
	w := r.workers[0]
	var states [][]byte
	if err := w.Init(func(state []byte) bool {
		states = append(states, bytes.Clone(state))
		return true
	}); err != nil {
		return err
	}
	for _, packed := range states {
		g := w.from
		w.unpack(packed, g)
		w.at = g
		var s TableStart
		for p := range algorithm.ID(r.Seats) {
			s.States = append(s.States, number[g.seats[p].blob])
			if g.env.Inside(p) {
				s.Inside = append(s.Inside, p)
			}
		}
		g.env.Acts(w, func(a family.Act) {
			if a.Kind == script.Start {
				s.Starting = append(s.Starting, a.Proc)
			}
		})
		t.Starts = append(t.Starts, s)
	}
	return nil
}
