//go:build linux || darwin

package command

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A recordedCluster is some processes in simulated time. A message takes a millisecond.
type recordedCluster struct {
	t     *testing.T
	now   member.Instant
	nodes []*recordedNode
	mail  []recordedMail
	bend  func(from, to string, frames [][]byte) // changes frames on their way; nil changes none
	lose  func(from, to string) bool             // loses a message; nil loses none
	spec  specFinder
	marks func(n *recordedNode, k *member.Mark) // is shown the marks of locks that are followed; nil if none are
}

type recordedMail struct {
	at    member.Instant
	to    string
	input process.Input
}

type recordedNode struct {
	*process.Process
	c       *recordedCluster
	name    string
	tape    *replay.Writer
	saves   []uint64
	tokens  map[member.Ticket]member.Token
	waiting []member.Ticket
}

func (n *recordedNode) Took(in *process.Input, out *process.Output)    { n.tape.Took(in, out) }
func (n *recordedNode) Crashed(in *process.Input, out *process.Output) { n.tape.Crashed(in, out) }

const simulatedMS = member.Instant(member.Millisecond)

// newRecordedCluster starts three processes, or those with the given names, the first of
// which is a. Their locks all have one algorithm.
func newRecordedCluster(t *testing.T, algorithm string, spec specFinder, names ...string) *recordedCluster {
	if len(names) == 0 {
		names = []string{"a", "b", "c"}
	}
	c := &recordedCluster{t: t, now: simulatedMS, spec: spec}
	s := member.Usual()
	s.Lease, s.Renew, s.ViewLife = 2*member.Second, 400*member.Millisecond, 10*member.Millisecond
	s.Handover = 1
	for _, name := range names {
		b := process.Begin{Name: name, Address: name, Seed: [32]byte{name[0]}, Settings: s}
		if name == "a" {
			b.Found = &process.Founding{Cluster: 9, Epoch: 1, Settings: s, Voters: 1, Choices: []member.Choice{{Algorithm: algorithm, Version: 1}}}
		} else {
			b.Contacts = []string{"a"}
		}
		n := &recordedNode{c: c, name: name, tokens: map[member.Ticket]member.Token{}}
		h := &replay.Header{Begin: b, Election: 10, Heartbeat: 3, MaxLog: 256}
		n.tape = replay.NewWriter(h)
		var err error
		if n.Process, err = process.New(process.Config{Begin: b, Logs: replayLogs(h).(raft.Logs), Spec: spec, Tape: n}); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, n)
		n.step(process.Input{Kind: process.Start})
		for _, o := range c.nodes[:len(c.nodes)-1] {
			o.step(process.Input{Kind: process.Up, Text: name})
			n.step(process.Input{Kind: process.Up, Text: o.name})
		}
		for n.Phase() != process.Member {
			c.use(1, "x", "y", "z") // by those that are members
		}
	}
	return c
}

// step hands in an input and carries out the effects.
func (n *recordedNode) step(in process.Input) {
	in.At = n.c.now
	n.Step(&in)
	for i := range n.Out.Effects {
		switch e := &n.Out.Effects[i]; e.Kind {
		case process.Notify:
			if e.Event.Kind == member.Held {
				n.tokens[e.Event.Ticket] = e.Event.Token
			}
		case process.Send:
			if n.c.lose != nil && n.c.lose(n.name, e.To) {
				continue
			}
			b := slices.Clone(e.Bytes)
			if n.c.bend != nil && b[0] == process.Packet {
				b = n.c.bent(n.name, e.To, b)
			}
			n.c.mail = append(n.c.mail, recordedMail{n.c.now + simulatedMS, e.To, process.Input{Kind: process.Message, Text: n.name, Bytes: b}})
		case process.Save, process.Erase, process.Remember:
			n.saves = append(n.saves, e.Number)
		case process.Marked:
			n.c.marks(n, e.Mark)
		case process.Failed:
			n.c.t.Fatal(n.name, e.Err)
		}
	}
	for len(n.saves) > 0 {
		number := n.saves[0]
		n.saves = n.saves[1:]
		n.step(process.Input{Kind: process.Saved, Number: number})
	}
}

// bent returns a packet whose frames were changed: eight numbers, and then each frame after
// its length.
func (c *recordedCluster) bent(from, to string, b []byte) []byte {
	rest := b[1:]
	for range 8 {
		_, size := binary.Uvarint(rest)
		rest = rest[size:]
	}
	out := b[:len(b)-len(rest)]
	var frames [][]byte
	for len(rest) > 0 {
		length, size := binary.Uvarint(rest)
		frames = append(frames, slices.Clone(rest[size:size+int(length)]))
		rest = rest[size+int(length):]
	}
	c.bend(from, to, frames)
	for _, f := range frames {
		out = append(binary.AppendUvarint(out, uint64(len(f))), f...)
	}
	return out
}

// run lets some milliseconds pass.
func (c *recordedCluster) run(ms int) {
	for end := c.now + member.Instant(ms)*simulatedMS; ; {
		next := end
		if len(c.mail) > 0 {
			next = min(next, c.mail[0].at)
		}
		for _, n := range c.nodes {
			next = min(next, max(n.Out.Wake, c.now))
		}
		if c.now = next; c.now == end {
			return
		}
		for len(c.mail) > 0 && c.mail[0].at == c.now {
			m := c.mail[0]
			c.mail = c.mail[1:]
			i := slices.IndexFunc(c.nodes, func(n *recordedNode) bool { return n.name == m.to })
			c.nodes[i].step(m.input)
		}
		for _, n := range c.nodes {
			if n.Out.Wake <= c.now {
				n.step(process.Input{Kind: process.Wake})
			}
		}
	}
}

// use has applications of all nodes use locks for some rounds. Each node has two requests
// for each lock at a time, and holds it for a few milliseconds.
func (c *recordedCluster) use(rounds int, names ...string) {
	for round := range rounds {
		for i, n := range c.nodes {
			for k := range 2 {
				if n.Phase() != process.Member {
					break
				}
				name := names[(i*round+k)%len(names)]
				n.step(process.Input{Kind: process.Lock, Text: name})
				n.waiting = append(n.waiting, n.Out.Ticket)
			}
		}
		for range 20 {
			for _, n := range c.nodes {
				n.unlock(names)
			}
			c.run(3)
		}
	}
}

// unlock releases what the node holds.
func (n *recordedNode) unlock(names []string) {
	for _, ticket := range n.waiting {
		if token, ok := n.tokens[ticket]; ok {
			delete(n.tokens, ticket)
			for _, name := range names {
				n.step(process.Input{Kind: process.Unlock, Text: name, Token: token})
			}
		}
	}
}

// recordings returns the replays of the recordings of some nodes, which end for a reason.
func (c *recordedCluster) recordings(names, end string) []*recording {
	c.t.Helper()
	var all []*recording
	for _, n := range c.nodes {
		tape := *n.tape
		tape.B = slices.Clone(tape.B)
		tape.End(end)
		if !strings.Contains(names, n.name) {
			continue
		}
		r, err := replayRecording(n.name+".rec", bytes.NewReader(tape.B), c.spec)
		if err != nil {
			c.t.Fatal(err)
		}
		if r.result.Differs != nil {
			c.t.Fatalf("%s: %v", n.name, r.result.Differs)
		}
		all = append(all, r)
	}
	return all
}

// check checks the recordings of some nodes.
func (c *recordedCluster) check(names string) *conformReport {
	c.t.Helper()
	r, err := conformance(c.recordings(names, replay.Ended), catalog.MakeLive)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// What locks of every live algorithm do at three nodes is a run of the model, in every view.
func TestReplayCheck(t *testing.T) {
	t.Parallel()
	for _, spec := range catalog.Live() {
		t.Run(spec.Name, func(t *testing.T) {
			c := newRecordedCluster(t, spec.Name, catalog.MakeLive)
			c.use(6, "x", "y", "z")
			c.nodes[0].step(process.Input{Kind: process.Refresh})
			c.use(6, "x", "y", "z")
			r := c.check("abc")
			t.Logf("%d steps of %d locks in %d views", r.Steps, r.Locks.All, r.Views.All)
			if len(r.Refused)+len(r.Unchecked) > 0 || r.Views.Whole < 2 || r.Locks.Whole < 6 || r.Steps < 200 || r.Algorithms[spec.Name] != r.Steps {
				t.Errorf("%+v", r)
			}
		})
	}
}

// The links repair what a network loses. Members that are evicted join again, as others.
// What locks do is a run of the model, in each of many views.
func TestReplayCheckFaults(t *testing.T) {
	t.Parallel()
	views, steps := 0, 0
	for seed := range *seeds * len(catalog.Live()) {
		algorithm := catalog.Live()[seed%len(catalog.Live())].Name
		draw := rand.New(rand.NewPCG(uint64(seed), 0))
		c := newRecordedCluster(t, algorithm, catalog.MakeLive)
		cut := "" // node whose messages are all lost
		c.lose = func(from, to string) bool { return from == cut || to == cut || draw.IntN(20) == 0 }
		for range 20 {
			if cut = ""; draw.IntN(4) == 0 {
				cut = c.nodes[1+draw.IntN(2)].name
			}
			if draw.IntN(6) == 0 {
				if m := c.nodes[0].Record().Members; len(m) > 1 {
					c.nodes[0].step(process.Input{Kind: process.Evict, Number: m[draw.IntN(len(m))].Inc})
				}
			}
			c.use(1, "x", "y", "z")
		}
		r := c.check("abc")
		if len(r.Refused)+len(r.Unchecked) > 0 {
			t.Errorf("%s, seed %d: %+v", algorithm, seed, r)
		}
		views, steps = views+r.Views.Whole, steps+r.Steps
	}
	if t.Logf("%d views, %d steps", views, steps); views < 30 || steps < 1000 {
		t.Errorf("only %d views and %d steps", views, steps)
	}
}

// isMessageOf reports whether a frame carries a message of this kind of an algorithm.
func isMessageOf(frame []byte, kind byte) bool {
	f, err := member.Look(frame)
	return err == nil && f.Kind == "ALG" && f.Message[0] == kind
}

// What a network must not do is found, though the algorithm, the links and the replay do
// not see it. The report names the node, the lock and the step, and what the model allows.
func TestReplayCheckBentNetwork(t *testing.T) {
	t.Parallel()
	const (
		request, ok = 0, 1 // kinds of messages
		ignored     = 0x40 // a kind of frame that members ignore
	)
	answered := func(change func(ok, request *[]byte)) func(frames [][]byte) bool {
		return func(frames [][]byte) bool {
			for i := 1; i < len(frames); i++ {
				if isMessageOf(frames[i-1], ok) && isMessageOf(frames[i], request) {
					change(&frames[i-1], &frames[i])
					return true
				}
			}
			return false
		}
	}
	first := func(kind byte, change func(f []byte)) func(frames [][]byte) bool {
		return func(frames [][]byte) bool {
			i := slices.IndexFunc(frames, func(f []byte) bool { return isMessageOf(f, kind) })
			if i >= 0 {
				change(frames[i])
			}
			return i >= 0
		}
	}
	for _, plant := range []struct {
		name, algorithm string
		bend            func(frames [][]byte) bool // it reports whether it has changed something
		what, why       string
	}{
		{"altered", "ricart-agrawala", first(request, func(f []byte) { f[len(f)-1]++ }), // the time of the request
			"REQUEST (time 2) from b", "REQUEST (time 1)"},
		{"dropped", "suzuki-kasami", first(request, func(f []byte) { f[0] = ignored }), "REQUEST (from 3, n 2) from b", "REQUEST (from 3, n 1)"},
		{"dropped, and no other follows", "ricart-agrawala", first(ok, func(f []byte) { f[0] = ignored }), "", "OK (time 5) from b"},
		{"exchanged", "ricart-agrawala", answered(func(ok, request *[]byte) { *ok, *request = *request, *ok }), "REQUEST (time 7) from b", "OK (time 7)"},
		{"repeated", "ricart-agrawala", answered(func(ok, request *[]byte) { *request = *ok }), "OK (time 7) from b", "REQUEST (time 7)"},
	} {
		t.Run(plant.name, func(t *testing.T) {
			c := newRecordedCluster(t, plant.algorithm, catalog.MakeLive)
			done := false
			c.bend = func(from, to string, frames [][]byte) {
				done = done || from == "b" && to == "c" && plant.bend(frames)
			}
			c.use(6, "x")
			r := c.check("abc")
			if !done || len(r.Refused) != 1 {
				t.Fatalf("changed %v: %+v", done, r)
			}
			t.Log(r.wrong())
			s := r.Refused[0]
			if s.Lock != "x" || s.Algorithm != plant.algorithm || s.Node != "c" || s.Step == 0 || (s.Input == 0) != (plant.what == "") ||
				!strings.Contains(s.What, plant.what) || !strings.Contains(s.Why, plant.why) || !strings.Contains(s.Why, "the model allows: ") {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A machine that is not the one of the model is found, at its first step that differs. Here
// it is one that the recording was made with, so the replay does not differ.
func TestReplayCheckOtherMachine(t *testing.T) {
	t.Parallel()
	other := func(name string, version int) (algorithm.Spec, error) {
		s, err := catalog.Make("raymond-printed", algorithm.Options{})
		s.Name, s.Version = name, version
		return s, err
	}
	c := newRecordedCluster(t, "raymond", other)
	c.use(6, "x")
	r := c.check("abc")
	if len(r.Refused) == 0 {
		t.Fatalf("%+v", r)
	}
	t.Log(r.Refused[0])
	if s := r.Refused[0]; s.Algorithm != "raymond" || s.Node == "" || s.Step == 0 || s.Input == 0 || !strings.Contains(s.Why, "the model allows: ") {
		t.Errorf("%+v", s)
	}
}

// Steps that depend on a node without a recording are counted.
func TestReplayCheckUnknown(t *testing.T) {
	t.Parallel()
	c := newRecordedCluster(t, "raymond", catalog.MakeLive)
	c.use(6, "x", "y")
	all := c.check("abc")
	for _, names := range []string{"ab", "bc", "a"} {
		r := c.check(names)
		rest := 0
		for _, u := range r.Unchecked {
			rest += u.Steps
			if !strings.Contains(u.Why, "of which there is no recording") {
				t.Error(u)
			}
		}
		t.Logf("%s: %d steps, %d unchecked, of %d", names, r.Steps, rest, all.Steps)
		if len(r.Refused) > 0 || rest == 0 || r.Steps == 0 || r.Steps+rest >= all.Steps || r.Locks.Whole != r.Locks.All-len(r.Unchecked) || r.Views.Whole >= all.Views.Whole {
			t.Errorf("%s: %+v", names, r)
		}
	}
}

// Steps that depend on what a node did after the end of its recording are counted.
func TestReplayCheckCutOff(t *testing.T) {
	t.Parallel()
	c := newRecordedCluster(t, "raymond", catalog.MakeLive)
	c.use(4, "x", "y")
	early := slices.Clone(c.nodes[1].tape.B)
	c.use(4, "x", "y")
	all := c.check("abc")
	for _, end := range []string{"", replay.Ended} {
		recordings := c.recordings("ac", replay.Ended)
		b, err := replayRecording("b.rec", bytes.NewReader(early), c.spec)
		if err != nil {
			t.Fatal(err)
		}
		if end != "" { // as if this were all that it has done
			b.result.End = end
		}
		r, err := conformance(append(recordings, b), catalog.MakeLive)
		if err != nil {
			t.Fatal(err)
		}
		rest := 0
		for _, u := range r.Unchecked {
			rest += u.Steps
		}
		t.Logf("%d steps, %d unchecked, of %d: %v", r.Steps, rest, all.Steps, r.wrong())
		if rest == 0 || r.Steps < all.Steps/4 || r.Steps+rest >= all.Steps || (len(r.Refused) > 0) != (end != "") {
			t.Errorf("%q: %+v", end, r)
		}
	}
}
