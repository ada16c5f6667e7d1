package museum

import (
	_ "embed" // the text of the museum
	"fmt"
	"strings"
	"text/template"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lab/ring"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/scenarios"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A Parser returns the check, with its Family, that a command line of 'stile check' makes.
// The line comes without these two words.
type Parser func(command string) (check.Config, error)

//go:embed museum.tmpl
var exhibits string

// Page makes the museum: algorithms that were believed to be correct, or are used where
// they are not, each with the shortest run in which it fails as found by the checker, the
// fix, and the proof that the fix holds. It takes some tens of seconds.
func Page(parse Parser, l check.Limits) (string, error) {
	return page(exhibits, parse, l)
}

// page makes the parts of a template that begin with a heading.
func page(text string, parse Parser, l check.Limits) (string, error) {
	b := &builder{parse: parse, limits: l, things: "exhibits"}
	actions := template.FuncMap{"violated": b.violated, "proved": b.proved, "replay": replay, "bounds": b.bounds}
	head, text, _ := strings.Cut(text, "\n## ")
	b.line("%s", strings.TrimSpace(head))
	all := strings.Split(text, "\n## ")
	b.total = len(all)
	for _, text := range all {
		title, _, _ := strings.Cut(text, "\n")
		_, title, _ = strings.Cut(title, ". ")
		err := b.part(title, func() error {
			t, err := template.New(title).Funcs(actions).Parse("\n## " + strings.TrimSpace(text) + "\n")
			if err != nil {
				return err
			}
			return t.Execute(b, nil)
		})
		if err != nil {
			return b.ended(err)
		}
	}
	return b.ended(nil)
}

// violated checks a broken algorithm, with one worker, so that it always finds the same
// counterexample.
func (b *builder) violated(command string) (string, error) {
	c, err := b.parse(command)
	if err != nil {
		return "", err
	}
	l := b.limits
	l.Workers = 1
	r, err := b.check(c, l)
	if err != nil {
		return "", err
	}
	p := r.First()
	if p == nil || p.Counterexample == nil {
		return "", fmt.Errorf("%s: want a counterexample, got %s", command, r.Verdict)
	}
	if strings.Contains(p.Note, "does not agree") {
		return "", fmt.Errorf("%s: %s", command, p.Note)
	}
	return fmt.Sprintf("`stile check %s` finds %s violated after %s:\n\n```text\n%s```", command, p.Name, words.Plural(len(p.Trace), "step"), p.Story(trace.TextOptions{})), nil
}

// proved checks a fix.
func (b *builder) proved(command string) (string, error) {
	c, err := b.parse(command)
	if err != nil {
		return "", err
	}
	r, err := b.check(c, b.limits)
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	what := "all that it claims"
	if c.Properties != nil {
		var claims []string
		for _, p := range c.Properties {
			claims = append(claims, claim(p))
		}
		what = strings.Join(claims, "; ")
	}
	things := "request"
	if c.Family.Sites > 0 {
		things = "transaction"
	}
	how := fmt.Sprintf("proved for %d processes and any number of %ss", c.Nodes, things)
	if c.Requests > 0 {
		how = fmt.Sprintf("checked for %d processes and up to %s of each", c.Nodes, words.Plural(c.Requests, things))
	}
	if c.Losses > 0 {
		how += fmt.Sprintf(", with up to %s at any step", words.Plural(c.Losses, "lost message"))
	}
	return fmt.Sprintf("`stile check %s`: %s: %s (%s states, %s transitions).", command, how, what, words.Grouped(r.States), words.Grouped(r.Transitions)), nil
}

// claim says what a property promises, in words.
func claim(property string) string {
	switch property {
	case check.Deadlock, check.Starvation:
		return "no " + property
	case check.MutualExclusion:
		return "mutual exclusion"
	case check.OrderOpen:
		return "order, even when applications talk"
	case check.Token:
		return "never two tokens"
	case check.Start:
		return "every start of a view is legitimate"
	}
	return property
}

// replay replays a scenario, which must meet its expectations.
func replay(name string) (string, error) {
	file := name + ".stile"
	text, err := scenarios.Files.ReadFile(file)
	if err != nil {
		return "", err
	}
	sc, err := scenario.Parse(file, string(text))
	if err != nil {
		return "", err
	}
	spec, err := catalog.Make(sc.Algorithm, sc.Options)
	if err != nil {
		return "", err
	}
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err != nil {
		return "", err
	}
	if len(back.Differences) > 0 {
		return "", fmt.Errorf("%s: %v", file, back.Differences[0])
	}
	return fmt.Sprintf("[%s](../../lab/scenarios/%s), replayed:\n\n```text\n%s```", file, file, back.Trace().Text(trace.TextOptions{MaxRows: 40})), nil
}

// bounds finds, for each way to move, how few values are enough for Dijkstra's ring of
// every size that can be checked in a few seconds.
func (b *builder) bounds() (string, error) {
	table := "| movers | N=2 | N=3 | N=4 | N=5 | N=6 |\n|---|---|---|---|---|---|"
	for m, most := range [...]int{ring.OneMoves: 6, ring.SeveralMove: 6, ring.AllMove: 6, ring.EmptyLinks: 3, ring.LitteredLinks: 2} {
		table += fmt.Sprintf("\n| %v |", ring.Mover(m))
		for n := 2; n <= most; n++ {
			r, err := ring.Ring{N: n, Mover: ring.Mover(m)}.Check(b.limits)
			if err == nil {
				err = r.Err()
			}
			if err != nil && b.over() {
				err = errInterrupted
			}
			if err != nil {
				return "", err
			}
			table += fmt.Sprintf(" %d (%s) |", r.Values, words.Grouped(r.States))
		}
		table += strings.Repeat("  |", 6-most)
	}
	return table, nil
}
