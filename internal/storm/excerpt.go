package storm

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/trace"
)

// Closeup returns the part of a recorded run that Lost describes, for drawing: messages to
// and from the bank, the processes inside meanwhile, and the paused ones. Every event takes
// the same room, however long it took, because pauses are long. It returns the trace itself
// if nothing was lost.
func Closeup(t *trace.Trace) *trace.Trace {
	notes := booksOf(t)
	if len(notes) == 0 {
		return t
	}
	read, who := culprit(t, notes)
	c := excerpt{t: t, section: t.Events[read].Section, lane: make([]algorithm.ID, t.N)}
	c.choose(notes, read)
	c.mark(notes)
	short := *t
	short.N, short.Names = len(c.names), c.names
	short.Unit, short.Called = 0, ""
	short.Title = fmt.Sprintf("%s: %s writes to %s too late", t.Title, who, c.section)
	short.Events = c.events(c.begin(read, slices.Index(t.Names, who)))
	return &short
}

// An excerpt selects what matters to a branch.
type excerpt struct {
	t       *trace.Trace
	section string
	lane    []algorithm.ID // by lanes of the run; 0 for lanes that are left out, which the store is not
	names   []string
	stale   []int // numbers of the messages that came too late
}

// choose chooses the lanes: the store, and all processes that were there since.
func (c *excerpt) choose(notes []int, read int) {
	there := make([]bool, c.t.N)
	for _, i := range notes {
		if at := slices.Index(c.t.Names, c.t.Events[i].Fields[0].Value); i >= read && at >= 0 {
			there[at] = true
		}
	}
	c.names = []string{c.t.Names[storeID]}
	for at, yes := range there {
		if yes {
			c.lane[at] = algorithm.ID(len(c.names))
			c.names = append(c.names, c.t.Names[at])
		}
	}
}

// mark records which messages came too late: what the store has just received when it
// reports so.
func (c *excerpt) mark(notes []int) {
	for _, i := range notes {
		if !isLate(&c.t.Events[i]) {
			continue
		}
		for i--; i >= 0; i-- {
			if e := &c.t.Events[i]; e.Kind == trace.Receive && e.Proc == storeID {
				c.stale = append(c.stale, e.Msg)
				break
			}
		}
	}
}

// begin returns where the process whose read is given asked the bank for it, or entered.
func (c *excerpt) begin(read, who int) int {
	for i := read; i >= 0; i-- {
		if e := &c.t.Events[i]; e.Kind == trace.Send && int(e.Proc) == who && e.Peer == storeID && e.Section == c.section {
			if i > 0 && c.t.Events[i-1].Kind == trace.Enter && int(c.t.Events[i-1].Proc) == who {
				return i - 1
			}
			return i
		}
	}
	return read
}

// roomForLast is how much more room the last moment gets: the write that comes too late
// must be readable.
const roomForLast = 4

// events returns what is shown. Simultaneous events stay simultaneous.
func (c *excerpt) events(begin int) []trace.Event {
	var all []trace.Event
	step, last, end := int64(-1), int64(-1), c.t.Events[len(c.t.Events)-1].At
	for i := begin; i < len(c.t.Events); i++ {
		e := c.t.Events[i]
		if !c.shows(&e) {
			continue
		}
		if e.At != last {
			step, last = step+1, e.At
			if last == end {
				step += roomForLast
			}
		}
		e.At, e.Step = step, len(all)
		e.Proc, e.Peer = c.moved(e.Proc), c.moved(e.Peer)
		c.shorten(&e)
		all = append(all, e)
	}
	return all
}

// shorten removes from an event what all of them have, to make room for what it is about.
func (c *excerpt) shorten(e *trace.Event) {
	e.Section = ""
	if slices.Contains(c.stale, e.Msg) {
		e.Name = staleMark + " " + e.Name
	}
	if n := len(e.Fields); n > 1 {
		e.Fields = []host.Field{{Name: moneyField, Value: e.Fields[n-1].Value + " with " + e.Fields[0].Value}}
	}
}

// moved returns the new position of a lane.
func (c *excerpt) moved(p algorithm.ID) algorithm.ID {
	if p == algorithm.None || p == storeID {
		return min(p, 0)
	}
	return c.lane[p]
}

// shows reports whether an event is shown.
func (c *excerpt) shows(e *trace.Event) bool {
	switch e.Kind {
	case trace.Violation:
		return true
	case trace.Enter, trace.Exit:
		return e.Section == c.section && c.lane[e.Proc] > 0
	case trace.Send, trace.Receive, trace.Drop:
		return e.Section == c.section && (e.Proc == storeID || e.Peer == storeID) && e.Name != msgNames[savedMsg]
	case trace.Pause, trace.Resume, trace.Crash, trace.Restart:
		return c.lane[e.Proc] > 0
	}
	return false
}
