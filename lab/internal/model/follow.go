package model

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// An Observed is what was observed of a machine that ran elsewhere, in one step.
type Observed struct {
	Seat          algorithm.ID
	In            host.Input // Request, Release or Receive
	Before, After []byte     // states
	Out           host.Output
}

// A Follower is in one state of a model, with real numbers, and follows an observed run.
type Follower struct {
	*worker
	at    []byte
	names []string // of the seats
}

// A Deviation is the error of an observed step that the model does not have.
type Deviation struct {
	Why     string   // what is wrong with it
	Allowed []string // what the model has instead
}

func (e Deviation) Error() string {
	return fmt.Sprintf("%s; the model allows: %s", e.Why, strings.Join(e.Allowed, "; "))
}

// Follow returns a Follower in the model's only start. Nothing may be renumbered or
// merged. The names are those of the seats.
func (m *Model) Follow(names []string) (*Follower, error) {
	if m.Form != (Form{}) || !m.Copies || m.Tagged || m.Sites || m.Upset || m.mortal || m.Clock != Anytime || m.Network != algorithm.FIFO || len(m.Starts) != 1 {
		return nil, errors.New("only a lock on ordered links can be followed, in which no process crashes, without renumbering")
	}
	f := &Follower{worker: m.worker(), names: names}
	return f, f.Init(func(state []byte) bool {
		f.at = bytes.Clone(state)
		return true
	})
}

// First returns the first message in flight between two seats, or nil.
func (f *Follower) First(from, to algorithm.ID) []byte {
	f.unpack(f.at, f.from)
	for i := range f.from.messages {
		if a, b := f.ends(&f.from.messages[i]); a == from && b == to {
			return f.info(f.from.messages[i].blob).bytes
		}
	}
	return nil
}

// Step takes an observed step. The error is a Deviation if the model does not have it: if
// the machine was in another state, if no successor of the model's state is reached by
// this input, or if the machine does something else with it. Otherwise it says why the
// model cannot take the step.
func (f *Follower) Step(o *Observed) error {
	if why := f.differs(o); why != "" {
		return f.Deviates(why)
	}
	var next []byte
	var broken explore.Broken
	_, err := f.Next(f.at, func(s explore.Step, state []byte) {
		if next == nil && does(moveOf(s.Label), o) {
			next, broken = bytes.Clone(state), s.Broken
		}
	})
	switch {
	case next == nil && err != nil:
		return err
	case next == nil:
		return f.Deviates("its application cannot do that now")
	}
	for i, name := range f.Names {
		if broken>>i&1 == 1 {
			return f.Deviates("it violates " + name)
		}
	}
	f.unpack(f.at, f.from)
	before := f.from.seats[o.Seat].blob
	if why := f.compare(before, o); why != "" {
		return f.Deviates(why)
	}
	f.at = next
	return nil
}

// Unreceived returns the Deviation of a seat to which the first message from another one
// has come, but was not handed over.
func (f *Follower) Unreceived(from, to algorithm.ID) error {
	return f.Deviates(fmt.Sprintf("%s from %s has arrived, but the machine did not receive it", f.message(f.First(from, to)), f.names[from]))
}

// does reports whether a step of the model has the observed input. On ordered links only
// the first message of each can arrive.
func does(m move, o *Observed) bool {
	if m.p != o.Seat {
		return false
	}
	switch o.In.Kind {
	case host.Request:
		return m.kind == doAct && m.nth == int(script.Ask)
	case host.Release:
		return m.kind == doAct && m.nth == int(script.Leave)
	case host.Receive:
		return m.kind == doDeliver && m.peer == o.In.From
	}
	return false
}

// differs returns how the state or the message before an observed step differs from those
// in the model.
func (f *Follower) differs(o *Observed) string {
	f.unpack(f.at, f.from)
	if is := f.info(f.from.seats[o.Seat].blob).bytes; !bytes.Equal(is, o.Before) {
		return fmt.Sprintf("before it the machine was in the state %s, but in the model it is in %s", f.state(o.Seat, o.Before), f.state(o.Seat, is))
	}
	if o.In.Kind != host.Receive {
		return ""
	}
	switch is := f.First(o.In.From, o.Seat); {
	case is == nil:
		return fmt.Sprintf("no message from %s is in flight", f.names[o.In.From])
	case !bytes.Equal(is, o.In.Bytes):
		return fmt.Sprintf("the next message from %s is %s", f.names[o.In.From], f.message(is))
	}
	return ""
}

// compare returns how what the observed machine did differs from what the model's machine
// does in the same state with the same input.
func (f *Follower) compare(before uint32, o *Observed) string {
	msg := uint32(0)
	if o.In.Kind == host.Receive {
		b, err := f.blob(algorithm.None, o.In.Bytes)
		if err != nil {
			return err.Error()
		}
		msg = b.id
	}
	in := o.In
	e, err := f.effect(before, &in, msg)
	if err != nil {
		return err.Error()
	}
	var was, is []string
	for i, s := range o.Out.Sends {
		was = append(was, fmt.Sprintf("sends %s to %s", f.message(o.Out.Bytes(i)), f.seat(s.To)))
	}
	for _, s := range e.sends {
		is = append(is, fmt.Sprintf("sends %s to %s", f.message(f.info(s.blob).bytes), f.names[int(s.link)%f.Seats]))
	}
	if o.Out.Entered {
		was = append(was, "enters")
	}
	if e.entered {
		is = append(is, "enters")
	}
	if !f.sends(e, o) || o.Out.Entered != e.entered {
		return fmt.Sprintf("it %s, but in the model it %s", list(was), list(is))
	}
	if len(o.Out.Notices) != len(e.notices) {
		return fmt.Sprintf("it gives its host %d notices, but in the model %d", len(o.Out.Notices), len(e.notices))
	}
	if after := f.info(e.state).bytes; !bytes.Equal(after, o.After) {
		return fmt.Sprintf("after it the machine is in the state %s, but in the model it is in %s", f.state(o.Seat, o.After), f.state(o.Seat, after))
	}
	return ""
}

// sends reports whether the messages sent are those of an effect, byte by byte.
func (f *Follower) sends(e *effect, o *Observed) bool {
	if len(e.sends) != len(o.Out.Sends) {
		return false
	}
	for i, s := range e.sends {
		if int(o.Out.Sends[i].To) != int(s.link)%f.Seats || !bytes.Equal(f.info(s.blob).bytes, o.Out.Bytes(i)) {
			return false
		}
	}
	return true
}

func list(all []string) string {
	if len(all) == 0 {
		return "does nothing"
	}
	return strings.Join(all, ", ")
}

// Deviates returns a Deviation in the current state.
func (f *Follower) Deviates(why string) error { return Deviation{why, f.allowed()} }

// allowed returns what may happen next, in words.
func (f *Follower) allowed() []string {
	var moves []move
	_, _ = f.Next(f.at, func(s explore.Step, _ []byte) { moves = append(moves, moveOf(s.Label)) }) // steps that fail are not allowed
	var all []string
	for _, m := range moves {
		switch {
		case m.kind == doDeliver:
			all = append(all, fmt.Sprintf("%s receives %s from %s", f.names[m.p], f.message(f.First(m.peer, m.p)), f.names[m.peer]))
		case m.kind == doAct && m.nth == int(script.Ask):
			all = append(all, f.names[m.p]+" requests")
		case m.kind == doAct && m.nth == int(script.Leave):
			all = append(all, f.names[m.p]+" releases")
		}
	}
	return all
}

// Describe describes the input of an observed step.
func (f *Follower) Describe(o *Observed) string {
	switch o.In.Kind {
	case host.Request:
		return "requests"
	case host.Release:
		return "releases"
	case host.Receive:
		return fmt.Sprintf("receives %s from %s", f.message(o.In.Bytes), f.seat(o.In.From))
	}
	return f.Spec.When(o.In)
}

func (f *Follower) seat(p algorithm.ID) string {
	if p < 0 || int(p) >= len(f.names) {
		return p.String()
	}
	return f.names[p]
}

// message describes a message: its kind and its fields.
func (f *Follower) message(b []byte) string {
	if len(b) == 0 || int(b[0]) >= len(f.Spec.Kinds) {
		return fmt.Sprintf("an unknown message % x", b)
	}
	fields, err := f.other[0].DescribeMessage(b)
	if err != nil {
		return fmt.Sprintf("a malformed %s % x", f.Spec.Kinds[b[0]], b)
	}
	return described(f.Spec.Kinds[b[0]], fields)
}

// state describes a state by its fields.
func (f *Follower) state(p algorithm.ID, b []byte) string {
	if f.other[p].LoadState(b) != nil {
		return fmt.Sprintf("% x", b)
	}
	return described("", f.other[p].Describe())
}

func described(kind string, fields []host.Field) string {
	var all []string
	for _, x := range fields {
		all = append(all, x.Name+" "+x.Value)
	}
	if len(all) == 0 {
		return kind
	}
	return strings.TrimSpace(kind + " (" + strings.Join(all, ", ") + ")")
}
