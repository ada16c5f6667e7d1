package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family/sections"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/terminal"
)

// checkSectionFlags refuses flags that do not apply to the sections that are given, and
// --acquire without any.
func (f *checkFlags) checkSectionFlags(c *cobra.Command) error {
	if f.sections == nil {
		return terminal.RefuseFlags(c, "acquire", "--FLAG applies only to --section: give --section, or leave it out")
	}
	return terminal.OnlyFlags(c, commonCheckFlags+algorithmFlags+" network requests requesters section acquire",
		"--FLAG does not apply to --section, with which processes hold several sections: leave it out")
}

// together returns how processes use the sections that are given.
func (f *checkFlags) together() (plan sections.Config, err error) {
	nodes := f.config.Nodes
	all, err := parseSections(f.sections, nodes)
	if err != nil {
		return plan, err
	}
	plan = sections.InOrder(nodes, all...)
	given := make([]bool, nodes)
	for _, text := range f.acquire {
		who, list, ok := strings.Cut(text, ":")
		p, bad := strconv.Atoi(who)
		switch {
		case !ok || bad != nil || list == "":
			return plan, fmt.Errorf("--acquire %q: must be a process and the sections that it acquires, such as 2:films,seats", text)
		case p < 1 || p > nodes:
			return plan, fmt.Errorf("--acquire %q: processes are numbered 1 to %d", text, nodes)
		case given[p-1]:
			return plan, fmt.Errorf("--acquire %q: process %d is given twice: name all its sections at once", text, p)
		}
		given[p-1] = true
		if plan.Takes[p-1], err = parseAcquired(list, algorithm.ID(p-1), all); err != nil {
			return plan, fmt.Errorf("--acquire %q: %w", text, err)
		}
	}
	return plan, nil
}

// parseAcquired returns the indexes of the sections in a list, which a process acquires in
// this order.
func parseAcquired(list string, p algorithm.ID, all []script.Section) ([]int, error) {
	var takes []int
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(s script.Section) bool { return s.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("there is no --section %s: define it", name)
		case !slices.Contains(all[i].Members, p):
			return nil, fmt.Errorf("%v does not use section %s: add it to that --section", p, name)
		case slices.Contains(takes, i):
			return nil, fmt.Errorf("section %s is given twice: name it once", name)
		}
		takes = append(takes, i)
	}
	return takes, nil
}

// describeSections describes the sections and how processes acquire them.
func (f *checkFlags) describeSections() []string {
	sections, acquire := f.sectionReport()
	var lines []string
	for i, s := range sections {
		lines = append(lines, fmt.Sprintf("section %s among %s", s.Name, processNames(f.plan.Sections[i].Members)))
	}
	for p, names := range acquire {
		if len(names) > 1 {
			lines = append(lines, fmt.Sprintf("%v acquires %s", algorithm.ID(p), strings.Join(names, ", then ")))
		}
	}
	return lines
}

// A checkedSection is the JSON form of a section.
type checkedSection struct {
	Name      string `json:"name"`
	Processes []int  `json:"processes"`
}

// sectionReport returns the sections, and the names of those that each process acquires.
func (f *checkFlags) sectionReport() (sections []checkedSection, acquire [][]string) {
	if f.plan == nil {
		return nil, nil
	}
	for _, s := range f.plan.Sections {
		var who []int
		for _, p := range s.Members {
			who = append(who, int(p)+1)
		}
		sections = append(sections, checkedSection{s.Name, who})
	}
	for _, takes := range f.plan.Takes {
		names := []string{}
		for _, i := range takes {
			names = append(names, sections[i].Name)
		}
		acquire = append(acquire, names)
	}
	return sections, acquire
}
