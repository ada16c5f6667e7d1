package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// mostRounds is the maximum number of rounds that look for lines that can no longer happen.
// If some remain, all later lines are removed.
const mostRounds = 4

// write inserts the line into the text, and makes sure that the text runs.
func (a *actor) write(o Options) (*Edit, error) {
	text, line := a.insert()
	e := &Edit{Text: text, Line: line}
	for round := 0; ; round++ {
		sc, err := parse(e.Text, o)
		if err != nil {
			return nil, a.refused(err, e.Line)
		}
		v, err := a.try(sc, e.Line, o)
		switch {
		case err != nil:
			return nil, a.refused(err, e.Line)
		case len(v.skipped) == 0:
			return a.finish(e, v)
		case round < mostRounds:
			e.cut(v.skipped)
		default:
			e.cut(later(sc, v.skipped[0], e.Line))
		}
	}
}

// A trial is a run of a text that contains the line.
type trial struct {
	back    *sim.Playback
	done    bool  // the line has run
	from    int   // number of events before it
	event   int   // number of events after it
	lines   int   // number of lines that ran before it
	skipped []int // later lines that cannot run, in order of time
}

// try runs a text, skipping what cannot run after the line.
func (a *actor) try(sc *scenario.Scenario, line int, o Options) (*trial, error) {
	v := &trial{}
	var err error
	v.back, err = sim.Replay(a.spec, sc, sim.ReplayOptions{Until: MaxEvents, Over: o.Over, Brief: true,
		Watch: func(s *sim.Step) bool {
			switch {
			case s.Line == line:
				v.done, v.from, v.event = true, s.From, s.From+len(s.Events)
			case s.Line > 0 && !v.done:
				v.lines++
			}
			return true
		},
		Skip: func(l int, _ error) bool {
			if l == line {
				return false
			}
			v.skipped = append(v.skipped, l)
			return true
		}})
	return v, err
}

// finish finds the cursor after the line, in a text that runs.
func (a *actor) finish(e *Edit, v *trial) (*Edit, error) {
	switch {
	case !v.done && v.back.Stopped:
		return nil, errLong
	case !samePast(a.past, v.back.Events):
		return nil, errPast
	case !v.done:
		return nil, fmt.Errorf("%v: the run ends before this can happen", a.action)
	case v.from != len(a.past) || v.lines != a.now.lines || !a.hits(v):
		return nil, fmt.Errorf("%v: this would happen at another time, or to another message: step back, or write the line yourself", a.action)
	}
	e.Event = v.event
	return e, nil
}

// hits reports whether an action on a message affected that very message, as far as visible
// events can show: an action on a message that is yet to be sent shows nothing.
func (a *actor) hits(v *trial) bool {
	switch a.action.Kind {
	case script.Duplicate:
		return v.from < v.event
	case script.Drop, script.Deliver:
		return v.from < v.event && renumber(v.back.Events)[v.back.Events[v.from].Msg] == a.user.Msg
	}
	return true
}

// refused says why the action is impossible.
func (a *actor) refused(err error, line int) error {
	if at := located(err); at.Line == line {
		return errors.New(at.Text)
	}
	return located(err)
}

// cut removes lines.
func (e *Edit) cut(out []int) {
	lines := strings.Split(e.Text, "\n")
	slices.Sort(out)
	for _, l := range slices.Backward(out) {
		lines = slices.Delete(lines, l-1, l)
		if e.Cut++; l < e.Line {
			e.Line--
		}
	}
	e.Text = strings.Join(lines, "\n")
}

// later returns a line and all that happen after it, except the one to keep.
func later(sc *scenario.Scenario, line, keep int) []int {
	var all []int
	at := slices.IndexFunc(sc.Actions, func(x script.Action) bool { return x.Line == line })
	for i, x := range sc.Actions {
		if x.Line != keep && (x.At > sc.Actions[at].At || x.At == sc.Actions[at].At && i >= at) {
			all = append(all, x.Line)
		}
	}
	return all
}

// insert puts the line where it belongs, and returns the text and the line's number.
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

// joined joins lines and ends the text with a single newline.
func joined(lines []string) string {
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// spot returns the line of the text, from 0, before which the new one goes.
func (a *actor) spot(lines []string) int {
	if next := a.next(); next > 0 {
		return a.sc.Actions[next-1].Line // above the comments on the next one
	} else if next == 0 {
		return a.sc.Actions[0].Line - 1
	}
	last, first := 0, 0
	for i, x := range a.sc.Actions {
		if first == 0 || x.Line < first {
			first = x.Line
		}
		if a.sc.Steps && i < a.now.lines || !a.sc.Steps && x.At <= a.action.At {
			last = max(last, x.Line)
		}
	}
	switch {
	case last > 0:
		for a.sc.Steps && last < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[last]), "expect P") {
			last++ // an expectation at this point of the schedule
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

// next returns the first action of the same time that has not run by then; -1 if there is
// none. Lines of the same time run in the order of the text.
func (a *actor) next() int {
	done := a.now.lines
	for _, x := range a.sc.Actions {
		if x.At < a.action.At {
			done--
		}
	}
	for i, x := range a.sc.Actions {
		if a.sc.Steps || x.At != a.action.At {
			continue
		}
		if done--; done < 0 {
			return i
		}
	}
	return -1
}
