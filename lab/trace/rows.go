package trace

import (
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/draw"
)

// A row is one line of a diagram: what a process did at one moment, and what followed
// from it at once.
type row struct {
	lo, hi int // events lo .. hi-1
}

// rows groups the events: one that comes from outside, and what the process sends, enters
// and so on in the same step.
func (t *Trace) rows() []row {
	var rows []row
	for i := range t.Events {
		if n := len(rows); n > 0 && t.follows(rows[n-1], i) {
			rows[n-1].hi = i + 1
			continue
		}
		rows = append(rows, row{i, i + 1})
	}
	return rows
}

// follows reports whether event i is an effect of what began the row before.
func (t *Trace) follows(r row, i int) bool {
	first, e := &t.Events[r.lo], &t.Events[i]
	if e.Proc != first.Proc || t.timed() && e.At != first.At {
		return false
	}
	switch first.Kind {
	case Partition, Heal, Violation, Note, Drop, Crash, Pause:
		return false
	}
	switch e.Kind {
	case Send:
		return e.Name != tell // done by the application
	case Duplicate, Enter, Deny, Lead, Abort:
		return true
	case Drop:
		return t.Events[i-1].Kind == Send && t.Events[i-1].Msg == e.Msg
	}
	return false
}

// phrases describes a row in as few words as possible, with a phrase for each thing.
func (t *Trace) phrases(r row, fields bool) []string {
	var ps []string
	for i := r.lo; i < r.hi; {
		e := &t.Events[i]
		subject := t.laneName(e.Proc) + " "
		next := i + 1
		var s string
		switch e.Kind {
		case Receive:
			s = subject + "← " + t.laneName(e.Peer) + " " + t.caption(e, fields)
		case Drop:
			s = subject + "→ " + t.laneName(e.Peer) + " " + t.caption(e, fields) + " LOST"
		case Send, Duplicate:
			s, next = t.sending(r, i, fields)
			s = subject + s
		default:
			s = strings.TrimSuffix(t.Sentence(e), ".")
		}
		if i > r.lo {
			s = strings.TrimPrefix(s, subject)
		}
		ps = append(ps, s)
		i = next
	}
	return ps
}

// sending describes what is sent from event i on, and returns where that ends.
func (t *Trace) sending(r row, i int, fields bool) (phrase string, next int) {
	e := &t.Events[i]
	phrase = t.caption(e, fields) + " → " + t.laneName(e.Peer)
	if e.Kind == Duplicate {
		next = i + 1
		if next < r.hi && t.Events[next].Kind == Send && t.Events[next].Msg == e.Msg {
			next++
		}
		return "COPY of " + phrase, next
	}
	next = i
	for t.alike(r, i, next, fields) {
		next++
	}
	if next == i {
		return phrase + " LOST", i + 2
	}
	return t.caption(e, fields) + " → " + t.receivers(i, next), next
}

// alike reports whether event j sends the same message as event i, and the message is not
// lost at once.
func (t *Trace) alike(r row, i, j int, fields bool) bool {
	return j < r.hi && t.Events[j].Kind == Send && t.caption(&t.Events[j], fields) == t.caption(&t.Events[i], fields) &&
		!(j+1 < r.hi && t.Events[j+1].Kind == Drop)
}

func (t *Trace) receivers(i, j int) string {
	if j-i == t.N-1 && t.N > 3 {
		return "all"
	}
	var names []string
	for ; i < j; i++ {
		names = append(names, t.laneName(t.Events[i].Peer))
	}
	return strings.Join(names, " ")
}

// label returns the kind of the event's message.
func (e *Event) label() string {
	return strings.TrimSpace(draw.Clean(e.Section) + " " + draw.Clean(e.Name))
}

// caption returns the kind of the event's message with its stamp, or with all its fields
// if they are wanted.
func (t *Trace) caption(e *Event, fields bool) string {
	if fields && len(e.Fields) > 0 {
		return e.label() + "(" + e.said() + ")"
	}
	return strings.TrimSpace(e.label() + " " + t.stamp(e))
}

// arrow returns the message that the row is drawn with: the one whose arrival or loss
// begins it.
func (t *Trace) arrow(r row) (from, to algorithm.ID, lost, ok bool) {
	e := &t.Events[r.lo]
	switch {
	case e.Kind == Receive && t.has(e.Peer) && t.has(e.Proc):
		return e.Peer, e.Proc, false, true
	case e.Kind == Drop && t.has(e.Peer) && t.has(e.Proc):
		return e.Proc, e.Peer, true, true
	}
	return algorithm.None, algorithm.None, false, false
}

// stamp returns the stamp of a request, as (3,P1): the time at which it was made, and the
// process that made it. The time that other messages carry is a clock, or that of another
// process's request, and is shown only among their fields. The trace says which other
// field is shown beside a message.
func (t *Trace) stamp(e *Event) string {
	from := e.Proc
	if e.Kind == Receive {
		from = e.Peer
	}
	for _, f := range e.Fields {
		if f.Name == "time" && e.Name == "REQUEST" && f.Value != "none" {
			return "(" + draw.Clean(f.Value) + "," + t.laneName(from) + ")"
		}
		if f.Name == t.Beside && f.Name != "" {
			return draw.Clean(f.Value)
		}
	}
	return ""
}
