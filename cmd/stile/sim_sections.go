package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// parseSections reads sections such as seats:1,2,4. Nil means that there is one,
// of all processes.
func parseSections(list []string, nodes int) ([]scenario.Section, error) {
	var sections []scenario.Section
	for _, text := range list {
		name, who, _ := strings.Cut(text, ":")
		if err := scenario.CheckSectionName(name); err != nil {
			return nil, fmt.Errorf("--section %q: %w", text, err)
		}
		if slices.ContainsFunc(sections, func(s scenario.Section) bool { return s.Name == name }) {
			return nil, fmt.Errorf("--section %q: there is a section %s already; give it another name", text, name)
		}
		ids, err := parseProcesses("section", who, nodes)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			return nil, fmt.Errorf("--section %q: want its name and who uses it, such as seats:1,2,4", text)
		}
		slices.Sort(ids)
		sections = append(sections, scenario.Section{Name: name, Members: ids})
	}
	if len(sections) > scenario.MaxSections {
		return nil, fmt.Errorf("%d sections: want at most %d", len(sections), scenario.MaxSections)
	}
	return sections, nil
}

// sectionsReport is what a run of several sections says to programs.
type sectionsReport struct {
	Sections []*sim.Result `json:"sections"`
}

func (f *simFlags) runSections(c sim.Config, stdout io.Writer) error {
	return f.record(stdout, c.Nodes, c.Spec, func(observe func(trace.Event)) (simulated, error) {
		c.Observe = observe
		all, err := sim.RunSections(c, f.sections)
		if err != nil {
			return simulated{}, err
		}
		var found []sim.Violation
		for _, r := range all {
			found = append(found, r.Found...)
		}
		return simulated{sectionsReport{all}, found, func() error { return f.printSections(stdout, c, all) }}, nil
	})
}

// printSections shows one section after the other.
func (f *simFlags) printSections(w io.Writer, c sim.Config, all []*sim.Result) error {
	p := &page{w: w}
	for i, r := range all {
		if i > 0 {
			p.line("")
		}
		p.line("section %s among %s", r.Section, processList(f.sections[i].Members))
		if p.err == nil {
			p.err = printSim(w, c, r)
		}
	}
	return p.err
}
