package record

import (
	"errors"
	"fmt"
	"io"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/station"
)

// Options say how to replay.
type Options struct {
	// Store returns a store of the voter that holds what the header says.
	Store func(h *Header) (engine.Store, error)
	// Spec returns an algorithm by its name.
	Spec  func(algorithm string, version int) (core.Spec, error)
	Until int // stop after so many inputs; 0 goes on to the end
}

// A Result is what came of a replay.
type Result struct {
	Header  *Header
	Inputs  int                // that were taken
	ByKind  [station.Kinds]int // of them
	Last    member.Instant     // of the last one
	Views   int                // that were begun
	Granted int                // entries, of applications and clients
	Lost    int                // of them
	Epoch   uint64             // of the last view

	End      string // why the recording ends, as it says itself; empty if it does not
	Torn     bool   // it ends in the middle of an entry
	Stopped  bool   // by Until
	Crashed  bool   // the node died in the last input
	Fault    string // for which the node ended, and which a replay cannot have: its store has failed
	Differs  *Difference
	Station  *station.Station // as it is after the last input; nil if it has panicked
	Panicked string           // what a panic of the station said
}

// A Difference is where a station did something else than the one that was recorded.
type Difference struct {
	Input int            // its number, from 1
	At    member.Instant // of the process's clock
	What  string         // the input, in words
	How   []string       // what differs
	Did   []string       // what the station did now
}

// Replay hands the inputs of a recording to a station of today. An error says that the
// recording cannot be read, or that no station can begin so; the result is then how
// far it came, or nil.
func Replay(r io.Reader, o Options) (*Result, error) {
	d, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	p := &player{result: Result{Header: &d.Header, Last: d.Header.Begin.At}}
	if err := p.begin(o); err != nil {
		return nil, err
	}
	var e Entry
	for o.Until == 0 || p.result.Inputs < o.Until {
		switch err := d.Next(&e); {
		case err == io.EOF:
			p.result.End = d.End
			return &p.result, nil
		case errors.Is(err, ErrTorn):
			p.result.Torn = true
			return &p.result, nil
		case err != nil:
			return &p.result, fmt.Errorf("after %d inputs: %w", p.result.Inputs, err)
		}
		if over := p.take(&e); over {
			return &p.result, nil
		}
	}
	p.result.Stopped = true
	return &p.result, nil
}

// A player is the host and the tape of a station that is replayed.
type player struct {
	result Result
	draws  []station.Draw // those of the input that are left
	dry    bool           // there were too few
	out    station.Outcome
	did    []deed
	deeds  int // of did that are of this input
}

// begin makes the station.
func (p *player) begin(o Options) (err error) {
	h := p.result.Header
	c := station.Config{Begin: h.Begin, Spec: o.Spec, Host: p, Draw: p.draw, Tape: p}
	if c.Store, err = o.Store(h); err == nil {
		failed := p.guard(func() { p.result.Station, err = station.New(c) })
		if failed {
			err = errors.New(p.result.Panicked)
		}
	}
	if err != nil {
		return fmt.Errorf("begin as node %s did: %w", h.Begin.Name, err)
	}
	return nil
}

// guard reports whether something panics: no recording may do that to who replays it.
func (p *player) guard(f func()) (failed bool) {
	defer func() {
		if why := recover(); why != nil {
			p.result.Panicked, p.result.Station, failed = fmt.Sprint(why), nil, true
		}
	}()
	f()
	return false
}

// take hands over one input, and reports whether there is no more to be seen.
func (p *player) take(e *Entry) (over bool) {
	r := &p.result
	r.Inputs++
	r.ByKind[e.In.Kind]++
	r.Last = max(r.Last, e.In.At)
	p.draws, p.dry, p.deeds, p.out = e.Out.Draws, false, 0, station.Outcome{}
	failed := p.guard(func() { _ = r.Station.Do(&e.In) }) // whether it is refused is part of the outcome
	r.Crashed = e.Crashed
	var how []string
	switch {
	case failed && e.Crashed:
		return true
	case failed:
		how = []string{"it panics, which it did not: " + Plain(r.Panicked)}
	case e.Crashed:
		how = []string{"it panicked, and does not now"}
	case e.Out.Fault != "" && p.out.Fault == "":
		r.Fault = e.Out.Fault
		return true
	default:
		how = p.compare(&e.Out)
	}
	if len(how) == 0 {
		return false
	}
	r.Differs = &Difference{Input: r.Inputs, At: e.In.At, What: describe(&e.In), How: how}
	for i := range p.did[:p.deeds] {
		r.Differs.Did = append(r.Differs.Did, p.did[i].String())
	}
	return true
}

// compare says what differs from what was recorded.
func (p *player) compare(was *station.Outcome) (how []string) {
	is := &p.out
	say := func(format string, args ...any) { how = append(how, fmt.Sprintf(format, args...)) }
	for _, d := range [...]struct {
		what    string
		was, is station.Digest
	}{
		{"what applications and clients are told of their requests", was.Told, is.Told},
		{"what is sent to other nodes", was.Sends, is.Sends},
		{"what is sent to clients", was.Frames, is.Frames},
		{"which views are begun", was.Views, is.Views},
	} {
		switch {
		case d.was.Count != d.is.Count:
			say("%s: %d recorded, %d now", d.what, d.was.Count, d.is.Count)
		case d.was.Sum != d.is.Sum:
			say("%s: %d both times, with other bytes: digest %08x recorded, %08x now", d.what, d.is.Count, d.was.Sum, d.is.Sum)
		}
	}
	if p.dry || len(p.draws) > 0 {
		say("how often it draws: %d sessions recorded, %d now", len(was.Draws), len(is.Draws))
	}
	if was.Refused != is.Refused || was.Freed != is.Freed || was.Ticket != is.Ticket {
		say("what it answers: %s recorded, %s now", answered(was), answered(is))
	}
	if was.Fault != clipped(is.Fault) {
		say("why it must end: %q recorded, %q now", was.Fault, is.Fault)
	}
	if was.Due != is.Due {
		say("when it wants to be woken: %s recorded, %s now", p.moment(was.Due), p.moment(is.Due))
	}
	return how
}

// Took implements station.Tape.
func (p *player) Took(_ *station.Input, out *station.Outcome) { p.out = *out }

// Crashed implements station.Tape.
func (p *player) Crashed(*station.Input, *station.Outcome) {}

// draw returns what was drawn.
func (p *player) draw() (uint64, client.Secret) {
	if len(p.draws) == 0 {
		p.dry = true
		return 1, client.Secret{}
	}
	d := p.draws[0]
	p.draws = p.draws[1:]
	return d.Session, d.Secret
}

// Send implements station.Host.
func (p *player) Send(to string, b []byte) { p.note(sends, to, 0, b) }

// Post implements station.Host.
func (p *player) Post(conn uint64, b []byte, last bool) { p.note(posts, "", conn, b) }

// Told implements station.Host. Tickets that no client has are the applications'.
func (p *player) Told(e *member.Event) bool {
	switch e.Kind {
	case member.Held:
		p.result.Granted++
	case member.Lost:
		p.result.Lost++
	}
	p.note(tells, "", 0, nil).event = *e
	return false
}

// Installed implements station.Host.
func (p *player) Installed(r *engine.Record) {
	p.result.Views++
	p.result.Epoch = r.Epoch
	p.note(views, "", r.Epoch, nil)
}

// Ended implements station.Host.
func (p *player) Ended(how engine.Ending) { p.note(ends, "", uint64(how), nil) }
