package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// Bounds of a graph of resources, because it is drawn.
const (
	maxResources = 100
	maxUnits     = 100 // units of one resource
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

// A Graph is a resource-allocation graph: which processes have units of which resource and
// which ask for them, at one moment, and what should follow from it.
type Graph struct {
	File  string // file it was read from, for errors; empty if none
	Title string

	Processes int
	Resources []int // units of each resource
	Arcs      []Arc
	Expect    []Expectation // Cycle, NoCycle, Deadlocked or EndOrder
}

// Check returns an error that says what makes g impossible to examine or to write as a
// file.
func (g *Graph) Check() error {
	if err := checkTitle(g.Title); err != nil {
		return err
	}
	if len(g.Resources) == 0 {
		return fmt.Errorf("no resources: add a line such as resources R1 2 R2 1")
	}
	if g.Processes < 1 || g.Processes > maxTransactions || len(g.Resources) > maxResources {
		return fmt.Errorf("%d processes and %d resources: want 1 to %d and at most %d", g.Processes, len(g.Resources), maxTransactions, maxResources)
	}
	for r, n := range g.Resources {
		if n < 1 || n > maxUnits {
			return fmt.Errorf("%s has %d units: want 1 to %d", resourceName(r), n, maxUnits)
		}
	}
	for i := range g.Arcs {
		if err := g.arcFits(g.Arcs[:i], g.Arcs[i]); err != nil {
			return fmt.Errorf("%q: %w", g.Arcs[i], err)
		}
	}
	for _, e := range g.Expect {
		if e.Kind != Cycle && e.Kind < NoCycle {
			return fmt.Errorf("%q: in a resource graph, expect a cycle, a deadlock or an order", e)
		}
		if slices.ContainsFunc(e.Procs, func(p algorithm.ID) bool { return !g.has(p) }) {
			return fmt.Errorf("%q: there are processes 1 to %d", e, g.Processes)
		}
	}
	return nil
}

// arcFits returns an error if an arc cannot be added to those before it.
func (g *Graph) arcFits(before []Arc, a Arc) error {
	if !g.has(a.Proc) || a.Resource < 0 || a.Resource >= len(g.Resources) || a.Units < 1 || a.Units > maxUnits {
		return fmt.Errorf("want processes 1 to %d, resources R1 to R%d, and at least 1 unit", g.Processes, len(g.Resources))
	}
	all, taken, own := g.Resources[a.Resource], 0, 0
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
		return fmt.Errorf("%s has %d units, of which only %d are free here", name, all, all-taken)
	case own+a.Units > all:
		return fmt.Errorf("%s has %d units: %v could never get %d of them", name, all, a.Proc, own+a.Units)
	}
	return nil
}

func (g *Graph) has(p algorithm.ID) bool { return p >= 0 && int(p) < g.Processes }

// FormatGraph formats g as a file. For a graph that passes Check, ParseGraph reads the
// same value back, apart from File and the line numbers.
func FormatGraph(g *Graph) string {
	var b strings.Builder
	if g.Title != "" {
		fmt.Fprintf(&b, "title %s\n", g.Title)
	}
	fmt.Fprintf(&b, "processes %d\nresources", g.Processes)
	for r, n := range g.Resources {
		fmt.Fprintf(&b, " %s %d", resourceName(r), n)
	}
	b.WriteString("\n")
	if len(g.Arcs) > 0 {
		b.WriteString("\n")
	}
	for _, a := range g.Arcs {
		fmt.Fprintln(&b, a)
	}
	if len(g.Expect) > 0 {
		b.WriteString("\n")
	}
	for _, e := range g.Expect {
		fmt.Fprintln(&b, e)
	}
	return b.String()
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
