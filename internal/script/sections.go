package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/spell"
)

// A Section is one of several critical sections that are used side by side: an instance
// of the algorithm among the processes that use it.
type Section struct {
	Name    string
	Members []algorithm.ID // ascending
}

// MaxSections bounds the sections of a scenario.
const MaxSections = 100

// reserved are words that have a meaning where a section may be named.
var reserved = [...]string{"none", "for", "at", "by", "all", "among", "when", "waits", "inside", "idle", "enters", "is"}

// CheckSectionName returns an error if a section cannot have the given name.
func CheckSectionName(name string) error {
	letters := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' }
	if name == "" || name[0] < 'a' || name[0] > 'z' || strings.ContainsFunc(name, func(r rune) bool { return !letters(r) }) {
		return fmt.Errorf("section %q: want a word of lower-case letters, digits and dashes, such as seats", name)
	}
	if slices.Contains(reserved[:], name) {
		return fmt.Errorf("section %q: this word has another meaning here; choose another", name)
	}
	return nil
}

// CheckMembers returns an error if the members cannot be the processes of a section among
// n.
func (s Section) CheckMembers(n int) error {
	if len(s.Members) == 0 {
		return fmt.Errorf("section %s has no processes: name them, such as section %s among 1,2,4", s.Name, s.Name)
	}
	for i, p := range s.Members {
		if p < 0 || int(p) >= n {
			return fmt.Errorf("section %s among process %d: there are processes 1 to %d", s.Name, p+1, n)
		}
		if i > 0 && p <= s.Members[i-1] {
			return fmt.Errorf("section %s: want its processes in ascending order, each once", s.Name)
		}
	}
	return nil
}

// View returns the view of the section at the start. The holder has the token if it uses
// the section, and otherwise the first process that does.
func (s Section) View(holder algorithm.ID) algorithm.View {
	return algorithm.View{N: len(s.Members), Holder: algorithm.ID(max(0, slices.Index(s.Members, holder)))}
}

// section returns the section with the given name, or nil.
func (s *Scenario) section(name string) *Section {
	i := slices.IndexFunc(s.Sections, func(x Section) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Sections[i]
}

// checkSections refuses impossible sections, and lines that do not fit them.
func (s *Scenario) checkSections() error {
	if len(s.Sections) > MaxSections {
		return fmt.Errorf("%d sections: want at most %d", len(s.Sections), MaxSections)
	}
	if len(s.Sections) > 0 && (s.Transacts() || s.Busy) {
		return fmt.Errorf("sections cannot be combined with sites, or with a busy holder")
	}
	for i, x := range s.Sections {
		if err := CheckSectionName(x.Name); err != nil {
			return err
		}
		if s.section(x.Name) != &s.Sections[i] {
			return fmt.Errorf("two sections are called %s: rename one", x.Name)
		}
		if err := x.CheckMembers(s.Processes); err != nil {
			return err
		}
	}
	for _, set := range s.Set {
		if err := s.within(set.Section, true, set.Proc); err != nil {
			return fmt.Errorf("set %v: %w", set.Proc, err)
		}
	}
	for _, a := range s.Actions {
		if err := s.within(a.Section, a.Kind == Ask || a.Kind == Leave || a.Kind == Expire, a.Proc); err != nil {
			return fmt.Errorf("%q: %w", a, err)
		}
	}
	for _, e := range s.Expect {
		if err := s.expectsWithin(e); err != nil {
			return fmt.Errorf("%q: %w", e, err)
		}
	}
	return nil
}

func (s *Scenario) expectsWithin(e Expectation) error {
	if err := s.within(e.When.Section, e.When.Kind == OnEntry, e.When.Proc); err != nil {
		return err
	}
	switch e.Kind {
	case Entries, Messages, Bypass:
		if e.Section == "" && e.Kind != Entries {
			return nil
		}
		return s.within(e.Section, true, e.Procs...)
	}
	return s.within(e.Section, e.Kind == EntersAt || e.Kind == FieldIs || e.Kind == PhaseIs, e.Proc)
}

// within checks that a section is named if it must be, that it exists, and that the given
// processes use it.
func (s *Scenario) within(name string, must bool, procs ...algorithm.ID) error {
	must = must && len(s.Sections) > 0
	x := s.section(name)
	switch {
	case name == "" && must:
		return fmt.Errorf("name one of the sections %s", s.sectionNames())
	case name == "":
		return nil
	case x == nil && len(s.Sections) == 0:
		return fmt.Errorf("there is no section %s: add a line such as section %s among 1,2,4", name, name)
	case x == nil || !must:
		return fmt.Errorf("there is no section %s here: the sections are %s", name, s.sectionNames())
	}
	for _, p := range procs {
		if !slices.Contains(x.Members, p) {
			return fmt.Errorf("%v does not use section %s: those that do are %s", p, name, numbers(x.Members))
		}
	}
	return nil
}

func (s *Scenario) sectionNames() string {
	var names []string
	for _, x := range s.Sections {
		names = append(names, x.Name)
	}
	return strings.Join(names, ", ")
}

// behind returns the word with a space before it, or nothing if it is empty.
func behind(word string) string {
	if word == "" {
		return ""
	}
	return " " + word
}

// lookForSections reads the lines that declare sections, because they may come after
// lines that name them.
func (p *parser) lookForSections() error {
	for i := range p.lines {
		if p.begin(i); !p.has("section") {
			continue
		}
		w := p.take()
		x := Section{Name: w.text}
		if err := CheckSectionName(x.Name); err != nil {
			p.failAt(w, err.Error())
		}
		if p.s.section(x.Name) != nil {
			p.failAt(w, fmt.Sprintf("section %s is already defined: put all of its processes on one line", x.Name))
		}
		if among := p.here(); !p.has("among") {
			p.fail(among, "among and the processes that use it, such as section %s among 1,2,4", x.Name)
		}
		at := p.here()
		x.Members = slices.Sorted(slices.Values(p.list()))
		if err := x.CheckMembers(p.n); err != nil {
			p.failAt(at, err.Error())
		}
		if p.err != nil {
			return p.err
		}
		p.s.Sections = append(p.s.Sections, x)
	}
	return nil
}

// within reads the section meant, if there are several, and requires that the given
// processes use it.
func (p *parser) within(procs ...algorithm.ID) string {
	if len(p.s.Sections) == 0 {
		return ""
	}
	w := p.take()
	if p.s.section(w.text) == nil {
		var names []string
		for _, x := range p.s.Sections {
			names = append(names, x.Name)
		}
		p.fail(w, "a section: %s%s", spell.Either(names...), didYouMean(w.text, names...))
		return ""
	}
	if err := p.s.within(w.text, true, procs...); err != nil {
		p.failAt(w, err.Error())
	}
	return w.text
}

// perhapsWithin is within for places where all sections together may also be meant.
func (p *parser) perhapsWithin() string {
	if p.s.section(p.peek()) == nil {
		return ""
	}
	return p.within()
}
