package viewmodel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A Kind says what happens in a step.
type Kind uint8

// What can happen. The label of a step is its kind, and up to two numbers.
const (
	Deliver    Kind = iota // view; sender and receiver in one number
	Install                // process, view
	Ask                    // process
	Unlock                 // process
	Cancel                 // process, which of its requests
	Again                  // process: unlocks once more
	Warn                   // process: its lease is about to expire for good, and what it holds is lost
	End                    // process: its lease expires for good
	Crash                  // process
	Bury                   // process, which ghost: it is over
	BuryOld                // process, which ghost: only in the previous epoch
	Lapse                  // process: its lease is about to expire for a while, and what it holds is lost
	Pass                   // process: it has expired, and what was lost is passed on
	Renew                  // process
	Leave                  // process
	More                   // process, and the receiver: it makes a REPORT or QUERY
	ClientAsk              // process: the client asks through it
	Claim                  // process: the client attaches to it and claims the lock
	Confirmed              // process: the client hears in time that it holds the lock through it
	Quit                   // process that the client asked through: the client no longer holds the lock
	Word                   // process: it hears that from the client
	SessionEnd             // process: the client's session there ends by time
	Moved                  // process: the client closes its session there
	Prove                  // process: a renewal that it sent after the client's hold was lost is confirmed
	Proof                  // process: the confirmation arrives
	Vacate                 // process: the client leaves a lock that is delegated to it
	Reenter                // process: it enters it again
	Recalled               // process: its RECALL arrives at the client
	Kept                   // process: the client's KEEP arrives
	lastKind
)

func label(kind Kind, a, b int) uint32 { return uint32(kind)<<16 | uint32(a)<<8 | uint32(b) }

// left reports whether a step is left out.
func (w *worker) left(d deed) bool {
	return w.Only != nil && !w.Only(Kind(d.label>>16), w.procs[d.proc].Who, w.epoch(d.proc))
}

// A worker makes states.
type worker struct {
	*Model
	templates []*member.Template
	err       error
	now       world
	next      world
	saved     member.State // of the acting member afterwards
	state     []byte       // state of the acting member afterwards
	sent      []byte       // links that have become longer
	bytes     []byte
	emit      func(explore.Step, []byte)
	must      int // number of steps that must eventually happen
}

// Worker implements explore.Model.
func (m *Model) Worker() explore.Worker {
	w := &worker{Model: m}
	w.templates, w.err = m.templates()
	w.now.make(m)
	w.next.make(m)
	return w
}

// Init emits the only initial state: no process has seen a view.
func (w *worker) Init(emit func([]byte) bool) error {
	if w.err != nil {
		return w.err
	}
	n := &w.next
	n.make(w.Model)
	n.cancels, n.late, n.lapses = w.Cancels, w.Late, w.Lapses
	if w.Client.Through != 0 {
		n.client.asks, n.client.claims = 1, w.Client.Claims
	}
	for i := range n.procs {
		p := &n.procs[i]
		if p.asks = w.Asks; slices.Contains(w.Quiet, w.procs[i].Inc) {
			p.asks = 0
		}
		d := w.templates[i]
		d.Reset()
		if w.Views[0].Rank(w.procs[i].Inc) >= 0 {
			if err := d.Member.Install(0, w.Views[0]); err != nil {
				return err
			}
			if w.procs[i].Inc == w.Client.Through {
				if _, err := d.Member.Renew(0, member.TheClient, sessionLength); err != nil {
					return err
				}
			}
			if w.Client.Block > 0 && w.Views[0].Members[w.Views[0].Home(w.Lock)].Inc == w.procs[i].Inc {
				if err := w.warm(d.Member); err != nil {
					return err
				}
				n.last, n.opened, n.ordered = member.Token{Epoch: w.Views[0].Epoch, Count: 1}, w.Views[0].Epoch, true
			}
		}
		var err error
		if p.bytes, err = d.Append(nil); err != nil {
			return err
		}
	}
	emit(n.append(nil))
	return nil
}

// warm lets the home use the lock once, so that its next entry is silent.
func (w *worker) warm(m *member.Member) error {
	if _, err := m.Lock(0, w.Lock, member.Ask{Deadline: member.Never}); err != nil {
		return err
	}
	err := m.Unlock(0, w.Lock, m.Out.Events[0].Token)
	m.Out.Reset()
	return err
}

// Next implements explore.Worker.
func (w *worker) Next(state []byte, emit func(explore.Step, []byte)) (explore.Broken, error) {
	if w.err != nil {
		return 0, w.err
	}
	if err := w.read(state); err != nil {
		return 0, err
	}
	w.emit, w.must = emit, 0
	w.deliveries()
	for i := range w.now.procs {
		if p := &w.now.procs[i]; p.dead {
			w.buried(i)
		} else {
			w.installs(i)
			w.applies(i)
			w.times(i)
			w.reports(i)
			w.attached(i)
		}
	}
	w.clients()
	if w.err == nil && w.must == 0 && w.Only == nil && w.waits() {
		return Waits, w.err
	}
	return 0, w.err
}

// read reads a state.
func (w *worker) read(state []byte) error {
	if err := w.now.read(state); err != nil {
		return err
	}
	for i := range w.now.procs {
		p := &w.now.procs[i]
		if p.dead || bytes.Equal(p.seen, p.bytes) {
			continue
		}
		if err := w.templates[i].Load(p.bytes); err != nil {
			return err
		}
		w.templates[i].Look(&p.state)
		p.seen = append(p.seen[:0], p.bytes...)
	}
	return nil
}

// waits reports whether a process waits that must get in.
func (w *worker) waits() bool {
	for i := range w.now.procs {
		if p := &w.now.procs[i]; !p.dead && !w.procs[i].ghost && !p.left && len(p.state.Present.Waiters) > 0 {
			return true
		}
	}
	return false
}

// A deed is a step of one process.
type deed struct {
	label uint32
	proc  int
	must  bool // it eventually happens, if it can
}

// do lets a process do something, and emits the result.
func (w *worker) do(d deed, f func(n *world, m *member.Member) error) {
	if w.err != nil || w.left(d) {
		return
	}
	template := w.templates[d.proc]
	n := &w.next
	n.copy(&w.now)
	p := &n.procs[d.proc]
	if w.err = template.Load(p.bytes); w.err != nil {
		return
	}
	m := template.Member
	var broken explore.Broken
	switch err := f(n, m); {
	case errors.Is(err, errLate):
		broken |= Fenced
	case err != nil:
		broken |= Refused
	}
	for _, o := range w.procs {
		for !w.Later && m.More(0, o.Inc) {
		}
	}
	template.Renumber()
	if w.state, w.err = template.Append(w.state[:0]); w.err != nil {
		return
	}
	template.Look(&w.saved)
	p.bytes = w.state
	broken |= w.judge(n, d, m.Out.Events)
	w.post(n, d.proc, m.Out.Frames)
	m.Out.Reset()
	w.give(d, broken)
}

// give emits the next world.
func (w *worker) give(d deed, broken explore.Broken) {
	if d.must {
		w.must++
	}
	w.bytes = w.next.append(w.bytes[:0])
	w.emit(explore.Step{Label: d.label, Fair: d.must, Class: d.label, Broken: broken}, w.bytes)
}

// post puts frames on their links.
func (w *worker) post(n *world, from int, frames []member.Frame) {
	epoch := w.saved.Present.Epoch
	view := w.view(epoch)
	w.sent = w.sent[:0]
	for _, f := range frames {
		to := w.index(f.To)
		if n.procs[to].dead || w.epoch(to) > epoch {
			continue // it would be dropped there
		}
		at := w.link(view, from, to)
		began := len(w.sent)
		w.sent = append(w.sent, n.links[at]...)
		if w.Parts && isReport(f.Bytes) {
			w.sent = appendParts(w.sent, f.Bytes)
		} else {
			w.sent = appendFrame(w.sent, f.Bytes)
		}
		n.links[at] = w.sent[began:len(w.sent):len(w.sent)]
	}
}

func appendFrame(link, frame []byte) []byte {
	return append(binary.AppendUvarint(link, uint64(len(frame))), frame...)
}

func isReport(frame []byte) bool {
	s, err := member.Look(frame)
	return err == nil && s.Kind == "REPORT"
}

// appendParts appends a REPORT in three parts, as if it were long: the first and the last
// are about other locks. The format is in docs/protocol.md: kind, clock, whether another
// part follows, and three lists.
func appendParts(link, report []byte) []byte {
	_, n := binary.Uvarint(report[1:])
	head, lists := report[:1+n], report[2+n:]
	part := func(more byte, lists ...byte) {
		link = appendFrame(link, slices.Concat(head, []byte{more}, lists))
	}
	part(1, 0, 0, 0)
	part(1, lists...)
	part(0, 0, 0, 0)
	return link
}

// epoch returns the epoch of a process in the world before the step.
func (w *worker) epoch(p int) uint64 { return w.now.procs[p].state.Present.Epoch }
