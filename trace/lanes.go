package trace

// A phase is where a process stands with its request.
type phase uint8

const (
	idle phase = iota
	waiting
	inside
)

// A lane is how a process is at one moment.
type lane struct {
	phase  phase
	down   bool // crashed
	paused bool
}

// lanes returns how the processes are before the first event. Somebody who
// leaves without having entered was inside from the start.
func (t *Trace) lanes() []lane {
	ls := make([]lane, t.N)
	known := make([]bool, t.N)
	for i := range t.Events {
		e := &t.Events[i]
		if !t.has(e.Proc) || known[e.Proc] {
			continue
		}
		l := &ls[e.Proc]
		switch e.Kind {
		case Ask:
			l.phase = idle
		case Enter, Deny:
			l.phase = waiting
		case Exit:
			l.phase = inside
		case Restart:
			l.down = true
		case Crash:
		default:
			continue
		}
		known[e.Proc] = true
	}
	return ls
}

// happen changes a lane as an event at it does.
func (l *lane) happen(k Kind) {
	switch k {
	case Ask:
		l.phase = waiting
	case Enter:
		l.phase = inside
	case Exit, Deny:
		l.phase = idle
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
