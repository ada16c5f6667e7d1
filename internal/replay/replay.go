package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/words"
)

// Options are the options of a replay.
type Options struct {
	// Logs returns what starts the logs of voters, with the header's Election, Heartbeat
	// and MaxLog.
	Logs func(h *Header) views.Logs
	// Spec returns an algorithm by its name.
	Spec  func(algorithm string, version int) (algorithm.Spec, error)
	Until int  // number of inputs to stop after; 0: all
	Steps bool // return what the machines of all locks did
}

// A Result is the result of a replay.
type Result struct {
	Header  *Header
	Inputs  int                // number of inputs handed in
	ByKind  [process.Kinds]int // the same by kind
	First   member.Instant     // time of the first one
	Last    member.Instant     // latest time of one
	Views   int                // number of installed views
	Epoch   uint64             // of the last view
	Granted int                // locks granted to applications and clients
	Lost    int                // number of these that were lost

	End      string // why the recording ends, as it says; empty if it does not say
	Torn     bool   // it ends in the middle of an entry
	Stopped  bool   // by Until
	Crashed  bool   // the node panicked in the last input
	Failed   string // why the process failed, when recorded and now; empty if it did not
	Differs  *Difference
	Process  *process.Process // state after the last input; nil if it has panicked
	Panicked string           // value of a panic of the process now
	Spans    []*Span          // with Options.Steps: the views that it was in
}

// Ended is the reason why the recording of a node ends that has ended itself.
const Ended = "the node has stopped"

// Whole reports whether the recording has everything that the process did. If not, it may
// have sent messages later than in the last input.
func (r *Result) Whole() bool {
	return !r.Stopped && r.Differs == nil && (r.End == Ended || r.Crashed || r.Failed != "")
}

// A Difference is where a process does not do what was recorded.
type Difference struct {
	Input int            // number of the input, from 1
	At    member.Instant // by the process's clock
	What  string         // the input, in words
	How   []string       // what differs
	Did   []string       // what the process does now
}

// Replay hands the inputs of a recording to a process, and compares the outcomes with the
// recorded ones. An error means that the recording cannot be read, or that no process can
// start as it says. The result then says how far the replay came, or is nil.
func Replay(r io.Reader, o Options) (*Result, error) {
	d, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	p := &player{options: o, result: Result{Header: &d.Header}}
	if err := p.begin(); err != nil {
		return nil, err
	}
	err = p.run(d)
	if p.tap != nil && err == nil {
		p.result.Spans, err = p.tap.result()
	}
	return &p.result, err
}

// A player is the host of a replayed process. It carries out no effects.
type player struct {
	options Options
	result  Result
	tap     *tap // nil unless the steps of machines are wanted
}

// run hands in all inputs.
func (p *player) run(d *Reader) error {
	var e Entry
	for p.options.Until == 0 || p.result.Inputs < p.options.Until {
		switch err := d.Next(&e); {
		case err == io.EOF:
			p.result.End = d.End
			return nil
		case errors.Is(err, ErrTorn):
			p.result.Torn = true
			return nil
		case err != nil:
			return fmt.Errorf("after %d inputs: %w", p.result.Inputs, err)
		}
		if over := p.take(&e); over {
			return nil
		}
	}
	p.result.Stopped = true
	return nil
}

// begin creates the process.
func (p *player) begin() (err error) {
	h := p.result.Header
	c := process.Config{Begin: h.Begin, Logs: p.options.Logs(h), Spec: p.options.Spec, Observe: true}
	if p.options.Steps {
		p.tap = &tap{}
		c.Spec = p.tap.specs(p.options.Spec)
	}
	if p.panics(func() { p.result.Process, err = process.New(c) }) {
		err = errors.New(p.result.Panicked)
	}
	if err != nil {
		return fmt.Errorf("create the process of node %s: %w", words.Quoted(h.Begin.Name), err)
	}
	if p.tap != nil {
		p.tap.process = p.result.Process
	}
	return nil
}

// panics reports whether f panics: no recording may crash a program that replays it.
func (p *player) panics(f func()) (panicked bool) {
	defer func() {
		if why := recover(); why != nil {
			p.result.Panicked, p.result.Process, panicked = fmt.Sprint(why), nil, true
		}
	}()
	f()
	return false
}

// take hands in one input, and reports whether the replay has ended.
func (p *player) take(e *Entry) (over bool) {
	r := &p.result
	if r.Inputs++; r.Inputs == 1 {
		r.First, r.Last = e.In.At, e.In.At
	}
	r.ByKind[e.In.Kind]++
	r.Last = max(r.Last, e.In.At)
	now := r.Process
	if p.tap != nil {
		p.tap.input = r.Inputs
	}
	panicked := p.panics(func() { now.Step(&e.In) })
	p.count(now.Out.Effects)
	if p.tap != nil {
		p.tap.took()
	}
	r.Crashed = e.Crashed
	var how []string
	switch {
	case panicked && e.Crashed:
		return true
	case panicked:
		how = []string{"the process panics now, but did not when recorded: " + words.Quoted(r.Panicked)}
	case e.Crashed:
		how = []string{"the process panicked when recorded, but does not now"}
	default:
		is := outcome(&now.Out)
		how = p.compare(&e.Out, &is)
		r.Failed = cmp.Or(r.Failed, is.Failed)
	}
	if len(how) == 0 {
		return false
	}
	r.Differs = &Difference{Input: r.Inputs, At: e.In.At, What: p.describe(&e.In), How: how}
	for i := range now.Out.Effects {
		if s := did(&now.Out.Effects[i]); s != "" {
			r.Differs.Did = append(r.Differs.Did, s)
		}
	}
	return true
}

// count counts what a reader of the result wants to know.
func (p *player) count(effects []process.Effect) {
	r := &p.result
	for i := range effects {
		switch e := &effects[i]; {
		case e.Kind == process.View:
			r.Views++
			r.Epoch = e.Record.Epoch
		case e.Kind != process.Notify && e.Kind != process.ClientEvent:
		case e.Event.Kind == member.Held:
			r.Granted++
		case e.Event.Kind == member.Lost:
			r.Lost++
		}
	}
}

// compare describes the differences from what was recorded.
func (p *player) compare(was, is *Outcome) (how []string) {
	say := func(format string, args ...any) { how = append(how, fmt.Sprintf(format, args...)) }
	for i, name := range classNames {
		switch was, is := was.Effects[i], is.Effects[i]; {
		case was.Count != is.Count:
			say("%s: %d recorded, %d now", name, was.Count, is.Count)
		case was.Sum != is.Sum:
			say("%s: %d both times, but with different contents: digest %08x recorded, %08x now", name, is.Count, was.Sum, is.Sum)
		}
	}
	if was.Refused != is.Refused || was.Ticket != is.Ticket {
		say("answer: %s recorded, %s now", was.answer(), is.answer())
	}
	if was.Failed != is.Failed {
		say("failure: %s recorded, %s now", was.failure(), is.failure())
	}
	if was.Wake != is.Wake {
		say("next wake: %s recorded, %s now", p.moment(was.Wake), p.moment(is.Wake))
	}
	return how
}
