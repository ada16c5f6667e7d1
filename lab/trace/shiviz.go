package trace

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/stile-lock/stile/algorithm"
)

// shivizParser is the first line of a log: it tells ShiViz how to read the rest. The
// second line, the separator of several runs, is empty.
const shivizParser = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`

// ShiViz returns a log that the ShiViz viewer opens unchanged. It holds the events of
// processes, each with its vector clock. The loss of a message is shown where it was
// sent, because no process noticed the loss.
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
		b.WriteString(t.host(e.Proc) + " {")
		sep := ""
		for q, v := range c.Clock(i) {
			if v > 0 {
				b.WriteString(sep + `"` + t.host(algorithm.ID(q)) + `":` + strconv.Itoa(int(v)))
				sep = ","
			}
		}
		b.WriteString("}\n" + t.shivizText(e, lost[e.Msg]) + "\n")
	}
	return b.String()
}

// host returns the name of a lane for the viewer, without characters that have a meaning
// in the format.
func (t *Trace) host(p algorithm.ID) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("\"\\{}", r) {
			return '-'
		}
		return r
	}, t.laneName(p))
}

// shivizText returns what the viewer shows for an event. It is never empty.
func (t *Trace) shivizText(e *Event, lost bool) string {
	s := strings.TrimSpace(strings.TrimSuffix(t.Sentence(e), "."))
	if s == "" {
		return e.Kind.String()
	}
	if lost && e.Kind == Send {
		s += ", which is lost"
	}
	return s
}
