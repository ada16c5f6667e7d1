package pages

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A page is a page under construction.
type page struct {
	strings.Builder
	subject
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes a paragraph, after an empty line.
func (p *page) text(format string, args ...any) { p.line("\n"+format, args...) }

func (p *page) heading(title string) { p.line("\n## %s", title) }

// isLock reports whether the page is about one lock.
func (p *page) isLock() bool {
	return p.spec.Family == algorithm.MutualExclusion && p.name != recoveryName
}

// make writes the page. proofs is the text of docs/results/proofs.md.
func (p *page) make(proofs string) (string, error) {
	title := p.spec.Title
	if p.name == recoveryName {
		title = "Recovery by election"
	}
	p.line("# %s\n\n<!-- made by 'make pages': do not edit -->", title)
	p.text("%s", p.idea)
	p.facts(proofs)
	if err := p.pictured(); err != nil {
		return "", err
	}
	p.ruled()
	p.heading("When to use it")
	p.text("%s", p.use)
	p.heading("Known mistakes")
	p.text("%s", p.mistakes)
	return p.String(), nil
}

// facts writes the table of what the Spec says, and what is proved.
func (p *page) facts(proofs string) {
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
		row("to enter, a process needs", s.Class.String())
	}
	row("network", s.Network.String())
	if p.isLock() {
		row("order of entries", t.Order)
		row("messages per entry", t.Messages.Text)
		row("with multicast", t.Multicasts.Text)
		row("client delay", t.Client.Text)
		row("synchronisation delay", t.Sync.Text)
		row("longest wait", t.WaitText)
	} else if p.name != recoveryName {
		row("messages", t.Messages.Text)
	}
	row("modes", strings.Join(p.method.Modes, ", "))
	if p.method.Sorted {
		row("demands", "locks in ascending order")
	}
	if p.method.Claims {
		row("demands", "claims in advance")
	}
	row("proved", p.proved(proofs))
	row("live", p.live())
	row("code", fmt.Sprintf("[%s](../../%s)", p.source, p.source))
}

// proved says what the checker has proved, from the rows of the page of proofs.
func (p *page) proved(proofs string) string {
	if p.name == recoveryName {
		return "mutual exclusion, and no starvation of live processes, for every lock with one crash: [proofs](../results/proofs.md)"
	}
	var all []string
	for line := range strings.Lines(proofs) {
		cells := strings.Split(line, " | ")
		command := strings.Trim(cells[0], "|` ")
		if len(cells) == 4 && strings.HasPrefix(command+" ", "stile-lab check "+p.name+" ") {
			all = append(all, fmt.Sprintf("%s: `%s`", strings.TrimRight(cells[3], " |\n"), command))
		}
	}
	return strings.Join(all, "; ")
}

// live says whether it runs in a live cluster.
func (p *page) live() string {
	switch {
	case p.name == recoveryName:
		return "no: [a view change](../protocol.md) takes its place"
	case p.spec.Family == algorithm.Transactions && p.method.Family == deadlock.Avoid:
		return "no: transactions of applications have no claims to declare"
	case p.spec.Family == algorithm.Transactions:
		return fmt.Sprintf("as `kept:%s`, for the names below a prefix: [kept locks](../kept.md)", p.name)
	case !p.isLock():
		return "no: leaders come from [elections with leases](../elections-live.md)"
	case catalog.NotLive(p.spec) != "":
		return "no: " + catalog.NotLive(p.spec)
	case catalog.Live()[0].Name == p.name:
		return "yes, the default"
	}
	return fmt.Sprintf("yes: `stile serve --algorithm %s`", p.name)
}

// pictured shows the worked example.
func (p *page) pictured() error {
	sc, _, err := p.scene()
	if err != nil {
		return err
	}
	flag := ""
	if p.graph {
		flag = " --graph graph.svg"
	}
	p.text("![%s](%s.svg)", sc.Title, p.name)
	p.text("`stile-lab replay lab/scenarios/%s.stile%s`", p.picture, flag)
	return nil
}

// ruled writes the rules.
func (p *page) ruled() {
	p.heading("Rules")
	switch {
	case p.name == recoveryName:
		p.text("They stand beside those of the lock and of the election. V7 applies only with patience: it is for lost messages.")
	case p.common != nil:
		p.text("It adds these to [the rules of every site](README.md#rules-of-every-site), or changes them.")
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
