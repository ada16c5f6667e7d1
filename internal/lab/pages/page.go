package pages

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
)

// A page is a page under construction.
type page struct {
	strings.Builder
	subject
	results Results
	costs   *costs
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes a paragraph, after an empty line.
func (p *page) text(format string, args ...any) { p.line("\n"+format, args...) }

func (p *page) heading(title string) { p.line("\n## %s", title) }

// isLock reports whether the page is about one lock.
func (p *page) isLock() bool {
	return p.spec.Family == algorithm.MutualExclusion && p.name != recoveryName
}

func (p *page) make() (string, error) {
	p.line("# %s\n\n<!-- made by package internal/lab/pages: do not edit, run 'make pages' -->", p.title())
	p.text("%s", p.idea)
	p.facts()
	if err := p.pictured(); err != nil {
		return "", err
	}
	p.heading("When to use it")
	p.text("%s", p.use)
	p.ruled()
	p.cost()
	p.proved()
	p.faults()
	p.live()
	p.heading("Known mistakes")
	p.text("%s", p.mistakes)
	p.wrong()
	return p.String(), nil
}

func (p *page) title() string {
	if p.name == recoveryName {
		return "Recovery by election"
	}
	return p.spec.Title
}

// facts writes the table of what the Spec says.
func (p *page) facts() {
	p.line("\n| | |\n|---|---|")
	row := func(name, value string) {
		if value != "" {
			p.line("| %s | %s |", name, value)
		}
	}
	s, t := p.spec, p.spec.Theory
	if p.name != recoveryName {
		row("name in commands", "`"+p.name+"`")
		paper := s.Paper
		if s.Authors != "" && paper != "" {
			paper = s.Authors + ": " + paper
		}
		row("paper", paper)
	}
	row("to enter, a process needs", s.Class.String())
	row("network", network(s.Network))
	if p.isLock() {
		row("order of entries", t.Order)
		row("all processes have the same role", yes(t.Symmetric))
	}
	if len(p.method.Modes) > 0 {
		row("modes", strings.Join(p.method.Modes, ", "))
	}
	if p.method.Sorted {
		row("demands", "locks in ascending order")
	}
	if p.method.Claims {
		row("demands", "claims in advance")
	}
	row("code", fmt.Sprintf("[%s](../../%s)", p.source, p.source))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// network says what the algorithm needs of its links.
func network(n algorithm.Network) string {
	switch n {
	case algorithm.FIFO:
		return "fifo: reliable, and every link keeps the order of messages"
	case algorithm.Unordered:
		return "unordered: reliable, but messages may overtake each other"
	case algorithm.Duplicating:
		return "duplicating: messages may overtake each other and arrive twice"
	}
	return n.String()
}

// pictured shows the worked example.
func (p *page) pictured() error {
	sc, _, err := p.scene()
	if err != nil {
		return err
	}
	what := "time runs to the right"
	flag := ""
	if p.graph {
		what, flag = "its wait-for graph", " --graph graph.svg"
	}
	p.text("![%s](%s.svg)", sc.Title, p.name)
	p.text("A run, drawn by stile: %s. The scenario is [%s](../../lab/scenarios/%s.stile), and `stile replay scenarios/%s.stile%s` replays it.", what, p.picture, p.picture, p.picture, flag)
	return nil
}

// ruled writes the rules.
func (p *page) ruled() {
	p.heading("Its rules")
	switch {
	case p.name == recoveryName:
		p.text("The rules of views, which stand beside those of the lock and of the election. V7 applies only with patience: it is for lost messages.")
	case p.common != nil:
		p.text("The rules that it adds to [those of every site](README.md#rules-of-every-site), or changes.")
	default:
		p.text("As in the paper, or as stile numbers them. A letter tells cases of a rule apart. The lab and `stile replay --why` name the rule that each step follows.")
	}
	p.line("")
	rules(&p.Builder, p.own())
}

// own returns the rules that the page lists.
func (p *page) own() []algorithm.Rule {
	var own []algorithm.Rule
	for i, r := range p.spec.Rules {
		switch {
		case r.ID == "":
		case p.common != nil && i < len(p.common) && p.common[i].ID == r.ID && p.common[i].Text == r.Text:
		case p.name == recoveryName && !strings.HasPrefix(r.ID, "V"):
		default:
			own = append(own, r)
		}
	}
	return own
}

// rules writes a table of rules.
func rules(b *strings.Builder, all []algorithm.Rule) {
	b.WriteString("| rule | |\n|---|---|\n")
	for _, r := range all {
		if r.ID != "" {
			fmt.Fprintf(b, "| %s | %s |\n", r.ID, strings.ReplaceAll(r.Text, "|", `\|`))
		}
	}
}

// wrong lists the wrong and the weaker variants of the algorithm.
func (p *page) wrong() {
	if p.name == recoveryName {
		return
	}
	for _, s := range catalog.All() {
		if s.Fixed == p.name {
			p.text("`%s`: %s. See `%s`.", s.Name, cmp.Or(s.Wrong, s.Weaker), s.Shown)
		}
	}
}
