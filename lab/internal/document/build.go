package document

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// document builds the document of a recorded run.
func (r *recorder) document(back *sim.Playback, o Options, draw drawer) (*Document, error) {
	sc, spec := r.sc, r.spec
	t := back.Trace()
	d := &Document{
		Title: cmp.Or(sc.Title, spec.Title), Kind: kindOf(sc, spec), Algorithm: about(spec), Names: []string{}, Steps: sc.Steps, Unit: max(t.Unit, 1),
		Network: sc.Network.String(), Badges: badges(sc, spec), Lines: r.lines, Ended: back.Ended,
		Keys: r.keys, Deltas: r.deltas, Graph: r.graph, Scene: sceneOf(sc, spec),
	}
	for i := range r.lanes {
		d.Names = append(d.Names, r.name(i))
	}
	numbers := renumber(t.Events)
	d.Events = r.events(t, numbers, back.Ended)
	for _, t := range r.tricks {
		d.Events[t.Event].Line = t.Line
	}
	var err error
	if d.Layout, err = draw(t, d.Events, o); err != nil {
		return nil, err
	}
	d.Kinds = d.Layout.Kinds
	d.Measures, d.Properties = measures(back, sc, spec), r.properties(back, d)
	d.Violations, d.Expects = violations(d), compared(back.Differences, sc.Expect, back.Stopped)
	if d.End, err = Encode(back.Report(spec, sc)); err != nil {
		return nil, err
	}
	if early := back.Early(sc); early != "" {
		d.Early = "The run ended " + early + ". To see more, let a process ask later."
	}
	d.Accounts = accounts(sc, t.Events)
	d.Captions = captions(back.Captions, d.Events)
	if back.Stopped {
		d.Cut = &Cut{len(d.Events), fmt.Sprintf("The run goes on after %s events, the most that can be shown. Expectations were not checked. Add a line such as until 50, use fewer processes, or run it with 'stile-lab replay'.", words.Grouped(len(d.Events)))}
	}
	if d.Lines == nil {
		d.Lines = []LineEvents{}
	}
	if d.Deltas == nil {
		d.Deltas = []Delta{}
	}
	return d, nil
}

// captions returns the captions of a run. Each appears when the step is over in which its
// moment comes.
func captions(all []sim.Caption, events []Event) []Caption {
	var list []Caption
	for _, c := range all {
		at := min(c.After, len(events))
		for at > 0 && at < len(events) && events[at].Part {
			at++
		}
		list = append(list, Caption{at, c.Text, c.Line})
	}
	return list
}

func kindOf(sc *scenario.Scenario, spec algorithm.Spec) string {
	if len(sc.Sections) > 0 {
		return KindSections
	}
	return families.Of(spec).Kind
}

func about(s algorithm.Spec) Algorithm {
	f := families.Of(s)
	deaths := f.Detects && s.Family != algorithm.Transactions
	return Algorithm{s.Name, s.Title, s.Authors, s.Year, s.Paper, s.Wrong, s.Weaker, s.Fixed, s.Network.String(), deaths, f.Calls, rules(s)}
}

// rules returns the rules of an algorithm in the order of their numbers. Variants have
// theirs after those of the algorithm that they derive from.
func rules(s algorithm.Spec) [][2]string {
	var all [][2]string
	for _, r := range s.Rules {
		if r.ID != "" {
			all = append(all, [2]string{r.ID, r.Text})
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		groupA, a, caseA := parts(all[i][0])
		groupB, b, caseB := parts(all[j][0])
		return cmp.Or(cmp.Compare(groupA, groupB), cmp.Compare(a, b), cmp.Compare(caseA, caseB)) < 0
	})
	return all
}

// parts takes the number of a rule apart: V2b is case b of rule 2 of the group V.
func parts(id string) (group string, number int, letter string) {
	digits := strings.TrimLeftFunc(id, func(r rune) bool { return r < '0' || r > '9' })
	letter = strings.TrimLeft(digits, "0123456789")
	number, _ = strconv.Atoi(strings.TrimSuffix(digits, letter)) // 0 if there is none
	return strings.TrimSuffix(id, digits), number, letter
}

// renumber maps message numbers to their order of first appearance, because the numbers in
// a trace depend on how many lines there are.
func renumber(events []trace.Event) map[int]int {
	numbers := map[int]int{}
	for i := range events {
		if n := events[i].Msg; n > 0 && numbers[n] == 0 {
			numbers[n] = len(numbers) + 1
		}
	}
	return numbers
}

// events converts the events of a trace for a page.
func (r *recorder) events(t *trace.Trace, numbers map[int]int, ended int) []Event {
	list := make([]Event, len(t.Events))
	steps := r.steps
	line := 0
	for i := range t.Events {
		e := &t.Events[i]
		first := len(steps) > 0 && steps[0].from == i
		if first {
			line, steps = steps[0].line, steps[1:]
		}
		if i >= ended {
			line = 0
		}
		x := Event{
			At: e.At, Kind: e.Kind.String(), Proc: int(e.Proc), Peer: -1, Msg: numbers[e.Msg], Name: e.Name, Section: e.Section,
			Line: line, Part: !first && i < ended && e.Kind != trace.Receive, Text: t.Sentence(e),
		}
		if e.HasPeer() {
			x.Peer = int(e.Peer)
		}
		for _, f := range e.Fields {
			x.Fields = append(x.Fields, [2]string{f.Name, f.Value})
		}
		for _, y := range e.Why[:explained(i, e)] {
			x.Why = append(x.Why, [2]string{y.Rule, y.Text})
		}
		list[i] = x
	}
	return list
}

// maxExplained is the number of events that carry reasons: with more, a page of a long run
// would consist mostly of them.
const maxExplained = 5_000

// explained returns how many of its reasons an event carries.
func explained(i int, e *trace.Event) int {
	if i >= maxExplained {
		return 0
	}
	return len(e.Why)
}

// The width of diagrams, in pixels, and the number of events from which they carry no
// labels.
const (
	perStep   = 26
	perUnit   = 40
	perMoment = 14
	longRun   = 3000
)

// layout draws the space-time diagram of the whole run.
func layout(t *trace.Trace, events []Event, o Options) (*trace.Layout, error) {
	draw := *t
	draw.Events = make([]trace.Event, len(t.Events))
	copy(draw.Events, t.Events)
	step, moments, last := int64(-1), 0, int64(-1)
	for i := range draw.Events {
		e := &draw.Events[i]
		e.Msg = events[i].Msg
		if !events[i].Part {
			step++
		}
		if e.At != last {
			moments, last = moments+1, e.At
		}
		if o.Spacing == ByEvent {
			e.At = max(step, 0) + 1 // people count from 1
		}
	}
	look := trace.Options{Plain: len(events) > longRun, Scale: perStep}
	if o.Spacing == ByEvent {
		draw.Unit = 1
	}
	if n := len(draw.Events); n > 0 {
		units := float64(draw.Events[n-1].At) / float64(max(draw.Unit, 1))
		if look.To = units; o.Spacing != ByEvent && units > 0 {
			look.Scale = max(perUnit, perMoment*float64(moments)/units)
		}
	}
	return draw.Layout(look)
}
