package sim

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Difference is an outcome that differs from the expected one.
type Difference struct {
	Line int    // line of the expectation in the file; 0 if there is none
	Want string // in the words of the file
	Got  string
}

// String describes the difference in words.
func (d Difference) String() string {
	s := fmt.Sprintf("wanted %s, got %s", d.Want, d.Got)
	if d.Line > 0 {
		s = fmt.Sprintf("line %d: %s", d.Line, s)
	}
	return s
}

// A judge compares a run with its expectations.
type judge struct {
	p     *player
	open  []script.Expectation // expectations whose moment has not come yet
	found []Difference
	times map[Entry]int    // number of entries of each process, at any time
	ahead []script.Caption // captions whose moment has not come yet
}

func newJudge(p *player) *judge {
	j := &judge{p: p, times: map[Entry]int{}, ahead: slices.Clone(p.sc.Captions)}
	j.say(func(m script.Moment) bool { return m.Kind == script.AtStart })
	for _, e := range p.sc.Expect {
		if e.Kind == script.FieldIs || e.Kind == script.PhaseIs || e.Kind == script.WaitsFor {
			j.open = append(j.open, e)
		}
	}
	return j
}

// due checks the expectations whose moment has come, and notes the captions.
func (j *judge) due(now func(m script.Moment) bool) {
	j.say(now)
	j.open = slices.DeleteFunc(j.open, func(e script.Expectation) bool {
		if !now(e.When) {
			return false
		}
		j.p.cast.state(j, e)
		return true
	})
}

// say notes the captions whose moment has come.
func (j *judge) say(now func(m script.Moment) bool) {
	j.ahead = slices.DeleteFunc(j.ahead, func(c script.Caption) bool {
		if !now(c.When) {
			return false
		}
		j.p.back.Captions = append(j.p.back.Captions, Caption{len(j.p.back.Events), c.Text, c.Line})
		return true
	})
}

func (j *judge) after(actions int) {
	j.due(func(m script.Moment) bool { return m.Kind == script.AfterActions && m.Count == actions })
}

func (j *judge) before(at int64) {
	j.due(func(m script.Moment) bool { return m.Kind == script.AtTime && m.At < at })
}

func (j *judge) entered(e Entry) {
	who := Entry{Proc: e.Proc, Section: e.Section}
	j.times[who]++
	j.due(func(m script.Moment) bool {
		return m.Kind == script.OnEntry && m.Proc == who.Proc && m.Section == who.Section && max(m.Nth, 1) == j.times[who]
	})
}

// phase checks the phase of a process.
func (j *judge) phase(e script.Expectation, got script.Phase) {
	if got != e.Phase {
		is := e
		is.Phase = got
		j.differ(e, is.What())
	}
}

// field checks a field of a process's state.
func (j *judge) field(e script.Expectation, fields []host.Field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
		if f.Name == e.Name {
			if f.Value != e.Value {
				is := e
				is.Value = f.Value
				j.differ(e, is.What())
			}
			return
		}
	}
	j.differ(e, fmt.Sprintf("%[2]v has no field %[1]s then: it has %[3]s", e.Name, e.Proc, strings.Join(names, ", ")))
}

func (j *judge) differ(e script.Expectation, got string) {
	j.found = append(j.found, Difference{e.Line, e.What(), got})
}

// verdict checks the expectations about the run as a whole.
func (j *judge) verdict() []Difference {
	j.due(func(m script.Moment) bool { return m.Kind == script.AtEnd || m.Kind == script.AtTime })
	for _, e := range j.open {
		j.differ(e, fmt.Sprintf("%v entering %s", e.When.Proc, times(j.times[Entry{Proc: e.When.Proc, Section: e.When.Section}])))
	}
	for _, e := range j.p.sc.Expect {
		j.whole(e)
	}
	j.p.cast.unsaid(j)
	j.violations()
	sort.SliceStable(j.found, func(x, y int) bool { return j.found[x].Line < j.found[y].Line })
	return j.found
}

func times(n int) string {
	if n == 0 {
		return "never"
	}
	return strconv.Itoa(n) + " times"
}

func (j *judge) whole(e script.Expectation) {
	switch e.Kind {
	case script.Messages:
		if n := j.messages(e); n != e.N {
			j.differ(e, strconv.Itoa(n))
		}
	case script.Violated:
		if !j.broken(e.Name) {
			j.differ(e, "none")
		}
	default:
		j.p.cast.whole(j, e)
	}
}

// inOrder checks which processes did something, in order.
func (j *judge) inOrder(e script.Expectation, all []Ending) {
	got := script.Expectation{Kind: e.Kind, Section: e.Section}
	for _, x := range all {
		got.Procs = append(got.Procs, x.Proc)
	}
	if !slices.Equal(got.Procs, e.Procs) {
		j.differ(e, got.What())
	}
}

// atTime checks when a process did something.
func (j *judge) atTime(e script.Expectation, what string, all []Ending) {
	var times []string
	for _, x := range all {
		if x.Proc != e.Proc {
			continue
		}
		if x.At == e.At {
			return
		}
		times = append(times, scenario.FormatTime(x.At))
	}
	if times == nil {
		times = []string{"no time"}
	}
	j.differ(e, what+strings.Join(times, " "))
}

// messages counts the messages that an expectation is about.
func (j *judge) messages(e script.Expectation) int {
	n := 0
	for _, g := range j.p.w.groups {
		switch {
		case e.Section != "" && e.Section != g.section:
		case e.Name == "":
			n += g.meter.messages
		default:
			n += g.meter.byKind[slices.Index(g.spec.Kinds, e.Name)]
		}
	}
	return n
}

func (j *judge) broken(property string) bool {
	return slices.ContainsFunc(j.p.back.Violations, func(v Violation) bool { return v.Property == property })
}

// violations reports, for each property, its first violation that was not expected. By
// default none is expected.
func (j *judge) violations() {
	allowed := map[string]bool{}
	refused := map[string]script.Expectation{}
	rest := script.Expectation{Kind: script.NotViolated}
	for _, e := range j.p.sc.Expect {
		switch {
		case e.Kind == script.Violated:
			allowed[e.Name] = true
		case e.Kind == script.Deadlock:
			allowed[script.LostRequest] = true
		case e.Kind == script.NotViolated && e.Name == "":
			rest = e
		case e.Kind == script.NotViolated:
			refused[e.Name] = e
		}
	}
	for _, v := range j.p.back.Violations {
		if allowed[v.Property] {
			continue
		}
		allowed[v.Property] = true // report it once
		e, ok := refused[v.Property]
		if !ok {
			e = rest
		}
		j.differ(e, fmt.Sprintf("%s: %v", v.Property, v))
	}
}
