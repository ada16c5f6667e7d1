package trace

import (
	"strconv"
	"strings"
)

// shivizParser is the first line of a log: how ShiViz is to read the rest. The
// second line, the separator of several runs, is empty.
const shivizParser = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`

// ShiViz writes a log that the ShiViz viewer opens as it is. It holds the
// events of processes, each with its vector clock. That a message was lost is
// told where it was sent, because nobody noticed the loss.
func (t *Trace) ShiViz() string {
	lost := make(map[int]bool)
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == Drop {
			lost[e.Msg] = true
		}
	}
	var b strings.Builder
	b.WriteString(shivizParser + "\n\n")
	c := t.Causality()
	for i := range t.Events {
		e := &t.Events[i]
		if c.own[i] == 0 {
			continue
		}
		b.WriteString(e.Proc.String() + " {")
		sep := ""
		for q, v := range c.Clock(i) {
			if v > 0 {
				b.WriteString(sep + `"P` + strconv.Itoa(q+1) + `":` + strconv.Itoa(int(v)))
				sep = ","
			}
		}
		b.WriteString("}\n" + shivizText(e, lost[e.Msg]) + "\n")
	}
	return b.String()
}

// shivizText is what the viewer shows for an event. It is never empty.
func shivizText(e *Event, lost bool) string {
	s := strings.TrimSpace(strings.TrimSuffix(e.Sentence(), "."))
	if s == "" {
		return e.Kind.String()
	}
	if lost && e.Kind == Send {
		s += ", which is lost"
	}
	return s
}
