package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// A Span is the time in which a process was in one view.
type Span struct {
	Record    *views.Record
	Inc       uint64            // its incarnation
	Arrived   map[uint64]uint64 // number of frames that have arrived from each incarnation
	Instances []*Instance       // those that took a step
	sent      map[uint64]uint64
	groups    []*group
}

// An Instance is a lock's algorithm at the recorded process in one view: one machine, from
// the state that it was born in.
type Instance struct {
	Lock  string // its name; empty if the algorithm exchanged no message, so that it cannot be known
	Spec  algorithm.Spec
	Seat  algorithm.ID // of the process; the home of the lock has the first one
	Steps []Step
}

// A Step is what a machine did with one input.
type Step struct {
	Input  int // number of the recording's input in which it happened, from 1
	In     host.Input
	Before []byte // states
	After  []byte
	Out    host.Output
	Err    error // why it refused the input; it then has no output

	// The numbers, from 1, of the frames with its messages among those of their links: of
	// the one that was received, and of those that were sent. A process that was evicted
	// sends no more frames: then the latter are fewer.
	Came uint64
	Went []uint64
}

// A group is the machines of one algorithm in one view. The member shares them among all
// locks: it has each machine save its state as bytes and load another one. So a tapped
// machine saves the number of its instance with its state, and 0 means that the state is
// the one that it was born in.
type group struct {
	tap       *tap
	spec      algorithm.Spec
	at        int    // number of effects before it was made
	inc       uint64 // incarnation of the process
	instances []*Instance
}

// A tap sees what the machines of a process do.
type tap struct {
	process *process.Process
	input   int
	groups  []*group // made in this input
	steps   []tapped // taken in this input
	numbers []uint64 // of the frames of its effects
	spans   []*Span
	err     error
}

// A tapped is a step whose lock is not known yet.
type tapped struct {
	*Instance
	step int
	at   int // number of effects before it was taken
}

// specs returns algorithms whose machines are tapped.
func (t *tap) specs(of func(algorithm string, version int) (algorithm.Spec, error)) func(string, int) (algorithm.Spec, error) {
	return func(name string, version int) (algorithm.Spec, error) {
		s, err := of(name, version)
		if err != nil {
			return s, err
		}
		return t.spec(s), nil
	}
}

// spec returns an algorithm whose machines are tapped.
func (t *tap) spec(s algorithm.Spec) algorithm.Spec {
	plain, plan := s, s.Plan
	s.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		if err != nil || birth == nil {
			return birth, err
		}
		g := &group{tap: t, spec: plain, at: t.now(), inc: t.process.Inc()}
		t.groups = append(t.groups, g)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			m := birth(self, v)
			if m == nil {
				return nil
			}
			return &machine{Machine: m, group: g, seat: self}
		}, nil
	}
	return s
}

// now returns the number of effects so far of the current input.
func (t *tap) now() int { return len(t.process.Out.Effects) }

// A machine is one that is tapped.
type machine struct {
	algorithm.Machine
	group    *group
	seat     algorithm.ID
	instance uint64 // the one whose state it is in, from 1; 0 means none
}

// Unwrap returns the machine itself.
func (m *machine) Unwrap() algorithm.Machine { return m.Machine }

// AppendState implements algorithm.Machine.
func (m *machine) AppendState(b []byte) []byte {
	return m.Machine.AppendState(binary.AppendUvarint(b, m.instance))
}

// LoadState implements algorithm.Machine.
func (m *machine) LoadState(b []byte) error {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return errors.New("state without the number of its instance")
	}
	if n == 0 {
		m.group.instances = append(m.group.instances, &Instance{Spec: m.group.spec, Seat: m.seat})
		n = uint64(len(m.group.instances))
	}
	m.instance = n
	return m.Machine.LoadState(b[size:])
}

// Step implements algorithm.Machine.
func (m *machine) Step(in host.Input, out *host.Output) error {
	t, at := m.group.tap, m.group.tap.now()
	s := Step{Input: t.input, In: in, Before: m.Machine.AppendState(nil)}
	s.In.Bytes = bytes.Clone(in.Bytes)
	if s.Err = m.Machine.Step(in, out); s.Err == nil {
		s.Out = host.Output{Sends: slices.Clone(out.Sends), Entered: out.Entered, Notices: slices.Clone(out.Notices), Buffer: bytes.Clone(out.Buffer)}
	}
	s.After = m.Machine.AppendState(nil)
	i := m.group.instances[m.instance-1]
	if n := len(i.Steps); n > 0 && bytes.Equal(i.Steps[n-1].After, s.Before) {
		s.Before = i.Steps[n-1].After // share the memory
	}
	t.steps = append(t.steps, tapped{i, len(i.Steps), at})
	i.Steps = append(i.Steps, s)
	return s.Err
}

// took handles the end of an input: it finds out to which views the new groups belong, and
// to which locks the steps.
func (t *tap) took() {
	effects := t.process.Out.Effects
	t.numbers = t.numbers[:0]
	for i := range effects {
		t.numbers = append(t.numbers, t.number(i, &effects[i]))
	}
	next := 0 // effect from which on to look for the next frame that was sent
	for _, s := range t.steps {
		next = t.name(s, effects, max(next, s.at))
	}
	t.steps = t.steps[:0]
}

// number returns the number of the frame that effect number i is about, if there is one.
func (t *tap) number(i int, e *process.Effect) uint64 {
	if e.Kind == process.View {
		t.began(i, e.Record)
	}
	if len(t.spans) == 0 {
		return 0
	}
	s := t.spans[len(t.spans)-1]
	switch e.Kind {
	case process.FrameSent:
		s.sent[e.Peer]++
		return s.sent[e.Peer]
	case process.Delivering:
		s.Arrived[e.Peer]++
		return s.Arrived[e.Peer]
	}
	return 0
}

// began notes a view: the member has made its groups right before effect number i.
func (t *tap) began(i int, r *views.Record) {
	is := func(g *group) bool { return g.at <= i }
	first := slices.IndexFunc(t.groups, is)
	if first < 0 {
		return
	}
	record := r.Clone()
	s := &Span{Record: &record, Inc: t.groups[first].inc, Arrived: map[uint64]uint64{}, sent: map[uint64]uint64{}}
	for _, g := range t.groups {
		if is(g) {
			s.groups = append(s.groups, g)
		}
	}
	t.groups = slices.DeleteFunc(t.groups, is)
	t.spans = append(t.spans, s)
}

// name finds out to which lock a step belongs: to that of the frame that is delivered, and
// to that of the frames that are sent. The member sends a frame for each message, in order,
// unless it was evicted. The result is the effect from which on to look for the frames of
// the next step.
func (t *tap) name(s tapped, effects []process.Effect, next int) int {
	step := &s.Steps[s.step]
	if step.In.Kind == host.Receive {
		i := s.at - 1
		for i >= 0 && effects[i].Kind != process.Delivering {
			i--
		}
		if i < 0 {
			t.fail(step, "a message was received, but no frame arrived")
		} else {
			step.Came = t.numbers[i]
			t.frame(s.Instance, step, effects[i].Bytes, step.In.Bytes)
		}
	}
	for k := range step.Out.Sends {
		for next < len(effects) && effects[next].Kind != process.Ended && !isMessage(&effects[next]) {
			next++
		}
		if next == len(effects) || effects[next].Kind == process.Ended {
			break
		}
		step.Went = append(step.Went, t.numbers[next])
		t.frame(s.Instance, step, effects[next].Bytes, step.Out.Bytes(k))
		next++
	}
	return next
}

// isMessage reports whether an effect is that the member sends a message of an algorithm.
func isMessage(e *process.Effect) bool {
	if e.Kind != process.FrameSent {
		return false
	}
	f, err := member.Look(e.Bytes)
	return err == nil && f.Kind == algFrame
}

// algFrame is the kind of frames with messages of algorithms.
const algFrame = "ALG"

// frame notes that a frame carries a message of an instance.
func (t *tap) frame(i *Instance, step *Step, frame, message []byte) {
	f, err := member.Look(frame)
	switch {
	case err != nil || f.Kind != algFrame || !bytes.Equal(f.Message, message):
		t.fail(step, "a frame does not carry the message of the algorithm")
	case i.Lock != "" && i.Lock != f.Name:
		t.fail(step, fmt.Sprintf("the machine of %q has a message of %q", i.Lock, f.Name))
	}
	i.Lock = f.Name
}

// fail notes that the member did not do with a machine what it must.
func (t *tap) fail(s *Step, why string) {
	if t.err == nil {
		t.err = fmt.Errorf("input %d: %s", s.Input, why)
	}
}

// result returns the views, with the instances that took a step.
func (t *tap) result() ([]*Span, error) {
	for _, s := range t.spans {
		seen := map[string]bool{}
		for _, g := range s.groups {
			for _, i := range g.instances {
				if len(i.Steps) == 0 {
					continue
				}
				if i.Lock != "" && seen[i.Lock] {
					t.fail(&i.Steps[0], fmt.Sprintf("the machine of %q began a second time in epoch %d", i.Lock, s.Record.Epoch))
				}
				seen[i.Lock] = true
				s.Instances = append(s.Instances, i)
			}
		}
	}
	return t.spans, t.err
}
