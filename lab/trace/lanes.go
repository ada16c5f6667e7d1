package trace

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/draw"
)

// A phase is the phase of a process's request.
type phase uint8

const (
	idle phase = iota
	waiting
	inside
)

// A lane is the state of a process at one moment.
type lane struct {
	phase  phase
	down   bool // whether crashed
	paused bool
	wants  string // sections that it waits for, if there are several
	has    string // sections that it is in
}

// lanes returns the states of the processes before the first event. A process that leaves
// without having entered was inside from the start.
func (t *Trace) lanes() []lane {
	ls := make([]lane, t.N)
	type place struct {
		proc    algorithm.ID
		section string
	}
	known := make(map[place]bool)
	for i := range t.Events {
		e := &t.Events[i]
		at := place{e.Proc, e.Section}
		if !t.has(e.Proc) || known[at] || known[place{proc: e.Proc}] {
			continue
		}
		l := &ls[e.Proc]
		switch e.Kind {
		case Ask:
		case Enter, Deny:
			l.happen(&Event{Kind: Ask, Section: e.Section})
		case Exit:
			l.happen(&Event{Kind: Enter, Section: e.Section})
		case Restart:
			*l = lane{down: true}
		case Crash:
		default:
			continue
		}
		known[at] = true
	}
	return ls
}

// happen changes a lane according to an event at it.
func (l *lane) happen(e *Event) {
	switch e.Kind {
	case Ask, Enter, Exit, Deny:
		l.move(e)
	case Crash:
		*l = lane{down: true}
	case Restart:
		*l = lane{}
	case Pause:
		l.paused = true
	case Resume:
		l.paused = false
	}
}

// move changes what a process waits for and where it is.
func (l *lane) move(e *Event) {
	section := draw.Clean(e.Section)
	l.wants, l.has = without(l.wants, section), without(l.has, section)
	switch l.phase = idle; e.Kind {
	case Ask:
		l.phase, l.wants = waiting, strings.TrimSpace(l.wants+" "+section)
	case Enter:
		l.phase, l.has = inside, strings.TrimSpace(l.has+" "+section)
	}
	switch { // elsewhere it may be inside, or wait
	case l.has != "":
		l.phase = inside
	case l.wants != "":
		l.phase = waiting
	}
}

// without removes one of several words.
func without(words, word string) string {
	if words == "" {
		return ""
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(words), func(w string) bool { return w == word }), " ")
}

// name returns what a process waits for, or where it is.
func (l *lane) name() string {
	if l.phase == inside {
		return l.has
	}
	return l.wants
}
