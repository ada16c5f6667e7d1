package document

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A recorder watches a replay and notes what changes.
type recorder struct {
	sc       *scenario.Scenario
	spec     algorithm.Spec
	sites    int // number of lanes that are sites; processes follow them
	lanes    []lane
	wire     wire
	rewriter rewriter

	lines  []LineEvents
	steps  []stepNote  // one for each step with events
	tricks []sim.Trick // events that an earlier line asked for
	bereft bool        // a process crashed while it waited
	graph  []WaitsFor
	edges  []Edge // current wait-for edges
	held   []held // transactions: last holder of each lock

	keys   []Key
	deltas []Delta
	seen   int // events so far
	bytes  int // approximate size of everything noted
}

// A stepNote says which line made the events of a step happen.
type stepNote struct{ from, line int }

// A lane is what is currently shown of a process or a site.
type lane struct {
	fields []host.Field
	status string
	paused bool
	wait   string
	timers []Timer
	phases []phase // one for each section it is part of, in the order of first use
	lock   string  // transactions: last lock it asked for
	stale  bool    // something that wait may depend on has changed
	cause  int     // number of the event that made it take its last step
}

// A phase is what a process is doing in one section.
type phase struct {
	section string
	is      string
	askedAt int64
	asked   []algorithm.ID // processes it sent to when it asked
	by      string         // kind of message it sent them
	because []because      // decisions by which it waits
}

func newRecorder(sc *scenario.Scenario, spec algorithm.Spec) *recorder {
	r := &recorder{sc: sc, spec: spec, sites: sc.Sites, wire: newWire(spec.Shape.Carrier), held: make([]held, len(sc.Locks))}
	r.lanes = make([]lane, sc.Sites+sc.Processes)
	for i := range r.lanes {
		r.lanes[i].status = Idle
	}
	return r
}

// name returns the displayed name of a lane.
func (r *recorder) name(i int) string {
	if i < r.sites {
		return "site " + itoa(i+1)
	}
	return algorithm.ID(i - r.sites).String()
}

// every returns the number of events between key frames.
func (r *recorder) every() int { return max(256, 16*len(r.lanes)) }

// watch receives each step: see sim.ReplayOptions.
func (r *recorder) watch(s *sim.Step) bool {
	first := len(r.keys) == 0
	if first {
		for _, c := range s.Changes {
			r.lanes[c.Proc].fields = apart(c.Fields)
		}
		for i, timers := range r.timers(s) {
			r.lanes[i].timers = timers
		}
		r.keyFrame(0)
		s.Changes = nil
	}
	if s.Line > 0 {
		r.lines = append(r.lines, LineEvents{s.Line, s.From, s.From + len(s.Events)})
	}
	for _, t := range s.Tricks {
		r.trick(t)
	}
	if len(s.Events) > 0 {
		r.steps = append(r.steps, stepNote{s.From, s.Line})
	}
	changes, noted := s.Changes, len(r.deltas)
	for i := range s.Events {
		changes = r.changesUpTo(changes, s.From+i)
		if i > 0 && s.Events[i].Kind == trace.Receive {
			r.pause(s.Moments)
		}
		r.happen(&s.Events[i], s.Events[max(0, i-1)].Kind == trace.Ask || s.Events[0].Kind == trace.Ask)
		r.decide(&s.Events[i])
		r.seen++
	}
	r.changesUpTo(changes, s.From+len(s.Events))
	r.ticking(s)
	r.waitFor(s.Graph)
	r.why()
	switch past := r.seen - r.keys[len(r.keys)-1].Event; {
	case past >= r.every():
		r.keyFrame(r.seen)
	case past == 0:
		r.amend(r.deltas[max(noted-1, 0):]) // a step that shows nothing
	}
	return r.bytes <= maxBytes
}

// pause notes which processes wait before a further message of a step arrives, because a
// page stops there.
func (r *recorder) pause(moments []sim.Moment) {
	for _, m := range moments {
		if m.After == r.seen {
			r.waitFor(m.Graph)
		}
	}
	r.why()
}

// trick notes an event that an earlier line asked for, and attributes it to that line.
func (r *recorder) trick(t sim.Trick) {
	r.tricks = append(r.tricks, t)
	if i := slices.IndexFunc(r.lines, func(l LineEvents) bool { return l.Line == t.Line }); i >= 0 {
		r.lines[i].From, r.lines[i].To = t.Event, t.Event+1
	}
}

// changesUpTo notes the changes that had happened after that many events, and returns the
// others.
func (r *recorder) changesUpTo(changes []sim.Change, events int) []sim.Change {
	for len(changes) > 0 && changes[0].After <= events {
		r.change(&changes[0])
		changes = changes[1:]
	}
	return changes
}

// change notes what has changed in a state.
func (r *recorder) change(c *sim.Change) {
	l := &r.lanes[c.Proc]
	now := apart(c.Fields)
	var set [][2]*string
	for i := range now {
		f := &now[i]
		if was, ok := value(l.fields, i, f.Name); !ok || was != f.Value {
			set = append(set, [2]*string{&f.Name, &f.Value})
		}
	}
	for i := range l.fields {
		if _, ok := value(now, i, l.fields[i].Name); !ok {
			set = append(set, [2]*string{&l.fields[i].Name, nil})
		}
	}
	l.fields = now
	if len(set) > 0 {
		r.touch(int(c.Proc))
		r.delta(Delta{Event: c.After, Proc: int(c.Proc), Set: set})
	}
}

// value returns a field by name; it is usually at the given place.
func value(fields []host.Field, place int, name string) (string, bool) {
	if place < len(fields) && fields[place].Name == name {
		return fields[place].Value, true
	}
	for i := range fields {
		if fields[i].Name == name {
			return fields[i].Value, true
		}
	}
	return "", false
}

// field returns the value of a field of a lane, or nothing.
func (l *lane) field(name string) string {
	if name == "" {
		return ""
	}
	v, _ := value(l.fields, 0, name)
	return v
}

// delta notes a change.
func (r *recorder) delta(d Delta) {
	r.bytes += 40
	for _, pair := range d.Set {
		r.bytes += len(*pair[0]) + 8
		if pair[1] != nil {
			r.bytes += len(*pair[1])
		}
	}
	if d.Wait != nil {
		r.bytes += len(*d.Wait) + 10
	}
	if n := len(r.deltas); n > 0 && r.deltas[n-1].Event == d.Event && r.deltas[n-1].Proc == d.Proc && (d.Set == nil || r.deltas[n-1].Set == nil) {
		last := &r.deltas[n-1] // the same moment
		if d.Set != nil {
			last.Set = d.Set
		}
		if d.Status != "" {
			last.Status = d.Status
		}
		if d.Wait != nil {
			last.Wait = d.Wait
		}
		if d.Timers != nil {
			last.Timers = d.Timers
		}
		return
	}
	r.deltas = append(r.deltas, d)
}

// amend updates the last key frame with deltas at its own cursor.
func (r *recorder) amend(deltas []Delta) {
	k := &r.keys[len(r.keys)-1]
	for _, d := range deltas {
		if d.Event == k.Event {
			l := &r.lanes[d.Proc]
			k.States[d.Proc], k.Status[d.Proc], k.Waits[d.Proc] = l.pairs(), l.status, l.wait
			k.tick(d.Proc, l.timers)
		}
	}
}

// pairs returns the fields of a lane in the form of a key frame.
func (l *lane) pairs() [][2]string {
	all := make([][2]string, len(l.fields))
	for i, f := range l.fields {
		all[i] = [2]string{f.Name, f.Value}
	}
	return all
}

// keyFrame notes the current state.
func (r *recorder) keyFrame(event int) {
	k := Key{Event: event, States: make([][][2]string, len(r.lanes)), Status: make([]string, len(r.lanes)), Waits: make([]string, len(r.lanes))}
	for i := range r.lanes {
		l := &r.lanes[i]
		k.States[i] = l.pairs()
		for _, f := range l.fields {
			r.bytes += len(f.Name) + len(f.Value) + 7
		}
		k.Status[i], k.Waits[i] = l.status, l.wait
		k.tick(i, l.timers)
		r.bytes += len(l.wait) + 14
	}
	r.keys = append(r.keys, k)
}
