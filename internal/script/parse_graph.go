package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// IsGraph reports whether the text of a file is a graph of resources, for ParseGraph,
// rather than a scenario, for Parse: a line declares resources.
func IsGraph(text string) bool {
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if words := split(stripComment(line)); len(words) > 0 && words[0].text == "resources" {
			return true
		}
	}
	return false
}

// A graphParser reads a graph of resources.
type graphParser struct {
	*source
	g *Graph
}

// ParseGraph parses a graph of resources from the text of a file. The name of the file is
// for errors, which are of type *Error.
func ParseGraph(file, text string) (*Graph, error) {
	src, err := open(file, text)
	if err != nil {
		return nil, err
	}
	p := &graphParser{src, &Graph{File: file}}
	if err := p.each(p.look); err != nil {
		return nil, err
	}
	if len(p.g.Resources) == 0 {
		return nil, p.lacks("the resources, such as resources R1 2 R2 1")
	}
	if p.n = p.g.Processes; p.n == 0 {
		p.n = MaxProcesses // other errors are reported first
	}
	if err := p.each(p.statement); err != nil {
		return nil, err
	}
	if p.g.Processes == 0 {
		return nil, p.lacks("the number of processes, such as processes 3")
	}
	if err := p.g.Check(); err != nil {
		return nil, &Error{file, p.said["processes"], 1, err.Error()}
	}
	return p.g, nil
}

// look reads what the meaning of other lines depends on, wherever it is: the number of
// processes, and the resources.
func (p *graphParser) look() {
	switch {
	case p.has("processes") && p.g.Processes == 0:
		p.g.Processes = p.number(1, MaxProcesses)
	case p.has("resources") && len(p.g.Resources) == 0:
		p.resources()
	}
}

// resources reads R1 2 R2 1.
func (p *graphParser) resources() {
	g := p.g
	for first := true; first || len(p.words) > 0 && p.err == nil; first = false {
		w := p.take()
		if want := resourceName(len(g.Resources)); w.text != want {
			p.fail(w, "%s and its number of units, such as resources R1 2 R2 1: resources are numbered from R1 without gaps", want)
			return
		}
		n := p.here()
		if g.Resources = append(g.Resources, p.number(1, maxUnits)); len(g.Resources) > maxResources {
			p.failAt(n, fmt.Sprintf("more than %d resources: they cannot be drawn", maxResources))
		}
	}
}

// graphWords are the words that a line of a graph of resources may begin with, besides a
// process.
var graphWords = [...]string{"title", "processes", "resources", "expect"}

// statement reads one line.
func (p *graphParser) statement() {
	first := p.words[0]
	switch {
	case first.text == "expect":
		p.expectation()
	case slices.Contains(graphWords[:], first.text):
		p.setting()
	case strings.HasPrefix(first.text, "P"):
		p.arc()
	case slices.Contains(settings[:], first.text) || first.text == "at" || isAction(first.text):
		p.failAt(first, fmt.Sprintf("found %q: a resource graph has no run; remove this line, or the line resources", first.text))
	default:
		p.fail(first, "title, processes, resources, expect or a process such as P2%s%s", didYouMean(first.text, slices.Clone(graphWords[:])...), smallP(first.text))
	}
}

// setting reads one line of the head.
func (p *graphParser) setting() {
	name := p.take()
	p.once(name)
	switch name.text {
	case "title":
		p.g.Title = p.title(name)
	case "processes":
		p.take() // already read by look
	case "resources":
		p.words = nil // already read by look
	}
	p.end()
}

// arc reads P1 has R1, or P1 asks R1 2.
func (p *graphParser) arc() {
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
		a.Units = p.number(1, maxUnits)
	}
	p.end()
	if p.err != nil {
		return
	}
	if err := p.g.arcFits(p.g.Arcs, a); err != nil {
		p.failAt(first, err.Error())
	}
	p.g.Arcs = append(p.g.Arcs, a)
}

// resource reads R3, and returns 2.
func (p *graphParser) resource() int {
	w := p.take()
	number, isResource := strings.CutPrefix(w.text, "R")
	x, err := strconv.Atoi(number)
	switch {
	case !isResource || !isNumber(number):
		hint := ""
		if strings.HasPrefix(w.text, "r") {
			hint = "; the R must be a capital"
		}
		p.fail(w, "a resource such as R2%s", hint)
	case err != nil || x < 1 || x > len(p.g.Resources):
		p.failAt(w, fmt.Sprintf("there is no resource %s: want R1 to R%d", w.text, len(p.g.Resources)))
	}
	if p.err != nil {
		return 0
	}
	return x - 1
}

// expectedOf are the words that an expectation of a graph may begin with.
var expectedOf = [...]string{"cycle", "deadlock", "order", "no"}

// expectation reads the part after the word expect.
func (p *graphParser) expectation() {
	p.take()
	e := Expectation{Line: p.line}
	p.kind(&e)
	p.end()
	p.g.Expect = append(p.g.Expect, e)
}

// kind reads the kind of an expectation, and its processes.
func (p *graphParser) kind(e *Expectation) {
	switch w := p.take(); w.text {
	case "cycle":
		e.Kind = Cycle
		p.processes(e, "the members of a cycle, each asking for what the next one holds, such as cycle P1 P3")
	case "deadlock":
		e.Kind = Deadlocked
		p.processes(e, "the deadlocked processes, such as deadlock P1 P2, or no deadlock")
	case "order":
		if e.Kind = EndOrder; !p.has("none") {
			p.processes(e, "the processes in an order in which they can end, such as order P2 P1, or none")
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
