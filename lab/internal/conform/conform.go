// Package conform checks whether what the machines of a lock did elsewhere, for example on
// live nodes, is a run of the model that the checker explores.
//
// What is known is the steps of each machine, in its own order: the input, the state before
// and after it, and the messages that it sent. Check merges them into one run in which each
// message is sent before it is received, and walks the model along it: each step must lead
// to a successor of the model's state. Steps of different machines commute unless a message
// connects them, so it does not matter which of these runs is walked.
//
// Links may carry messages of several locks. If it is known which number each message had on
// its link, and how many of a link have arrived, then it is also found that a message got
// lost after which this lock sent no other one.
//
// So this tests what ran the machines: that each one began in the state that the model
// begins with, kept its state between steps, received what was sent to it, once and in
// order, and was asked to enter and to leave only when it may be. It also tests that the
// machines are the same ones that were checked.
package conform

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/lab/internal/model"
)

// A Run is what is known of the machines of one lock.
type Run struct {
	Spec  algorithm.Spec
	View  algorithm.View // how they began
	Seats []Seat
}

// A Seat is what is known of one of the machines.
type Seat struct {
	Name  string
	Steps []Step // from its birth on
	Whole bool   // these are all of them

	Arrived []uint64 // highest number of a message that has arrived from each seat; nil if they have no numbers
}

// A Step is what a machine did with one input.
type Step struct {
	In            host.Input // Request, Release or Receive
	Before, After []byte     // states
	Out           host.Output
	Err           error // why it refused the input

	// The numbers, from 1, of the message that was received and of those that were sent,
	// among all of their links. They are 0 or missing if unknown.
	Came uint64
	Went []uint64
}

// A Result says how much of a run was checked.
type Result struct {
	Steps int          // number of steps that the model has
	Rest  int          // number of steps that were not checked: after a refused one, or because they depend on unknown ones
	Lacks algorithm.ID // a seat whose unknown steps they depend on; None if there is none
}

// A Refusal is the error of a run that is not one of the model.
type Refusal struct {
	Seat algorithm.ID
	Step int    // number of the step among those of the seat, from 1; 0 if it lacks one at its end
	Nth  int    // number of the step in the merged run, from 1
	What string // the step, in words
	Err  error  // a model.Deviation, or why the machine refused the input
}

func (e Refusal) Error() string { return fmt.Sprintf("%s: %v", e.What, e.Err) }

// Unwrap returns the reason.
func (e Refusal) Unwrap() error { return e.Err }

// Check walks the model along a run. The error is a Refusal if the run is not one of the
// model. Otherwise it says why the model cannot be used for it, or not to its end.
func Check(r *Run) (Result, error) {
	w := walk{Run: r, next: make([]int, len(r.Seats)), links: map[[2]algorithm.ID][]uint64{}}
	result := Result{Lacks: algorithm.None}
	var err error
	if w.Follower, err = r.model(); err == nil {
		err = w.all()
	}
	if err == nil {
		result.Lacks, err = w.stuck()
	}
	if err == nil {
		err = w.lost()
	}
	result.Steps = w.taken
	for p, s := range r.Seats {
		result.Rest += len(s.Steps) - w.next[p]
	}
	var refusal Refusal
	if errors.As(err, &refusal) && refusal.Step > 0 {
		result.Rest-- // the refused one
	}
	return result, err
}

// model returns a follower in the start of the model.
func (r *Run) model() (*model.Follower, error) {
	n := len(r.Seats)
	env, err := locks.Family().Env(family.Options{Nodes: n})
	if err != nil {
		return nil, err
	}
	var all []algorithm.ID
	var names []string
	for p, s := range r.Seats {
		all, names = append(all, algorithm.ID(p)), append(names, s.Name)
	}
	m, err := model.New(model.Config{
		Spec: r.Spec, Seats: n, Env: env, Waiters: all, Settles: true, Starts: []algorithm.View{r.View}, Copies: true,
		Names: []string{family.MutualExclusion, family.UnaskedEntry},
	})
	if err != nil {
		return nil, err
	}
	return m.Follow(names)
}

// A walk is a walk along a run.
type walk struct {
	*Run
	*model.Follower
	next  []int                        // next step of each seat
	links map[[2]algorithm.ID][]uint64 // numbers of messages in flight, by sender and receiver
	taken int
}

// all walks until the next step of every seat is one that receives what was not sent.
func (w *walk) all() error {
	for on := true; on; {
		on = false
		for p := range w.Seats {
			for w.ready(p) {
				if err := w.step(p); err != nil {
					return err
				}
				on = true
			}
		}
	}
	return nil
}

// head returns the next step of a seat, or nil.
func (w *walk) head(p int) *Step {
	if s := w.Seats[p].Steps; w.next[p] < len(s) {
		return &s[w.next[p]]
	}
	return nil
}

// ready reports whether the next step of a seat can be taken, as far as messages are
// concerned.
func (w *walk) ready(p int) bool {
	s := w.head(p)
	return s != nil && (s.In.Kind != host.Receive || w.First(s.In.From, algorithm.ID(p)) != nil)
}

// step takes the next step of a seat.
func (w *walk) step(p int) error {
	s := w.head(p)
	o := model.Observed{Seat: algorithm.ID(p), In: s.In, Before: s.Before, After: s.After, Out: s.Out}
	err := s.Err
	if err == nil {
		err = w.numbered(&o, s)
	}
	if err == nil {
		err = w.Step(&o)
	}
	var deviates model.Deviation
	switch {
	case err == nil:
		w.next[p]++
		w.taken++
		w.carry(&o, s)
		return nil
	case s.Err != nil, errors.As(err, &deviates):
		return Refusal{o.Seat, w.next[p] + 1, w.taken + 1, w.Describe(&o), err}
	}
	return err
}

// numbered compares the number of the message that a step receives with the one that it was
// sent with. If it is another message, the model will say so.
func (w *walk) numbered(o *model.Observed, s *Step) error {
	flight := w.links[[2]algorithm.ID{s.In.From, o.Seat}]
	if s.Came == 0 || len(flight) == 0 || flight[0] == 0 || s.Came == flight[0] || !bytes.Equal(s.In.Bytes, w.First(s.In.From, o.Seat)) {
		return nil
	}
	return w.Deviates(fmt.Sprintf("it is number %d of the link, but the next message of this lock was sent as number %d", s.Came, flight[0]))
}

// carry notes the numbers of the messages of a step.
func (w *walk) carry(o *model.Observed, s *Step) {
	if s.In.Kind == host.Receive {
		link := [2]algorithm.ID{s.In.From, o.Seat}
		w.links[link] = w.links[link][1:]
	}
	for i, x := range s.Out.Sends {
		link, number := [2]algorithm.ID{o.Seat, x.To}, uint64(0)
		if i < len(s.Went) {
			number = s.Went[i]
		}
		w.links[link] = append(w.links[link], number)
	}
}

// lost finds a message that is still in flight in the model, but has arrived. A seat that
// has taken all its known steps must have received it in one of them.
func (w *walk) lost() error {
	for to, s := range w.Seats {
		for from := range s.Arrived {
			link := [2]algorithm.ID{algorithm.ID(from), algorithm.ID(to)}
			flight := w.links[link]
			if w.head(to) != nil || len(flight) == 0 || flight[0] == 0 || flight[0] > s.Arrived[from] {
				continue
			}
			return Refusal{link[1], 0, w.taken + 1, "does nothing more", w.Unreceived(link[0], link[1])}
		}
	}
	return nil
}

// stuck says why the walk has ended: there are no more steps, or the next message of each
// seat that is left was not sent. The latter is as it should be only if its sender may have
// sent it later than in its last known step. Then it returns that one.
func (w *walk) stuck() (algorithm.ID, error) {
	lacks := algorithm.None
	for p := range w.Seats {
		if w.head(p) == nil {
			continue
		}
		waiter, last := w.waits(p)
		if last < 0 || w.Seats[last].Whole {
			return algorithm.None, w.step(waiter)
		}
		lacks = algorithm.ID(last)
	}
	return lacks, nil
}

// waits returns the seat without a known step that a seat waits for, directly or because it
// waits for one that does, and the one that waits for it directly. The former is -1 if seats
// wait for each other in a circle.
func (w *walk) waits(p int) (waiter, last int) {
	waiter = p
	for range w.Seats {
		next := int(w.head(waiter).In.From)
		if w.head(next) == nil {
			return waiter, next
		}
		waiter = next
	}
	return p, -1
}
