package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// mostCuts is how many lines that cannot happen any more are taken out one by
// one; if there are more, all that come later go.
const mostCuts = 20

// write puts the line into the text, and sees to it that the text runs.
func (a *actor) write(o Options) (*Edit, error) {
	text, line := a.insert()
	e := &Edit{Text: text, Line: line}
	for {
		sc, err := parse(e.Text, o)
		if err != nil {
			return nil, a.refused(err, e.Line)
		}
		now, err := play(a.spec, sc)
		var wrong *sim.LineError
		switch {
		case err == nil:
			return a.finish(e, now)
		case !errors.As(err, &wrong) || wrong.Line == e.Line || !slices.ContainsFunc(sc.Actions, func(x scenario.Action) bool { return x.Line == wrong.Line }):
			return nil, a.refused(err, e.Line)
		case e.Cut >= mostCuts:
			a.cutFrom(e, sc, wrong.Line)
		default:
			e.cut(wrong.Line)
		}
	}
}

// finish finds the cursor after the line, in a text that runs.
func (a *actor) finish(e *Edit, now *played) (*Edit, error) {
	if !samePast(a.was.back.Events, now.back.Events, a.past) {
		return nil, errPast
	}
	e.Event = a.past
	for _, l := range now.lines {
		if l.Line == e.Line {
			e.Event = max(l.To, a.past)
			return e, nil
		}
	}
	return nil, fmt.Errorf("%v: the run is over before this can happen", a.action)
}

// refused says why the deed cannot be done.
func (a *actor) refused(err error, line int) error {
	if at := located(err); at.Line == line {
		return errors.New(at.Text)
	}
	return located(err)
}

// cut takes a line out.
func (e *Edit) cut(line int) {
	lines := strings.Split(e.Text, "\n")
	e.Text = strings.Join(slices.Delete(lines, line-1, line), "\n")
	e.Cut++
	if line < e.Line {
		e.Line--
	}
}

// cutFrom takes out a line and all that happen after it.
func (a *actor) cutFrom(e *Edit, sc *scenario.Scenario, line int) {
	var later []int
	at := slices.IndexFunc(sc.Actions, func(x scenario.Action) bool { return x.Line == line })
	for i, x := range sc.Actions {
		if x.Line != e.Line && (x.At > sc.Actions[at].At || x.At == sc.Actions[at].At && i >= at) {
			later = append(later, x.Line)
		}
	}
	slices.Sort(later)
	for _, l := range slices.Backward(later) {
		e.cut(l)
	}
}

// insert puts the line where it belongs, and returns its number.
func (a *actor) insert() (string, int) {
	lines := strings.Split(a.text, "\n")
	s := a.action.String()
	if !a.sc.Steps {
		s = "at " + scenario.FormatTime(a.action.At) + " " + s
	}
	at := a.spot(lines)
	add := []string{s}
	if len(a.sc.Actions) == 0 {
		if at > 0 && strings.TrimSpace(lines[at-1]) != "" {
			add, at = []string{"", s}, at+1
			lines = slices.Insert(lines, at-1, add...)
			return joined(lines), at + 1
		}
		if at < len(lines) && strings.TrimSpace(lines[at]) != "" {
			add = []string{s, ""}
		}
	}
	return joined(slices.Insert(lines, at, add...)), at + 1
}

// joined ends the last line, too.
func joined(lines []string) string {
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// spot returns before which line of the text, from 0, the new one goes.
func (a *actor) spot(lines []string) int {
	last, first := 0, 0
	for i, x := range a.sc.Actions {
		if first == 0 || x.Line < first {
			first = x.Line
		}
		if a.sc.Steps && i < a.count || !a.sc.Steps && x.At <= a.action.At {
			last = max(last, x.Line)
		}
	}
	switch {
	case last > 0:
		for a.sc.Steps && last < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[last]), "expect P") {
			last++ // what is expected where it stands
		}
		return last
	case first > 0:
		return first - 1
	}
	if at := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "expect ") }); at >= 0 {
		return at
	}
	at := len(lines)
	for at > 0 && strings.TrimSpace(lines[at-1]) == "" {
		at--
	}
	return at
}
