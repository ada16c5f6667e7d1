package document

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/trace"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A wire tracks the messages in flight.
type wire struct {
	messages map[int]message
	links    map[link][]int // message numbers on each link, in the order of sending
	carrier  string         // kind of message that carries the token
	tokens   []message      // those in flight
	lost     []loss         // messages that were lost, the last ones
}

// A loss is a lost message, and when it was lost.
type loss struct {
	message
	at int64
}

const mostLost = 16 // losses that are remembered

// A message is one in flight.
type message struct {
	msg int
	link
	name    string
	section string
	fields  []host.Field
}

type link struct{ from, to algorithm.ID }

func newWire(carrier string) wire {
	return wire{messages: map[int]message{}, links: map[link][]int{}, carrier: carrier}
}

// happen notes what an event does to messages.
func (w *wire) happen(e *trace.Event) {
	l, known := w.messages[e.Msg]
	switch e.Kind {
	case trace.Send, trace.Duplicate:
		if known {
			return
		}
		l = message{e.Msg, link{e.Proc, e.Peer}, e.Name, e.Section, e.Fields}
		w.messages[e.Msg] = l
		w.links[l.link] = append(w.links[l.link], e.Msg)
		if e.Name == w.carrier {
			w.tokens = append(w.tokens, l)
		}
	case trace.Receive, trace.Drop:
		if e.Kind == trace.Drop && known {
			if len(w.lost) == mostLost {
				w.lost = slices.Delete(w.lost, 0, 1)
			}
			w.lost = append(w.lost, loss{l, e.At})
		}
		delete(w.messages, e.Msg)
		w.links[l.link] = slices.DeleteFunc(w.links[l.link], func(n int) bool { return n == e.Msg })
		w.tokens = slices.DeleteFunc(w.tokens, func(t message) bool { return t.msg == e.Msg })
	}
}

// between returns a message in flight in a section, of the given kind if name is set.
func (w *wire) between(from, to algorithm.ID, section, name string) (message, bool) {
	for _, n := range w.links[link{from, to}] {
		if l := w.messages[n]; l.section == section && (name == "" || l.name == name) {
			return l, true
		}
	}
	return message{}, false
}

// happen notes what an event means to its process. Asking says that the event is part of a
// request.
func (r *recorder) happen(e *trace.Event, asking bool) {
	r.wire.happen(e)
	switch e.Kind {
	case trace.Send, trace.Receive, trace.Drop, trace.Duplicate:
		r.mail()
	}
	for _, y := range e.Why[:explained(r.seen, e)] {
		r.bytes += len(y.Rule) + len(y.Text) + 7
	}
	r.bytes += 110 + 2*len(e.Name)
	for _, f := range e.Fields {
		r.bytes += 2*(len(f.Name)+len(f.Value)) + 8
	}
	if e.Proc < 0 || int(e.Proc) >= len(r.lanes) {
		return
	}
	l := &r.lanes[e.Proc]
	switch e.Kind {
	case trace.Ask:
		l.lock = e.Name
		x := l.phase(e.Section, Waiting)
		x.askedAt, x.asked, x.by, x.because = e.At, x.asked[:0], "", nil
	case trace.Enter:
		l.phase(e.Section, Inside)
		r.got(int(e.Proc), e.Name)
	case trace.Exit, trace.Deny:
		l.phase(e.Section, Idle)
		r.gave(int(e.Proc))
	case trace.Send:
		if x := l.at(e.Section); asking && x != nil && x.is == Waiting {
			x.asked, x.by = append(x.asked, e.Peer), cmp.Or(x.by, e.Name)
		}
		return
	case trace.Crash:
		r.bereft = r.bereft || l.does(Waiting)
		l.phases, l.paused = nil, false
		r.become(int(e.Proc), Crashed)
		return
	case trace.Restart: // it does nothing yet
	case trace.Pause:
		l.paused = true
	case trace.Resume:
		l.paused = false
	case trace.Lead:
		is := Follows
		if e.Peer == e.Proc {
			is = Leading
		}
		l.phase(e.Section, is)
	default:
		return
	}
	r.become(int(e.Proc), l.is())
}

// phase notes what a process is doing in a section.
func (l *lane) phase(section, is string) *phase {
	x := l.at(section)
	if x == nil {
		l.phases = append(l.phases, phase{section: section})
		x = &l.phases[len(l.phases)-1]
	}
	x.is = is
	return x
}

// at returns what a process is doing in a section; nil if it has not done anything there.
func (l *lane) at(section string) *phase {
	for i := range l.phases {
		if l.phases[i].section == section {
			return &l.phases[i]
		}
	}
	return nil
}

// is returns the most informative status.
func (l *lane) is() string {
	if l.paused {
		return Paused
	}
	for _, s := range []string{Inside, Waiting, Leading, Follows} {
		if l.does(s) {
			return s
		}
	}
	return Idle
}

// does reports whether a process is doing this in some section.
func (l *lane) does(what string) bool {
	return slices.ContainsFunc(l.phases, func(p phase) bool { return p.is == what })
}

// waits reports whether a live process waits in some section. It may be paused, or inside
// another section.
func (l *lane) waits() bool { return l.status != Crashed && l.does(Waiting) }

// become notes the status of a lane after the current event.
func (r *recorder) become(i int, status string) {
	l := &r.lanes[i]
	r.touch(i)
	d := Delta{Event: r.seen + 1, Proc: i}
	if l.status != status {
		l.status, d.Status = status, status
	}
	if l.wait != "" && !l.waits() {
		l.wait, d.Wait = "", new(string)
	}
	if d.Status != "" || d.Wait != nil {
		r.delta(d)
	}
}

// waitFor notes the wait-for graph, if it has changed.
func (r *recorder) waitFor(now *deadlock.Graph) {
	if now == nil {
		return
	}
	var edges []Edge
	for _, e := range now.Edges() {
		edges = append(edges, Edge{int(e.From) + r.sites, int(e.To) + r.sites, e.Label})
	}
	if slices.Equal(edges, r.edges) && len(r.graph) > 0 {
		return
	}
	r.edges = edges
	g := WaitsFor{Event: r.seen, Edges: edges, Cycles: [][]int{}}
	if g.Edges == nil {
		g.Edges = []Edge{}
	}
	for _, c := range now.Cycles() {
		var ring []int
		for _, p := range c {
			ring = append(ring, int(p)+r.sites)
		}
		g.Cycles = append(g.Cycles, ring)
	}
	r.graph = append(r.graph, g)
	r.bytes += 40 + 40*len(edges)
	r.rewriter.all = true
}
