package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// Bounds of a graph of resources, because it is drawn.
const (
	MaxResources = 100
	MaxUnits     = 100 // units of one resource
)

// An Arc is an edge of a graph of resources: a process has some units of a resource, or
// asks for them.
type Arc struct {
	Proc     algorithm.ID
	Has      bool // whether the process has the units; otherwise it asks
	Resource int
	Units    int
	Line     int // line in the file; 0 if there is none
}

// String returns the arc as it is written in a file.
func (a Arc) String() string {
	verb, units := "asks", ""
	if a.Has {
		verb = "has"
	}
	if a.Units != 1 {
		units = " " + strconv.Itoa(a.Units)
	}
	return fmt.Sprintf("%v %s %s%s", a.Proc, verb, resourceName(a.Resource), units)
}

func resourceName(r int) string { return "R" + strconv.Itoa(r+1) }

// IsGraph reports whether the scenario is a resource-allocation graph, examined for
// deadlock. There is nothing to run.
func (s *Scenario) IsGraph() bool { return len(s.Resources) > 0 }

// checkGraph refuses what does not fit a graph of resources.
func (s *Scenario) checkGraph() error {
	if s.Algorithm != "" || s.Options != (algorithm.Options{}) || s.Mode != "" || s.Holder != 0 || s.Busy || s.Network != algorithm.FIFO || s.Seed != 0 ||
		s.Steps || s.Latency != (Dist{}) || s.Hold != (Dist{}) || s.Manual || s.Until != 0 || s.Sites != 0 ||
		len(s.Links)+len(s.Sections)+len(s.Set)+len(s.Actions) > 0 {
		return fmt.Errorf("a graph of resources is not run: it has a title, processes, resources, who has and asks for what, and what is expected, and nothing else")
	}
	if s.Processes < 1 || s.Processes > MaxTransactions || len(s.Resources) > MaxResources {
		return fmt.Errorf("%d processes and %d resources: want 1 to %d and at most %d", s.Processes, len(s.Resources), MaxTransactions, MaxResources)
	}
	for r, n := range s.Resources {
		if n < 1 || n > MaxUnits {
			return fmt.Errorf("%s has %d units: want 1 to %d", resourceName(r), n, MaxUnits)
		}
	}
	for i := range s.Arcs {
		if err := s.arcFits(s.Arcs[:i], s.Arcs[i]); err != nil {
			return fmt.Errorf("%q: %w", s.Arcs[i], err)
		}
	}
	for _, e := range s.Expect {
		if e.Kind != Cycle && e.Kind < NoCycle {
			return fmt.Errorf("%q: of a graph of resources a cycle, a deadlock or an order is expected", e)
		}
		if slices.ContainsFunc(e.Procs, func(p algorithm.ID) bool { return !s.has(p) }) {
			return fmt.Errorf("%q: there are processes 1 to %d", e, s.Processes)
		}
	}
	return nil
}

// arcFits returns an error if an arc cannot be added to those before it.
func (s *Scenario) arcFits(before []Arc, a Arc) error {
	if !s.has(a.Proc) || a.Resource < 0 || a.Resource >= len(s.Resources) || a.Units < 1 || a.Units > MaxUnits {
		return fmt.Errorf("there are processes 1 to %d and resources R1 to R%d, and 1 unit at least", s.Processes, len(s.Resources))
	}
	all, taken, own := s.Resources[a.Resource], 0, 0
	for _, b := range before {
		if b.Resource != a.Resource {
			continue
		}
		if b.Has {
			taken += b.Units
		}
		if b.Proc == a.Proc {
			own += b.Units
		}
	}
	name := resourceName(a.Resource)
	switch {
	case a.Has && taken+a.Units > all:
		return fmt.Errorf("%s has %d units, of which %d are free here", name, all, all-taken)
	case own+a.Units > all:
		return fmt.Errorf("%s has %d units, and %v could never have %d of them", name, all, a.Proc, own+a.Units)
	}
	return nil
}

// formatGraph writes a graph of resources as a file.
func (s *Scenario) formatGraph(say func(string, ...any)) {
	if s.Title != "" {
		say("title %s", s.Title)
	}
	say("processes %d", s.Processes)
	line := "resources"
	for r, n := range s.Resources {
		line += fmt.Sprintf(" %s %d", resourceName(r), n)
	}
	say("%s", line)
	if len(s.Arcs) > 0 {
		say("")
	}
	for _, a := range s.Arcs {
		say("%v", a)
	}
	if len(s.Expect) > 0 {
		say("")
	}
	for _, e := range s.Expect {
		say("%v", e)
	}
}

// ofGraph returns an expectation of a graph of resources without the word expect.
func (e Expectation) ofGraph() string {
	switch {
	case e.Kind == NoCycle:
		return "no cycle"
	case e.Kind == Deadlocked && len(e.Procs) == 0:
		return "no deadlock"
	case e.Kind == Deadlocked:
		return "deadlock " + names(e.Procs)
	case e.Kind == EndOrder:
		return "order " + names(e.Procs)
	}
	return fmt.Sprintf("expectation %d", uint8(e.Kind))
}

// lookForResources reads the line that declares the resources: with it the file is a
// graph, and other lines mean something else.
func (p *parser) lookForResources() error {
	for i := range p.lines {
		if p.begin(i); !p.has("resources") || p.s.IsGraph() {
			continue
		}
		for first := true; first || len(p.words) > 0 && p.err == nil; first = false {
			w := p.take()
			if want := resourceName(len(p.s.Resources)); w.text != want {
				p.fail(w, "%s and how many units it has, such as resources R1 2 R2 1: resources are numbered from R1 without a gap", want)
				break
			}
			n := p.here()
			if p.s.Resources = append(p.s.Resources, p.number(1, MaxUnits)); len(p.s.Resources) > MaxResources {
				p.failAt(n, fmt.Sprintf("more than %d resources: they could not be drawn", MaxResources))
			}
		}
		if p.err != nil {
			return p.err
		}
	}
	if p.s.IsGraph() {
		p.s.Seed, p.s.Latency, p.s.Hold = 0, Dist{}, Dist{}
	}
	return nil
}

// graphWords are the words that a line of a graph of resources may begin with, besides a
// process.
var graphWords = [...]string{"title", "processes", "resources", "expect"}

// graphLine reads one line of a graph of resources.
func (p *parser) graphLine() {
	first := p.words[0]
	switch {
	case first.text == "expect":
		p.expectation()
	case slices.Contains(graphWords[:], first.text):
		p.setting()
	case strings.HasPrefix(first.text, "P"):
		p.arc()
	case slices.Contains(settings[:], first.text) || first.text == "at" || isAction(first.text):
		p.failAt(first, fmt.Sprintf("found %q: a graph of resources is not run; remove this line, or the line resources", first.text))
	default:
		p.fail(first, "title, processes, resources, expect or a process such as P2%s%s", didYouMean(first.text, slices.Clone(graphWords[:])...), smallP(first.text))
	}
}

// arc reads P1 has R1, or P1 asks R1 2.
func (p *parser) arc() {
	first := p.here()
	a := Arc{Proc: p.process(), Units: 1, Line: p.line}
	switch verb := p.take(); verb.text {
	case "has":
		a.Has = true
	case "asks":
	default:
		p.fail(verb, "has or asks, such as %v has R1%s", a.Proc, didYouMean(verb.text, "has", "asks"))
	}
	a.Resource = p.resource()
	if len(p.words) > 0 {
		a.Units = p.number(1, MaxUnits)
	}
	p.end()
	if p.err != nil {
		return
	}
	if err := p.s.arcFits(p.s.Arcs, a); err != nil {
		p.failAt(first, err.Error())
	}
	p.s.Arcs = append(p.s.Arcs, a)
}

// resource reads R3, and returns 2.
func (p *parser) resource() int {
	w := p.take()
	number, isResource := strings.CutPrefix(w.text, "R")
	x, err := strconv.Atoi(number)
	switch {
	case !isResource || !isNumber(number):
		hint := ""
		if strings.HasPrefix(w.text, "r") {
			hint = "; the R is a capital"
		}
		p.fail(w, "a resource such as R2%s", hint)
	case err != nil || x < 1 || x > len(p.s.Resources):
		p.failAt(w, fmt.Sprintf("there is no resource %s: want R1 to R%d", w.text, len(p.s.Resources)))
	}
	if p.err != nil {
		return 0
	}
	return x - 1
}

// expectedOf are the words that an expectation of a graph may begin with.
var expectedOf = [...]string{"cycle", "deadlock", "order", "no"}

// ofGraph reads an expectation of a graph of resources.
func (p *parser) ofGraph(w word, e *Expectation) {
	switch w.text {
	case "cycle":
		e.Kind = Cycle
		p.processes(e, "the members of a cycle, each asking for what the next one has, such as cycle P1 P3")
	case "deadlock":
		e.Kind = Deadlocked
		p.processes(e, "who is deadlocked, such as deadlock P1 P2, or no deadlock")
	case "order":
		if e.Kind = EndOrder; !p.has("none") {
			p.processes(e, "the processes in the order in which they can end, such as order P2 P1, or none")
		}
	case "no":
		switch what := p.take(); what.text {
		case "cycle":
			e.Kind = NoCycle
		case "deadlock":
			e.Kind = Deadlocked
		default:
			p.fail(what, "cycle or deadlock, as in expect no deadlock%s", didYouMean(what.text, "cycle", "deadlock"))
		}
	default:
		p.fail(w, "cycle, deadlock, order or no%s", didYouMean(w.text, slices.Clone(expectedOf[:])...))
	}
}
