package document

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
)

// misdone says what is wrong with an edit of a document's text: the line is done
// too early or too late, changes what was before it, or is not the deed. It
// returns nothing if all is well.
func misdone(was *Document, cursor int, deed UserAction, e *Edit) string {
	now := run(e.Text, Options{}, undrawn)
	if now.Error != nil {
		return now.Error.Text
	}
	i := slices.IndexFunc(now.Lines, func(l LineEvents) bool { return l.Line == e.Line })
	if i < 0 {
		return "the line is not done"
	}
	cursor = min(cursor, was.Ended)
	for _, l := range was.Lines {
		if l.From < cursor && cursor < l.To {
			cursor = l.To // nothing comes between what one line does
		}
	}
	from, to := now.Lines[i].From, now.Lines[i].To
	if from < cursor || from > was.Ended {
		return fmt.Sprintf("it is done after %d events", from)
	}
	for k := cursor; k < from; k++ {
		x := was.Events[k]
		if x.Part || was.Steps && cursor == 0 && x.Line == 0 {
			continue
		}
		if x.Line > 0 || k == 0 || x.At != was.Events[k-1].At || was.Events[k-1].Line > 0 {
			return fmt.Sprintf("%q comes before it", x.Text)
		}
	}
	if !samePages(was.Events[:from], now.Events[:from], e) {
		return "what was before it is not the same"
	}
	if e.Event != to {
		return fmt.Sprintf("the cursor goes to %d, but it is done at %d", e.Event, to)
	}
	return otherDeed(now, from, to, deed)
}

// kindsOf are the events that deeds to processes begin with.
var kindsOf = map[string]string{
	"ask": "ask", "leave": "exit", "crash": "crash", "restart": "restart", "pause": "pause", "resume": "resume",
	"suspect": "suspect", "trust": "trust", "tell": "send", "expire": "expire", "take": "ask",
}

// otherDeed says what was done instead of a deed, by the events from one to
// before another; nothing if it was that.
func otherDeed(d *Document, from, to int, deed UserAction) string {
	var first Event
	if from < to {
		first = d.Events[from]
	}
	told := fmt.Sprintf("%s is told as %q", deed.Verb, first.Text)
	kind, mine := kindsOf[deed.Verb]
	switch deed.Verb {
	case "deliver", "overtake":
		if first.Kind != "receive" && first.Kind != "drop" || first.Msg != deed.Msg {
			return told
		}
	case "drop":
		if first.Kind != "drop" || first.Msg != deed.Msg {
			return told
		}
	case "duplicate":
		sent := sending(d, deed.Msg)
		if first.Kind != "duplicate" || first.Proc != sent.Proc || first.Peer != sent.Peer || first.Name != sent.Name || !slices.Equal(first.Fields, sent.Fields) {
			return told
		}
	case "delay":
		return hasty(d, deed)
	case "partition", "heal":
		if first.Kind != deed.Verb {
			return told
		}
	}
	if d.Kind == "election" && deed.Verb == "ask" {
		kind = "note"
	}
	waits := from == to && (deed.Verb == "take" || deed.Verb == "start") // for its turn; nothing may come of a start
	if mine && !waits && (first.Kind != kind || first.Proc != deed.Proc) {
		return told
	}
	return ""
}

// sending returns the event that sent a message.
func sending(d *Document, msg int) Event {
	i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Msg == msg && (e.Kind == "send" || e.Kind == "duplicate") })
	return d.Events[i]
}

// hasty says that a message was delayed and came earlier, if no line had it come.
func hasty(d *Document, deed UserAction) string {
	for _, e := range d.Events {
		if e.Msg == deed.Msg && e.Kind == "receive" && e.Line == 0 && e.At < sending(d, deed.Msg).At+int64(deed.By*scenario.T) {
			return "it is delayed and comes early: " + e.Text
		}
	}
	return ""
}

// clicks clicks at random cursors of a run, all over again, and calls f with
// each edit.
func clicks(t *testing.T, start string, n int, f func(d *Document, cursor int, deed UserAction, text string, e *Edit)) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	text, done := start, 0
	d := run(text, Options{}, undrawn)
	for tries := 0; done < n; tries++ {
		if tries > 60*n {
			t.Fatalf("only %d of %d tries were possible", done, tries)
		}
		if len(d.Lines) > 12 || r.IntN(40) == 0 {
			text = start
			d = run(text, Options{}, undrawn)
		}
		cursor := r.IntN(min(d.Ended, 60) + 1)
		deed := anyDeed(r, d, cursor, true)
		e, err := Act(text, Options{}, cursor, deed)
		if err != nil {
			continue
		}
		done++
		f(d, cursor, deed, text, e)
		text = e.Text
		d = run(text, Options{}, undrawn)
	}
}

// TestClickIsNow: what is clicked happens there and then, to whom and to what it
// was meant, whatever lines are due at the same time.
func TestClickIsNow(t *testing.T) {
	every(func(name string, _ algorithm.Spec) {
		for _, byStep := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "/steps", false: "/timed"}[byStep], func(t *testing.T) {
				t.Parallel()
				clicks(t, bare(name, byStep), *steps, func(d *Document, cursor int, deed UserAction, text string, e *Edit) {
					if wrong := misdone(d, cursor, deed, e); wrong != "" {
						t.Fatalf("%+v at %d: %s: line %d of\n%s\nwhich was\n%s", deed, cursor, wrong, e.Line, e.Text, text)
					}
				})
			})
		}
	})
}

// TestLateClickIsFound: a line that is put behind all others of its time, as if
// they had been done, is found to be wrong.
func TestLateClickIsFound(t *testing.T) {
	moved, found := 0, 0
	clicks(t, bare("ricart-agrawala", false), 200, func(d *Document, cursor int, deed UserAction, _ string, e *Edit) {
		late, ok := behindOthers(e)
		if !ok {
			return
		}
		moved++
		if misdone(d, cursor, deed, late) != "" {
			found++
		}
	})
	if found == 0 || found < moved/2 {
		t.Errorf("of %d lines that come too late %d were found", moved, found)
	}
}

// behindOthers moves the line of an edit behind the last one of its time.
func behindOthers(e *Edit) (*Edit, bool) {
	lines := strings.Split(e.Text, "\n")
	line := lines[e.Line-1]
	when := strings.Join(strings.Fields(line)[:2], " ") + " "
	last := e.Line
	for i, s := range lines {
		if strings.HasPrefix(s, when) {
			last = i + 1
		}
	}
	if last == e.Line {
		return nil, false
	}
	lines = slices.Insert(lines, last, line)
	lines = slices.Delete(lines, e.Line-1, e.Line)
	late := &Edit{Text: strings.Join(lines, "\n"), Line: last}
	d := run(late.Text, Options{}, undrawn)
	if i := slices.IndexFunc(d.Lines, func(l LineEvents) bool { return l.Line == last }); i >= 0 {
		late.Event = d.Lines[i].To
	}
	return late, true
}

// TestBeforeWhatIsDue: a click comes before the line that is due at the nicest time.
func TestBeforeWhatIsDue(t *testing.T) {
	const head = "algorithm ricart-agrawala\nprocesses 3\n\nat 0 P1 asks\n"
	for _, c := range []struct {
		rest  string
		deed  UserAction
		added string
		event int
		cut   int
	}{
		{"at 0.1 deliver 1 -> 2 REQUEST\nat 5 P1 asks\n", UserAction{Verb: "drop", Msg: 1}, "at 0.1 drop 1 -> 2 REQUEST", 4, 2},
		{"# so does P2\nat 0.1 P2 asks\n", UserAction{Verb: "ask", Proc: 1}, "at 0.1 P2 asks", 6, 1},
		{"at 0.1 P2 asks\n", UserAction{Verb: "crash", Proc: 1}, "at 0.1 crash P2", 4, 1},
		{"at 0 P2 asks\n", UserAction{Verb: "pause", Proc: 2}, "at 0 pause P3", 4, 0},
		{"at 0.1 P2 asks\n", UserAction{Verb: "delay", Msg: 1, By: 3}, "at 0.1 delay 1 -> 2 REQUEST by 3", 3, 0},
		{"at 7 drop 2 -> 3\n", UserAction{Verb: "ask", Proc: 2}, "at 0.1 P3 asks", 6, 0}, // what shows nothing has its own time
	} {
		e, err := Act(head+c.rest, Options{}, 3, c.deed)
		if err != nil {
			t.Errorf("%+v: %v", c.deed, err)
			continue
		}
		if got := strings.Split(e.Text, "\n")[4]; got != c.added || e.Line != 5 || e.Event != c.event || e.Cut != c.cut {
			t.Errorf("%+v: line %d, event %d, %d lines cut:\n%s", c.deed, e.Line, e.Event, e.Cut, e.Text)
		}
	}
}

// TestNoLineBetween: of two that happen by themselves at one time the second cannot
// be kept from it, and that is said.
func TestNoLineBetween(t *testing.T) {
	const text = "algorithm ricart-agrawala\nprocesses 3\n\nat 0 P1 asks\n"
	d := run(text, Options{}, undrawn)
	at := slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == "receive" }) + 1
	_, err := Act(text, Options{}, at, UserAction{Verb: "drop", Msg: 2})
	if err == nil || !strings.Contains(err.Error(), "no longer in flight") {
		t.Errorf("got %v", err)
	}
}
