package replay

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

const ms = member.Instant(member.Millisecond)

// A town is processes in simulated time, which are recorded. A message takes a
// millisecond and a save none. Nothing in it is left to chance.
type town struct {
	t      *testing.T
	now    member.Instant
	houses []*house
	mail   []mail
	spec   func(algorithm string, version int) (algorithm.Spec, error)
}

type mail struct {
	at    member.Instant
	to    string
	input process.Input
}

// A house is a process, its host and its tape.
type house struct {
	*process.Process
	w       *town
	address string
	tape    *Writer
	saves   []uint64 // to be acknowledged
	broken  string   // what its disk fails with
	tokens  map[member.Ticket]member.Token
	ended   []views.Ending
	failed  error
}

func (h *house) Took(in *process.Input, out *process.Output)    { h.tape.Took(in, out) }
func (h *house) Crashed(in *process.Input, out *process.Output) { h.tape.Crashed(in, out) }

const election, heartbeat, maxLog = 10, 3, 256

func options() Options {
	return Options{
		Logs: func(h *Header) views.Logs {
			return raft.Logs{Election: h.Election, Heartbeat: h.Heartbeat, MaxLog: h.MaxLog}
		},
		Spec: catalog.MakeLive,
	}
}

func settings() member.Settings {
	s := member.Usual()
	s.Lease, s.Renew, s.ViewLife = 2*member.Second, 400*member.Millisecond, 10*member.Millisecond
	return s
}

// choice makes every lock one of naimi-trehel.
func choice() []member.Choice { return []member.Choice{{Algorithm: "naimi-trehel", Version: 1}} }

// build makes a process and starts it. One without contacts founds a cluster.
func (w *town) build(name string, contacts ...string) *house {
	w.t.Helper()
	h := &house{w: w, address: name + ":7420", tokens: map[member.Ticket]member.Token{}}
	b := process.Begin{Name: name, Address: h.address, Contacts: contacts, Seed: [32]byte{7, name[0]}, Settings: settings(), Limits: member.Limits{Waiters: 1000}}
	if len(contacts) == 0 {
		b.Found = &process.Founding{Cluster: 9, Epoch: 1, Settings: settings(), Voters: 3, Choices: choice()}
	}
	h.tape = NewWriter(&Header{By: "a test", Wall: 1_750_000_000_000, Specs: []Spec{{"naimi-trehel", 1}}, Begin: b, Election: election, Heartbeat: heartbeat, MaxLog: maxLog})
	var err error
	h.Process, err = process.New(process.Config{Begin: b, Logs: raft.Logs{Election: election, Heartbeat: heartbeat, MaxLog: maxLog}, Spec: w.spec, Tape: h})
	if err != nil {
		w.t.Fatal(err)
	}
	w.houses = append(w.houses, h)
	h.step(process.Input{Kind: process.Start})
	return h
}

// step hands in an input and carries out what comes of it.
func (h *house) step(in process.Input) {
	h.w.t.Helper()
	in.At = h.w.now
	h.Step(&in)
	for i := range h.Out.Effects {
		switch e := &h.Out.Effects[i]; e.Kind {
		case process.Notify:
			if e.Event.Kind == member.Held {
				h.tokens[e.Event.Ticket] = e.Event.Token
			}
		case process.Ended:
			h.ended = append(h.ended, e.How)
		case process.Send:
			h.w.mail = append(h.w.mail, mail{h.w.now + ms, e.To, process.Input{Kind: process.Message, Text: h.address, Bytes: slices.Clone(e.Bytes)}})
		case process.Save, process.Erase, process.Remember:
			h.saves = append(h.saves, e.Number)
		case process.HangUp, process.Cut, process.LinkEnded:
			h.w.t.Errorf("%s: %s", h.address, did(e))
		case process.Failed:
			h.failed = e.Err
		}
	}
	for len(h.saves) > 0 && h.failed == nil {
		number := h.saves[0]
		h.saves = h.saves[1:]
		h.step(process.Input{Kind: process.Saved, Number: number, Text: h.broken})
	}
}

// run lets time pass.
func (w *town) run(span member.Instant) {
	w.t.Helper()
	for end := w.now + span; ; {
		next := end
		if len(w.mail) > 0 {
			next = min(next, w.mail[0].at)
		}
		for _, h := range w.houses {
			next = min(next, max(h.Out.Wake, w.now))
		}
		if w.now = next; w.now == end {
			return
		}
		if len(w.mail) > 0 && w.mail[0].at == w.now {
			m := w.mail[0]
			w.mail = w.mail[1:]
			for _, h := range w.houses {
				if h.address == m.to {
					h.step(m.input)
				}
			}
			continue
		}
		for _, h := range w.houses {
			if h.Out.Wake <= w.now {
				h.step(process.Input{Kind: process.Wake})
			}
		}
	}
}

// ask has an application or an operator ask for something that is not refused.
func (h *house) ask(in process.Input) member.Ticket {
	h.w.t.Helper()
	h.step(in)
	if h.Out.Err != nil {
		h.w.t.Errorf("%s: %v: %v", h.address, in.Kind, h.Out.Err)
	}
	return h.Out.Ticket
}

func (h *house) lock(name string) member.Ticket {
	h.w.t.Helper()
	return h.ask(process.Input{Kind: process.Lock, Text: name})
}

func (h *house) unlock(name string, t member.Ticket) {
	h.w.t.Helper()
	h.ask(process.Input{Kind: process.Unlock, Text: name, Token: h.tokens[t]})
}

// say has a client send a frame on connection 1.
func (h *house) say(f session.Frame) {
	h.w.t.Helper()
	h.step(process.Input{Kind: process.Frame, Number: 1, Bytes: f.AppendTo(nil)})
}

// found makes the first node, which founds a cluster.
func (w *town) found() *house {
	w.t.Helper()
	a := w.build("a")
	w.run(300 * ms)
	return a
}

// join makes the second one.
func (w *town) join(a *house) *house {
	w.t.Helper()
	b := w.build("b", a.address)
	a.step(process.Input{Kind: process.Up, Text: b.address})
	b.step(process.Input{Kind: process.Up, Text: a.address})
	w.run(200 * ms)
	return b
}

// live lets two nodes live for a while, and returns their recordings.
func live(t *testing.T) (first, second []byte) {
	t.Helper()
	w := &town{t: t, now: 1000 * ms, spec: catalog.MakeLive}
	a := w.found()
	b := w.join(a)

	a.ask(process.Input{Kind: process.Trail, Text: "door", Late: w.now + 50*ms})
	mine := a.lock("door")
	theirs := b.lock("door")
	w.run(5 * ms)
	a.ask(process.Input{Kind: process.Lock, Text: "door", Try: true}) // it is busy
	a.ask(process.Input{Kind: process.Lock, Text: "door", Late: w.now + 2*ms})
	a.step(process.Input{Kind: process.Recall})
	a.step(process.Input{Kind: process.Opened, Number: 1, Text: "client/worker", Quota: session.Quota{Locks: 2}})
	a.say(session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol, Name: "worker"})
	a.say(session.Frame{Kind: session.Lock, Number: 1, Name: "door"})
	a.say(session.Frame{Kind: session.Lock, Number: 2, Name: "gate"})
	a.say(session.Frame{Kind: session.Lock, Number: 3, Name: "window"}) // over its quota
	w.run(5 * ms)
	b.unlock("door", theirs)
	w.run(5 * ms)
	a.unlock("door", mine)
	a.say(session.Frame{Kind: session.Unlock, Number: 1})
	w.run(5 * ms)
	a.Clients(func(c session.ClientInfo) { a.ask(process.Input{Kind: process.Move, Number: c.Session}) })
	w.run(20 * ms)
	late := b.lock("gate")
	w.run(5 * ms)
	b.step(process.Input{Kind: process.Cancel, Number: uint64(late)})
	a.say(session.Frame{Kind: session.Close})
	a.step(process.Input{Kind: process.Closed, Number: 1})
	taken := a.lock("taken")
	a.step(process.Input{Kind: process.Cancel, Number: 1 << 40}) // there is no such request
	w.run(5 * ms)
	a.ask(process.Input{Kind: process.Release, Text: "taken", Token: a.tokens[taken]})
	a.ask(process.Input{Kind: process.Choose, Choice: append(choice(), member.Choice{Prefix: "c", Algorithm: "central", Version: 1})})
	a.ask(process.Input{Kind: process.Resize, Number: 1})
	a.ask(process.Input{Kind: process.Refresh})
	a.step(process.Input{Kind: process.Evict, Number: 1 << 40}) // which is refused
	w.run(50 * ms)

	b.ask(process.Input{Kind: process.Leave})
	w.run(100 * ms)
	if !slices.Equal(b.ended, []views.Ending{views.Left}) {
		t.Errorf("the second one has not left: %v", b.ended)
	}
	a.step(process.Input{Kind: process.Down, Text: b.address})
	w.run(50 * ms)
	a.ask(process.Input{Kind: process.Stop})
	a.ask(process.Input{Kind: process.Leave}) // which is too late
	w.run(400 * ms)
	if !slices.Equal(a.ended, []views.Ending{views.Stopped}) {
		t.Errorf("the first one has not stopped: %v", a.ended)
	}
	for _, h := range w.houses {
		h.tape.End("the node has ended")
	}
	return a.tape.B, b.tape.B
}
