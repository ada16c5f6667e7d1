package museum

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/ring"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/scenarios"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// An exhibit is one algorithm that fails.
type exhibit struct {
	title    string
	believed string
	broken   *setting // check in which the checker finds a violation
	scenes   []string // or, if faults are needed, scenarios that show it
	happens  string   // what goes wrong, in words
	fix      string
	proofs   []setting
}

// Page makes the whole museum. It takes some tens of seconds.
func Page(l check.Limits) (string, error) {
	b := newPage("The museum of broken mutual exclusion", "museum", l, nil)
	b.text(`Algorithms that were published, taught or believed, and fail; and sound ones, used where they do not hold. Each counterexample is a shortest one: the checker has seen that no run with fewer steps breaks the property; only where somebody starves may a shorter one have been missed. Each was replayed in the simulator: real messages in real order, with nothing renumbered. Each fix was checked by the same command. Time runs down the diagrams; a row is one step.`)
	all := exhibits()
	b.total, b.things = len(all)+1, "exhibits"
	for i, e := range all {
		if err := b.part(e.title, func() error { return b.exhibit(i+1, e) }); err != nil {
			return b.ended(err)
		}
	}
	return b.ended(b.part(ringTitle, func() error { return b.ring(len(all) + 1) }))
}

// An Interrupted is the error of a page whose last parts are missing because the context
// of its limits was done.
type Interrupted struct{ After string } // such as "3 of 12 exhibits"

func (i Interrupted) Error() string { return "interrupted after " + i.After }

// errInterrupted is the error of a check that did not complete for that reason.
var errInterrupted = errors.New("interrupted")

// A builder makes a page.
type builder struct {
	strings.Builder
	limits check.Limits
	told   func(line string) // receives each row of a table as soon as it is known

	done, total int    // parts of the page
	things      string // what the parts are called
}

// newPage begins the page that a flag of 'stile check', and make, know by name.
func newPage(title, name string, l check.Limits, told func(line string)) *builder {
	b := &builder{limits: l, told: told}
	b.line("# %s\n\n<!-- made by 'stile check --%s': do not edit, run 'make %s' -->", title, name, name)
	return b
}

// part makes one part of the page, as a whole or not at all: if it is interrupted, the
// page ends before it and says so.
func (b *builder) part(title string, do func() error) error {
	before := b.Len()
	err := do()
	switch {
	case errors.Is(err, errInterrupted):
		far := fmt.Sprintf("%d of %d %s", b.done, b.total, b.things)
		page := b.String()[:before]
		b.Reset()
		b.WriteString(page)
		b.text(fmt.Sprintf("**Interrupted after %s.** All from %s on is missing.", far, title))
		return Interrupted{far}
	case err != nil:
		return fmt.Errorf("%s: %w", title, err)
	}
	b.done++
	return nil
}

// over reports whether the page was interrupted.
func (b *builder) over() bool { return b.limits.Context != nil && b.limits.Context.Err() != nil }

// ended returns the page, as far as it goes if it was interrupted.
func (b *builder) ended(err error) (string, error) {
	if err != nil && !errors.As(err, new(Interrupted)) {
		return "", err
	}
	return b.String(), err
}

func (b *builder) line(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

// text writes a paragraph, after an empty line.
func (b *builder) text(s string) {
	if s != "" {
		b.line("\n%s", s)
	}
}

// row writes a row of a table, and reports it.
func (b *builder) row(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	b.told(line)
	b.line("%s", line)
}

// check runs a check, within these limits, and shows which part of the page it is for.
func (b *builder) check(c check.Config, l check.Limits) (*check.Report, error) {
	c.Limits = l
	if show := l.Progress; show != nil {
		c.Progress = func(p check.Progress) {
			p.Pass = fmt.Sprintf("%d of %d %s, %s", b.done, b.total, b.things, p.Pass)
			show(p)
		}
	}
	r, err := check.Run(c)
	if err == nil && b.over() && unfinished(r) {
		err = errInterrupted
	}
	return r, err
}

// times says how often a process may ask; 0 means without bound.
func times(n int) string {
	if n < 1 {
		return "any"
	}
	return strconv.Itoa(n)
}

func (b *builder) exhibit(number int, e exhibit) error {
	b.line("\n## %d. %s", number, e.title)
	b.text("**What was believed.** " + e.believed)
	if e.broken != nil {
		if err := b.counterexample(*e.broken, e.happens); err != nil {
			return err
		}
	} else {
		b.text("**What happens.** " + e.happens)
	}
	for _, name := range e.scenes {
		if err := b.scene(name); err != nil {
			return err
		}
	}
	b.text("**The fix.** " + e.fix)
	for _, s := range e.proofs {
		if err := b.proof(s); err != nil {
			return err
		}
	}
	return nil
}

// counterexample checks a broken algorithm, with one worker, so that it always finds the
// same counterexample.
func (b *builder) counterexample(s setting, happens string) error {
	l := b.limits
	l.Workers = 1
	r, err := b.run(s, l)
	if err != nil {
		return err
	}
	p := r.First()
	if p == nil || p.Counterexample == nil {
		return fmt.Errorf("%s: want a counterexample, got %s", s.command(), r.Verdict)
	}
	if strings.Contains(p.Note, "does not agree") {
		return fmt.Errorf("%s: %s", s.command(), p.Note)
	}
	b.text(fmt.Sprintf("**What happens.** %s `%s` finds %s violated after %s:", happens, s.command(), p.Name, words.Plural(len(p.Trace), "step")))
	b.line("\n```text\n%s```", p.Story(trace.TextOptions{}))
	return nil
}

// proof checks a fix.
func (b *builder) proof(s setting) error {
	r, err := b.run(s, b.limits)
	if err != nil {
		return err
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.command(), err)
	}
	b.text(fmt.Sprintf("`%s`: %s.", s.command(), outcome(s, r)))
	return nil
}

// scene replays a scenario, which must meet its expectations.
func (b *builder) scene(name string) error {
	file := name + ".stile"
	text, err := scenarios.Files.ReadFile(file)
	if err != nil {
		return err
	}
	sc, err := scenario.Parse(file, string(text))
	if err != nil {
		return err
	}
	spec, err := catalog.Make(sc.Algorithm, sc.Options)
	if err != nil {
		return err
	}
	back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err != nil {
		return err
	}
	if len(back.Differences) > 0 {
		return fmt.Errorf("%s: %v", file, back.Differences[0])
	}
	b.text(fmt.Sprintf("[%s](../../scenarios/%s), replayed:", file, file))
	b.line("\n```text\n%s```", back.Trace().Text(trace.TextOptions{MaxRows: 40}))
	return nil
}

// ringTitle is the title of the ring's part of the museum.
const ringTitle = "Dijkstra's ring with too few values"

// ring writes the part on Dijkstra's ring, whose bounds are found for each size.
func (b *builder) ring(number int) error {
	b.line("\n## %d. %s", number, ringTitle)
	b.text("**What was believed.** With K values for a flag the ring comes right by itself, from any state, if K is larger than the number of processes. How much larger, or whether fewer would do, is often left open.")
	b.text("**What happens.** With too few values the ring can go round for ever with several privileges. With two values, all four processes moving at once, and 0101 at the start, there are three of them in every round:")
	if err := b.scene("dijkstra-k2-for-ever"); err != nil {
		return err
	}
	b.text("**The fix.** Enough values. The smallest K with which every run from every state comes to one privilege and keeps it, found by trying each K from 2 on; in brackets the states of the proof:")
	b.line("\n| who moves | N=2 | N=3 | N=4 | N=5 | N=6 |\n|---|---|---|---|---|---|")
	for m, most := range [...]int{ring.OneMoves: 6, ring.SeveralMove: 6, ring.AllMove: 6, ring.EmptyLinks: 3, ring.LitteredLinks: 2} {
		row := fmt.Sprintf("| %v |", ring.Mover(m))
		for n := 2; n <= most; n++ {
			r, err := ring.Ring{N: n, Mover: ring.Mover(m)}.Check(b.limits)
			if err == nil {
				err = r.Err()
			}
			if err != nil && b.over() {
				err = errInterrupted
			}
			if err != nil {
				return err
			}
			row += fmt.Sprintf(" %d (%s) |", r.Values, words.Grouped(r.States))
		}
		b.line("%s%s", row, strings.Repeat("  |", 6-most))
	}
	b.text("One process moving at a time needs N-1 values (two at least), several at once need N. Where flags travel in messages, the copy that a process has of its neighbour's flag counts like a process of its own, and so does a message that was there at the start: with empty links 2N values are needed.")
	return nil
}
