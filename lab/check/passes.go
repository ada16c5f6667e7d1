package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/model"
)

// base makes the pass without monitors.
func (r *run) base() error {
	steps, err := r.reduce("", r.wanted(family.InSteps))
	if err != nil {
		return err
	}
	endless := r.endless()
	if len(steps)+len(endless) == 0 {
		return nil
	}
	m, err := r.model("", false)
	if err != nil {
		return err
	}
	e, err := r.explore(m, steps, len(endless) == 0)
	if err != nil || len(endless) == 0 {
		return err
	}
	return r.liveness(m, e)
}

// watched makes the passes with one monitor each.
func (r *run) watched() error {
	for _, p := range r.wanted(family.ByMonitor) {
		rest, err := r.reduce(p.Name, []family.Property{p})
		if err != nil {
			return err
		}
		if len(rest) == 0 {
			continue
		}
		m, err := r.model(p.Name, false)
		if err == nil {
			_, err = r.explore(m, rest, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bitsOf returns the bits that are set when a property is violated.
func (r *run) bitsOf(m *model.Model, property string) explore.Broken {
	var bits explore.Broken
	for _, s := range r.Family.Signs {
		if s.Breaks(property) {
			bits |= m.Bit(s.Name)
		}
	}
	return bits
}

// explore explores a group for some properties and judges them. If there is nothing else
// to look for, it ends where the only one is violated.
func (r *run) explore(m *model.Model, list []family.Property, alone bool) (*explore.Exploration, error) {
	l := r.remaining(passName(list))
	one := len(list) == 1 && alone && list[0].Name != Channels
	if one {
		l.Stop = r.bitsOf(m, list[0].Name)
	}
	if r.First {
		l.Stop = ^explore.Broken(0)
	}
	l.Stop |= m.Bit(Channels) // it would never end
	var trouble error
	look := func(l Limits) (*explore.Exploration, error) {
		return explore.ExploreTelling(m, l, func(now explore.Broken, so explore.Exploration) {
			trouble = errors.Join(trouble, r.early(m, list, now, so))
		})
	}
	if one && m.Seats > smallGroup {
		look = r.deeply(m, list[0].Name, look)
	}
	e, err := look(l)
	if e == nil {
		return nil, err
	}
	if err == nil && trouble == nil && e.Unfinished == "" && e.StepsTo(l.Stop) < 0 {
		err = r.validate(m)
	}
	switch {
	case errors.As(err, new(model.Cut)):
		e.Unfinished, err = err.Error(), nil
	case beyond(err):
		e, err = &explore.Exploration{Unfinished: err.Error(), Broken: e.Broken}, nil
	}
	r.report.count(e.States)
	if err := errors.Join(err, trouble); err != nil {
		r.report.counted(e)
		_ = r.all(m, e, list) // what was found is reported all the same, if possible
		return nil, err
	}
	r.hides(m)
	for b := range e.Broken {
		if b&l.Stop != 0 && e.Unfinished == "" {
			e.Unfinished = "the search stopped at a violation"
		}
	}
	if _, piled := e.Broken[m.Bit(Channels)]; piled {
		e.Unfinished = model.Piled
	}
	r.report.counted(e)
	for _, p := range list {
		if err := r.judge(m, e, p); err != nil {
			return nil, err
		}
	}
	r.enters(m, e)
	return e, nil
}

// The effort of validating a pass: the first one, and each with a monitor, in which the
// machines do hardly anything else.
const (
	fullEffort = 4000
	lessEffort = 500
)

// validate tests what the verdict holds rests on, after a search to the end. If the
// time does not suffice for that, the verdict is unfinished.
func (r *run) validate(m *model.Model) error {
	effort := fullEffort
	if r.validated++; r.validated > 1 {
		effort = lessEffort
	}
	if r.unproved == nil {
		r.unproved = m.Unproved()
	}
	return m.Validate(r.remaining("validation"), effort, r.validated)
}

// enters records whether any process ever enters: everything claimed may be true of a
// lock that never grants entry, which says nothing. If a violation has ended the search,
// a process might have entered later.
func (r *run) enters(m *model.Model, e *explore.Exploration) {
	switch {
	case !r.Family.Enters || !m.Vain():
		r.entered, r.vain = true, ""
	case r.entered || r.vain != "" || e.Unfinished != "" && r.report.First() != nil:
	case e.Unfinished != "":
		r.vain = "%s never granted a request in the explored states, so these results mean little"
	default:
		r.vain = "%s never grants a request, so its properties hold vacuously"
	}
}

// all reports all violations that were seen and not yet reported.
func (r *run) all(m *model.Model, e *explore.Exploration, list []family.Property) error {
	for _, f := range list {
		if bits := r.bitsOf(m, f.Name); e.StepsTo(bits) >= 0 && f.Moot == "" && r.report.Find(f.Name) == nil {
			if err := r.violated(m, e, f.Name, bits); err != nil {
				return err
			}
		}
	}
	return nil
}

// beyond reports whether an error means that a model exceeds what the checker can handle.
func beyond(err error) bool {
	return errors.As(err, new(model.LiftError)) || errors.As(err, new(model.TooMuch)) || errors.As(err, new(model.ClaimError)) || errors.As(err, new(model.Cut))
}

// passName names a pass over the states by what it looks for.
func passName(list []family.Property) string {
	switch len(list) {
	case 0:
		return "all states"
	case 1:
		return list[0].Name
	}
	return list[0].Name + "..."
}

// early makes the counterexamples to new violations, if there is room beside the
// exploration. If not, they are made at the end.
func (r *run) early(m *model.Model, list []family.Property, now explore.Broken, so explore.Exploration) error {
	for _, f := range list {
		bits := r.bitsOf(m, f.Name)
		if now&bits == 0 || f.Moot != "" || r.report.Find(f.Name) != nil {
			continue
		}
		p, _, err := r.way(m, f.Name, bits, so.Memory)
		if err != nil {
			return err
		}
		if p != nil {
			r.add(*p)
		}
	}
	return nil
}

// noToken is the reason why nothing can be said about a token.
const noToken = "it has no token"

// judge gives a property its verdict.
func (r *run) judge(m *model.Model, e *explore.Exploration, f family.Property) error {
	if r.report.Find(f.Name) != nil {
		return nil // it was reported when it was found
	}
	if bits := r.bitsOf(m, f.Name); e.StepsTo(bits) >= 0 && f.Moot == "" {
		return r.violated(m, e, f.Name, bits)
	}
	p := r.passed(e, f.Name)
	if p.Verdict == Unfinished {
		p.Note += sound(e.Whole)
	}
	switch name := f.Name; {
	case f.Moot != "":
		p.Verdict, p.Note = NotChecked, f.Moot
	case name == Token && !m.HasTokens():
		p.Verdict, p.Note = NotChecked, noToken
	case name == Alibi && !m.HasAlibis():
		p.Verdict, p.Note = NotChecked, "it gives no alibi"
	case name == Channels && e.Unfinished == "":
		p.Note = strings.TrimPrefix(p.Note+"; at most "+words.Plural(m.Longest(), "message")+" on one link", "; ")
	}
	r.add(p)
	return nil
}

// sound says up to which length all runs were examined, for an unfinished search that has
// found nothing.
func sound(levels int) string {
	if levels < 2 {
		return ""
	}
	return "; no violation in runs of up to " + words.Plural(levels-1, "step")
}

// passed returns the verdict on a property without a violation.
func (r *run) passed(e *explore.Exploration, name string) Property {
	p := Property{Name: name, Verdict: Holds, Note: r.bound()}
	switch {
	case e.Unfinished != "":
		p.Verdict, p.Note = Unfinished, e.Unfinished
	case r.Requests > 0 || r.Family.Timers == family.InUnits:
		p.Verdict = HoldsBounded
	}
	return p
}

// bound says what was bounded.
func (r *run) bound() string {
	note := ""
	if r.Family.Bounded != nil {
		note = r.Family.Bounded(r.Requests)
	}
	if r.bounded != "" {
		note += ", because " + r.bounded
	}
	deaths := howMany(r.Crashes, "crash")
	switch {
	case r.Family.Bounded == nil:
		return fmt.Sprintf("up to %s and %s", deaths, howMany(r.Comebacks, "comeback"))
	case r.Family.Timers == family.InUnits:
		if r.Comebacks > 0 {
			deaths += ", " + howMany(r.Comebacks, "comeback")
		}
		if r.Losses > 0 {
			deaths += ", " + howMany(r.Losses, "lost message")
		}
		return fmt.Sprintf("up to %s and %s", deaths, strings.TrimPrefix(note, "up to "))
	case r.Crashes > 0:
		return note + ", up to " + deaths
	}
	return note
}

// howMany formats a number of things, or that there are none.
func howMany(n int, one string) string {
	if n == 0 {
		return "no " + one
	}
	return words.Plural(n, one)
}

func (r *run) add(p Property) {
	if p.Trace == nil {
		p.Trace = []string{} // always a list in JSON
	}
	if r.wants(p.Name) && r.report.Find(p.Name) == nil {
		r.report.Properties = append(r.report.Properties, p)
		if p.Verdict == Violated && r.Found != nil {
			r.Found(p)
		}
	}
}

// starts checks all that is claimed, from every start of a view.
func (r *run) starts() error {
	for _, f := range r.wanted(family.AtStarts) {
		c := r.Config
		c.Starts = AnyStart(r.Nodes)
		c.Properties = slices.DeleteFunc(claims(r.Family, r.Spec), func(n string) bool {
			return n == f.Name || n == Channels || n == Convergence
		})
		c.Limits, c.Found = r.remaining(""), nil
		all := newRun(c)
		all.prefix = f.Name + ": "
		err := all.base()
		if err == nil && all.report.First() == nil {
			err = all.watched()
		}
		if err != nil && all.report.First() == nil {
			return err
		}
		if len(r.hidden) == 0 {
			r.hidden = all.hidden
		}
		if r.unproved == nil {
			r.unproved = all.unproved
		}
		r.report.counted(&explore.Exploration{States: all.report.States, Transitions: all.report.Transitions, Depth: all.report.Depth, Memory: all.report.Memory})
		all.report.sum(r.Family, r.started)
		r.report.Collision += all.report.Collision
		r.add(r.fromStarts(f.Name, all.report))
	}
	return nil
}

// fromStarts returns the verdict on the results from every start.
func (r *run) fromStarts(name string, all *Report) Property {
	if p := all.First(); p != nil {
		q := *p
		q.Name = name
		if q.Counterexample != nil {
			q.Counterexample.Title = title(r.Spec.Name, r.Nodes, name)
		}
		return q
	}
	p := r.passed(&explore.Exploration{}, name)
	var proved, open []string
	for _, q := range all.Properties {
		switch q.Verdict {
		case Unfinished:
			if open = append(open, fmt.Sprintf("%s (%s)", q.Name, q.Note)); r.foundInSteps(q.Name) {
				return Property{Name: name, Verdict: Unfinished, Note: q.Note}
			}
		case Holds, HoldsBounded:
			proved = append(proved, q.Name)
		}
	}
	if len(open) > 0 {
		p.Note = strings.TrimPrefix(p.Note+"; "+strings.Join(proved, ", ")+"; not "+strings.Join(open, ", "), "; ")
	}
	return p
}

// foundInSteps reports whether a property is found in states and steps: without those
// nothing is known.
func (r *run) foundInSteps(name string) bool {
	return slices.ContainsFunc(r.Family.Properties, func(p family.Property) bool { return p.Name == name && p.Found == family.InSteps })
}

// AnyStart returns every view of n processes: any holder, inside or not.
func AnyStart(n int) []algorithm.View {
	var views []algorithm.View
	for h := range algorithm.ID(n) {
		views = append(views, algorithm.View{N: n, Holder: h}, algorithm.View{N: n, Holder: h, Busy: true})
	}
	return views
}
