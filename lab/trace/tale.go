package trace

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
)

// Tale tells the trace as a story for people: one sentence for each row of the diagram,
// with what a reader would otherwise have to look up: which process requested earlier,
// and which keeps silent.
func (t *Trace) Tale(o TextOptions) string {
	w := &teller{t: t, now: t.lanes(), asked: make([]int, t.N), asks: map[int]bool{}}
	text := &textWriter{t: t, o: o}
	if text.o.Width == 0 {
		text.o.Width = 80
	}
	text.measure()
	last := int64(-1)
	for _, r := range t.rows() {
		e := &t.Events[r.lo]
		at := ""
		if e.At != last {
			at = text.when(e.At)
			last = e.At
		}
		at = fmt.Sprintf("%*s  ", text.time-2, at)
		s := w.sentence(r)
		w.happen(r)
		if s == "" {
			continue
		}
		for _, line := range wrap([]string{s}, text.o.Width-text.time) {
			text.line(at + strings.TrimSpace(line))
			at = strings.Repeat(" ", text.time)
		}
		for _, line := range text.reasons(r, text.o.Width-text.time) {
			text.line(at + line)
		}
	}
	return text.b.String()
}

// tell is the name of a message from application to application.
const tell = "TELL"

// A teller knows what has been told so far.
type teller struct {
	t     *Trace
	now   []lane
	asked []int        // number of each process's last request
	count int          // number of requests so far
	asks  map[int]bool // messages sent by a request
}

// happen records what the events of a row change.
func (w *teller) happen(r row) {
	for i := r.lo; i < r.hi; i++ {
		e := &w.t.Events[i]
		if !w.t.has(e.Proc) {
			continue
		}
		w.now[e.Proc].happen(e)
		if e.Kind == Ask {
			w.count++
			w.asked[e.Proc] = w.count
		}
		if e.Kind == Send && w.t.Events[r.lo].Kind == Ask {
			w.asks[e.Msg] = true
		}
	}
}

func (w *teller) sentence(r row) string {
	e := &w.t.Events[r.lo]
	peer := algorithm.None
	if e.Kind == Receive {
		peer = e.Peer
	}
	effects := w.does(row{r.lo + 1, r.hi}, peer)
	switch {
	case e.Kind == Send && e.Name == tell:
		return e.Proc.String() + " tells " + e.Peer.String() + "."
	case e.Kind == Receive && e.Name == tell && len(effects) == 0:
		return "" // already told
	case e.Kind == Receive:
		return w.received(e, effects)
	case len(effects) == 0:
		return e.Sentence()
	case e.Kind == Send || e.Kind == Enter: // nothing came before it
		return e.Proc.String() + " " + words.List(w.does(r, algorithm.None)) + "."
	}
	and := " and "
	if e.Kind == Expire {
		and = ", and it "
	}
	return strings.TrimSuffix(e.Sentence(), ".") + and + words.List(effects) + "."
}

// does tells the events of a row; a message to peer is an answer to it.
func (w *teller) does(r row, peer algorithm.ID) []string {
	t := w.t
	var all []string
	for i := r.lo; i < r.hi; {
		e := &t.Events[i]
		next := i + 1
		switch e.Kind {
		case Send:
			var to []string
			for next = i; t.alike(r, i, next, false); next++ {
				to = append(to, t.Events[next].Peer.String())
			}
			switch {
			case next == i: // lost at once
				all = append(all, "sends "+e.label()+" to "+e.Peer.String()+", which is lost")
				next = i + 2
			case len(to) == 1 && e.Peer == peer:
				all = append(all, "answers "+e.label())
			default:
				all = append(all, "sends "+e.label()+" to "+words.List(to))
			}
		default:
			s := strings.TrimSuffix(e.Sentence(), ".")
			all = append(all, strings.TrimPrefix(s, e.Proc.String()+" "))
		}
		i = next
	}
	return all
}

// received tells the outcome of a message.
func (w *teller) received(e *Event, effects []string) string {
	p, from := e.Proc, e.Peer
	subject := p.String()
	silent := e.Section == "" && w.asks[e.Msg] && w.t.has(from) && w.now[from].phase == waiting
	switch {
	case !silent:
	case w.now[p].phase == inside:
		subject += ", which is inside,"
	case w.now[p].phase == waiting && w.asked[p] < w.asked[from]:
		subject += ", which asked earlier,"
	case w.now[p].phase == waiting:
		subject += ", which asked later,"
	}
	s := fmt.Sprintf("%s receives %s from %v", subject, e.label(), from)
	switch {
	case len(effects) > 0:
		return s + " and " + words.List(effects) + "."
	case silent && w.now[p].phase != idle:
		return s + " and does not answer."
	}
	return s + "."
}
