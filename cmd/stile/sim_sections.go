package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
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
		ids, err := askProcesses("section", who, nodes)
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

// inSome refuses processes that use none of the sections, if there are several.
func inSome(sections []scenario.Section, all ...algorithm.ID) error {
	for _, p := range all {
		uses := func(s scenario.Section) bool { return slices.Contains(s.Members, p) }
		if sections != nil && !slices.ContainsFunc(sections, uses) {
			return fmt.Errorf("no --section has %v among those who use it: name others", p)
		}
	}
	return nil
}

// runSections runs several sections side by side, and shows one after the other.
func runSections(c sim.Config, sections []scenario.Section) (Report, error) {
	all, err := sim.RunSections(c, sections)
	if err != nil {
		return Report{}, err
	}
	var found []sim.Violation
	for _, r := range all {
		found = append(found, r.Found...)
	}
	text := func(p *Page) {
		for i, r := range all {
			if i > 0 {
				p.Gap()
			}
			p.Line("section %s among %s", r.Section, tellProcesses(sections[i].Members))
			simPrintRun(p, c, r, nil)
		}
	}
	report := struct {
		Algorithm string        `json:"algorithm"`
		Nodes     int           `json:"nodes"`
		Seed      uint64        `json:"seed"`
		Sections  []*sim.Result `json:"sections"`
	}{c.Spec.Name, c.Nodes, c.Seed, all}
	return Report{JSON: report, Text: text, Stopped: simFar(c, all...), Wrong: Violations(found)}, nil
}
