package trace

import (
	"fmt"
	"strings"
)

// count records how much of the run is in the window.
func (t *Trace) count(w *window) {
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == Enter {
			w.AllEntries++
			if w.shows(e.At) {
				w.Entries++
			}
		}
	}
	for _, l := range t.letters() {
		w.AllMessages++
		if l.in(t, w) {
			w.Messages++
		}
	}
}

// partSentence describes the part of the run that is shown.
func (t *Trace) partSentence(w window) string {
	if len(t.Events) == 0 {
		return "nothing happened"
	}
	var when string
	switch {
	case w.Whole:
		when = "all of " + t.shown(w.End) + t.unitName()
	case t.timed():
		when = fmt.Sprintf("time %s to %s of %s%s", t.shown(w.From), t.shown(w.To), t.shown(w.End), t.unitName())
	default:
		when = fmt.Sprintf("steps %d to %d of %d", w.From, w.To, w.End)
	}
	parts := []string{when, share(w.Messages, w.AllMessages, "message", "messages")}
	if w.AllEntries > 0 {
		parts = append(parts, share(w.Entries, w.AllEntries, "entry", "entries"))
	}
	return strings.Join(parts, "; ")
}

// share formats how many of all there are: 84 of 920 messages, or 920 messages.
func share(some, all int, one, many string) string {
	switch {
	case some != all:
		return fmt.Sprintf("%d of %d %s", some, all, many)
	case all == 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", all, many)
}
