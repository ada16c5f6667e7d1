package trace

// A letter is a message from its sending to its end.
type letter struct {
	begin  int // event in which it was sent or copied; -1 if that was before the trace
	end    int // event in which it arrived or was lost; -1 if it did not
	copied bool
}

// letters returns the messages of a trace, in the order in which they end; those that do
// not end come last. A message that arrives twice appears twice.
func (t *Trace) letters() []letter {
	begun := make(map[int]int) // event in which each message was sent, by number
	ended := make(map[int]bool)
	copied := make(map[int]bool)
	var all []letter
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case Send:
			begun[e.Msg] = i
		case Duplicate:
			begun[e.Msg], copied[e.Msg] = i, true
		case Receive, Drop:
			begin, ok := begun[e.Msg]
			if !ok {
				begin = -1
			}
			ended[e.Msg] = true
			all = append(all, letter{begin, i, copied[e.Msg]})
		}
	}
	for i := range t.Events {
		e := &t.Events[i]
		if (e.Kind == Send || e.Kind == Duplicate) && begun[e.Msg] == i && !ended[e.Msg] {
			all = append(all, letter{i, -1, copied[e.Msg]})
		}
	}
	return all
}

// in reports whether part of the message's path is in the window.
func (l letter) in(t *Trace, w *window) bool {
	switch {
	case l.begin < 0:
		return w.shows(t.Events[l.end].At)
	case l.end < 0:
		return w.shows(t.Events[l.begin].At)
	}
	return t.Events[l.begin].At <= w.To && t.Events[l.end].At >= w.From
}

// about returns an event that says what the message is.
func (l letter) about(t *Trace) *Event {
	if l.begin >= 0 {
		return &t.Events[l.begin]
	}
	return &t.Events[l.end]
}
