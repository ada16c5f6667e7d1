package replay

import (
	"bytes"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/process"
)

// stepped replays a recording with the steps of its machines.
func stepped(t *testing.T, b []byte) *Result {
	t.Helper()
	o := options()
	o.Steps = true
	return replay(t, b, o)
}

// The steps of machines are those of locks, from the state that each was born in, in every
// view. That they are wanted changes nothing else.
func TestSteps(t *testing.T) {
	a, b := live(t)
	arrived, seen := map[[2]uint64]uint64{}, map[string]int{}
	for _, recording := range [][]byte{a, b} {
		r, plain := stepped(t, recording), replay(t, recording, options())
		if r.Differs != nil || r.Inputs != plain.Inputs || r.Granted != plain.Granted || plain.Spans != nil || r.Whole() {
			t.Errorf("%+v, but without steps %+v", r, plain)
		}
		if len(r.Spans) != r.Views || r.Spans[len(r.Spans)-1].Record.Epoch != r.Epoch {
			t.Errorf("%d spans of %d views", len(r.Spans), r.Views)
		}
		for _, s := range r.Spans {
			if s.Record.Rank(s.Inc) < 0 {
				t.Errorf("epoch %d: %d is not a member", s.Record.Epoch, s.Inc)
			}
			for from, n := range s.Arrived {
				arrived[[2]uint64{from, s.Inc}] += n
			}
			for _, i := range s.Instances {
				instance(t, i, len(s.Record.Members))
				seen[i.Lock] += len(i.Steps)
			}
		}
	}
	if seen["door"] < 4 || seen["gate"] < 2 || len(arrived) != 2 {
		t.Errorf("steps %v, frames %v", seen, arrived)
	}
}

// instance tests that a machine begins as it is born, and keeps its state.
func instance(t *testing.T, i *Instance, n int) {
	t.Helper()
	m, err := i.Spec.New(i.Seat, algorithm.View{N: n, Busy: true})
	if err != nil {
		t.Fatal(err)
	}
	before := m.AppendState(nil)
	for k, s := range i.Steps {
		if !bytes.Equal(s.Before, before) || (s.Came > 0) != (s.In.Kind == host.Receive) || len(s.Went) != len(s.Out.Sends) || s.Input == 0 || s.Err != nil {
			t.Errorf("%q, step %d: %+v", i.Lock, k, s)
		}
		before = s.After
	}
}

// Frames that do not fit what machines did are found.
func TestStepsAndFrames(t *testing.T) {
	const door, gate = "\x00\x01\x04door\x00\x00\x01m", "\x00\x01\x04gate\x00\x00\x01m" // ALG, with the message m
	for _, c := range []struct {
		name  string
		frame string
		ok    bool
	}{
		{"its message", door, true},
		{"another message", door[:len(door)-1] + "n", false},
		{"another lock", gate, false},
		{"another kind of frame", "\x01" + door[1:7], false},
		{"no frame", "", false},
	} {
		x := &tap{}
		x.frame(&Instance{Lock: "door"}, &Step{}, []byte(c.frame), []byte("m"))
		if (x.err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, x.err)
		}
	}
	x := &tap{}
	i := &Instance{Steps: []Step{{In: host.Input{Kind: host.Receive, Bytes: []byte("m")}}}}
	x.name(tapped{Instance: i}, []process.Effect{{Kind: process.Notify}}, 0)
	if x.err == nil {
		t.Error("a message without a frame is not found")
	}
	twice := &Instance{Lock: "door", Steps: []Step{{}}}
	r := stepped(t, func() []byte { a, _ := live(t); return a }())
	x = &tap{spans: []*Span{{Record: r.Spans[0].Record, groups: []*group{{instances: []*Instance{twice, twice}}}}}}
	if _, err := x.result(); err == nil {
		t.Error("a machine that begins twice is not found")
	}
}

// A recording is whole if it says that the node has ended, or failed.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		r    Result
		want bool
	}{
		{Result{End: Ended}, true},
		{Result{Crashed: true}, true},
		{Result{Failed: "full"}, true},
		{Result{}, false},
		{Result{End: "the recording has reached its maximum size"}, false},
		{Result{Torn: true}, false},
		{Result{End: Ended, Stopped: true}, false},
		{Result{Failed: "full", Differs: &Difference{}}, false},
	} {
		if c.r.Whole() != c.want {
			t.Errorf("%+v", c.r)
		}
	}
}
