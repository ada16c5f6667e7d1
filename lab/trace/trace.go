package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/draw"
)

// A Trace is the record of one run.
type Trace struct {
	N         int      // number of processes
	Title     string   // title above a picture
	Algorithm string   // name of the algorithm
	Kinds     []string // message kinds, in the order in which they get their colours
	Unit      int64    // ticks in one unit of time, a power of ten; 0 or 1 if the run is counted in steps
	Called    string   // name of a unit of time; "T" if empty
	Names     []string // names of the lanes of a picture; P1, P2, ... if empty
	Waiting   string   // meaning of the waiting bars of a picture; "waiting" if empty
	Inside    string   // meaning of the inside bars; "critical section" if empty
	Beside    string   // field of a message that is written beside its kind, if it is not a stamp; none if empty
	Events    []Event  // events in the order in which they happened
}

// laneName returns the name of a process's lane.
func (t *Trace) laneName(p algorithm.ID) string {
	if p >= 0 && int(p) < len(t.Names) && t.Names[p] != "" {
		return draw.Clean(t.Names[p])
	}
	return p.String()
}

// Sentence describes an event, with lanes by their names.
func (t *Trace) Sentence(e *Event) string { return e.sentence(t.laneName) }

// maxUnit keeps the arithmetic on times in range.
const maxUnit = 1_000_000_000_000

// maxTicks is far above the end of any run, and keeps sums in range.
const maxTicks = 1 << 60

// maxProcs is far above any group.
const maxProcs = 1_000_000

// Check returns an error that describes the first impossible thing in t.
func (t *Trace) Check() error {
	if t.N < 1 || t.N > maxProcs {
		return fmt.Errorf("a trace with %d processes: want 1 to %d", t.N, maxProcs)
	}
	if !unitOK(t.Unit) {
		return fmt.Errorf("a unit of %d ticks: want a power of ten up to %d", t.Unit, int64(maxUnit))
	}
	c := checker{t: t, sent: make(map[int]int), got: make(map[int]bool)}
	for i := range t.Events {
		if err := c.event(i); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return nil
}

func unitOK(unit int64) bool {
	for p := int64(1); p <= maxUnit; p *= 10 {
		if unit == p {
			return true
		}
	}
	return unit == 0
}

type checker struct {
	t    *Trace
	sent map[int]int  // event in which each message was sent, by number
	got  map[int]bool // whether it was received or lost
}

func (c *checker) event(i int) error {
	e := &c.t.Events[i]
	if int(e.Kind) >= len(kindNames) {
		return fmt.Errorf("unknown %v", e.Kind)
	}
	if e.Step < 0 || e.At < 0 || e.At > maxTicks {
		return fmt.Errorf("step %d at tick %d: want a step from 0 and a tick from 0 to %d", e.Step, e.At, int64(maxTicks))
	}
	if i > 0 {
		if before := &c.t.Events[i-1]; e.Step <= before.Step || e.At < before.At {
			return fmt.Errorf("step %d at tick %d does not come after step %d at tick %d", e.Step, e.At, before.Step, before.At)
		}
	}
	if !c.t.has(e.Proc) && !(e.Kind.placeless() && e.Proc == algorithm.None) {
		return fmt.Errorf("%v at process %d: want 1 to %d", e.Kind, e.Proc+1, c.t.N)
	}
	if e.Kind.peer() && !c.t.has(e.Peer) {
		return fmt.Errorf("%v with process %d as its peer: want 1 to %d", e.Kind, e.Peer+1, c.t.N)
	}
	if e.Kind == Violation && !c.t.has(e.Peer) && e.Peer != algorithm.None {
		return fmt.Errorf("%v with process %d as its peer: want 1 to %d, or none", e.Kind, e.Peer+1, c.t.N)
	}
	if !e.Kind.message() {
		return nil
	}
	return c.message(i, e)
}

func (c *checker) message(i int, e *Event) error {
	if e.Msg < 1 {
		return fmt.Errorf("%v of message %d: messages are numbered from 1", e.Kind, e.Msg)
	}
	at, known := c.sent[e.Msg]
	switch {
	case e.Kind == Send && known && c.t.Events[at].Kind == Send:
		return fmt.Errorf("message %d is sent twice, the first time in event %d", e.Msg, at)
	case e.Kind == Send && c.got[e.Msg]:
		return fmt.Errorf("message %d is sent after it has arrived", e.Msg)
	case e.Kind == Send || e.Kind == Duplicate && !known:
		c.sent[e.Msg] = i
		return nil
	}
	c.got[e.Msg] = true
	if !known {
		return nil // it was sent before this part of the run
	}
	s := &c.t.Events[at]
	from, to := e.Proc, e.Peer
	if e.Kind == Receive {
		from, to = to, from
	}
	if s.Proc != from || s.Peer != to || s.Name != e.Name {
		return fmt.Errorf("%v of message %d as %s from %v to %v, which was sent as %s from %v to %v",
			e.Kind, e.Msg, e.Name, from, to, s.Name, s.Proc, s.Peer)
	}
	return nil
}

func (t *Trace) has(p algorithm.ID) bool { return p >= 0 && int(p) < t.N }

// unit returns the number of ticks in one unit of time.
func (t *Trace) unit() int64 { return max(t.Unit, 1) }

// timed reports whether the run has a time of its own, rather than steps.
func (t *Trace) timed() bool { return t.Unit > 1 }

// decimal formats ticks in units, exactly, without trailing zeros.
func decimal(ticks, unit int64) string {
	s := strconv.FormatInt(ticks/unit, 10)
	if rest := ticks % unit; rest != 0 {
		digits := strconv.FormatInt(unit+rest, 10)[1:]
		s += "." + strings.TrimRight(digits, "0")
	}
	return s
}

// shown formats ticks in units for people: with at most three decimals.
func (t *Trace) shown(ticks int64) string {
	unit := t.unit()
	if unit > 1000 {
		fine := unit / 1000
		ticks = (ticks + fine/2) / fine
		unit = 1000
	}
	return decimal(ticks, unit)
}

// kinds returns all message kinds: those of t.Kinds, and any others in the order in which
// they first occur.
func (t *Trace) kinds() []string {
	kinds := slices.Clone(t.Kinds)
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind.message() && !slices.Contains(kinds, e.Name) {
			kinds = append(kinds, e.Name)
		}
	}
	return kinds
}
