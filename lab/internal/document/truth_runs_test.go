package document

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/scenario"
)

// rounds is how many random runs there are of each algorithm.
var rounds = flag.Int("truths", 10, "random runs of each algorithm, by time and by steps")

// TestTruth: in random runs of every algorithm, whatever is said of who waits is
// so by the events, wherever a page stops.
func TestTruth(t *testing.T) {
	nightly.Only(t)
	said := 0
	try := func(name string, spec algorithm.Spec, steps, sections bool) {
		r := rand.New(rand.NewPCG(3, uint64(len(name))))
		for range *rounds {
			text, d := randomly(r, name, steps, sections)
			for _, x := range d.Deltas {
				if x.Wait != nil && *x.Wait != "" {
					said++
				}
			}
			if wrong := untrue(d, spec); len(wrong) > 0 {
				t.Errorf("%s\n%s", strings.Join(wrong[:min(3, len(wrong))], "\n"), text)
				return
			}
		}
	}
	every(func(name string, spec algorithm.Spec) {
		for _, steps := range []bool{false, true} {
			try(name, spec, steps, false)
			if spec.Family != algorithm.Election && spec.Shape.Picture != algorithm.AtSites && !spec.Detects {
				try(name, spec, steps, true)
			}
		}
	})
	for _, lock := range catalog.Sound() {
		for _, elect := range []string{"ring-election", "chang-roberts"} {
			if spec, err := catalog.Make(lock.Name+"+"+elect, algorithm.Options{}); err == nil {
				try(spec.Name, spec, false, false)
				try(spec.Name, spec, true, false)
			}
		}
	}
	if said < 2000**rounds {
		t.Errorf("only %d sentences: this shows little", said)
	}
}

// randomly makes a run of lines by chance; those that cannot be done are left out.
func randomly(r *rand.Rand, name string, steps, sections bool) (string, *Document) {
	n := 3 + r.IntN(3)
	text := fmt.Sprintf("algorithm %s\nprocesses %d\n", name, n)
	_, err := deadlock.Find(name)
	sites := err == nil
	switch {
	case sites:
		text += "site 1 P1 L1\nsite 2 P2 L2\nsite 3"
		for p := 3; p <= n; p++ {
			text += fmt.Sprintf(" P%d", p)
		}
		text += " L3\n"
	case sections:
		text += fmt.Sprintf("section a among 1,2,3\nsection b among 1,%d,%d\n", n-1, n)
	}
	if steps {
		text += "schedule steps\n"
	} else {
		text += "until 40\n"
	}
	faults := r.IntN(3) > 0
	d := run(text, Options{}, undrawn)
	for i := range 24 {
		line := lockLine(r, n, steps, faults, sections)
		if sites {
			line = siteLine(r, n, steps, faults)
		}
		if !steps {
			line = fmt.Sprintf("at %.1f %s", float64(i)*0.7, line)
		}
		if next := run(text+line+"\n", Options{}, undrawn); next.Error == nil && next.Cut == nil {
			text, d = text+line+"\n", next
		}
	}
	return text, d
}

// lockLine is a line about a lock or an election.
func lockLine(r *rand.Rand, n int, steps, faults, sections bool) string {
	p, q, in := 1+r.IntN(n), 1+r.IntN(n), ""
	if sections {
		in = " " + string("ab"[r.IntN(2)])
	}
	lines := []string{fmt.Sprintf("P%d asks%s", p, in), fmt.Sprintf("P%d asks%s", q, in), fmt.Sprintf("P%d leaves%s", p, in)}
	if steps {
		deliver := fmt.Sprintf("deliver %d -> %d", p, q)
		lines = append(lines, "deliver all", "deliver all", deliver, deliver, deliver, fmt.Sprintf("P%d suspects P%d", p, q))
	} else {
		lines[2] = fmt.Sprintf("P%d asks%s for 4", p, in)
	}
	if faults {
		lines = append(lines, fmt.Sprintf("crash P%d", p), fmt.Sprintf("restart P%d", p), fmt.Sprintf("pause P%d", p), fmt.Sprintf("resume P%d", p), fmt.Sprintf("drop %d -> %d", p, q))
	}
	return lines[r.IntN(len(lines))]
}

// siteLine is a line about transactions.
func siteLine(r *rand.Rand, n int, steps, faults bool) string {
	p, a, b := 1+r.IntN(n), 1+r.IntN(3), 1+r.IntN(3)
	locks := r.Perm(3)
	lines := []string{fmt.Sprintf("P%d takes L%d", p, a), fmt.Sprintf("P%d takes L%d L%d", p, locks[0]+1, locks[1]+1), fmt.Sprintf("P%d takes L%d L%d L%d", p, locks[0]+1, locks[1]+1, locks[2]+1)}
	if steps {
		deliver := fmt.Sprintf("deliver %d -> %d", a, b)
		lines = append(lines, "deliver all", deliver, deliver, fmt.Sprintf("P%d goes on", p), fmt.Sprintf("P%d goes on", p), fmt.Sprintf("site %d suspects site %d", a, b), fmt.Sprintf("site %d timer 0 expires", a))
	}
	if faults {
		lines = append(lines, fmt.Sprintf("drop %d -> %d", a, b), fmt.Sprintf("crash site %d", a))
	}
	return lines[r.IntN(len(lines))]
}

// TestUntruths: what was once said wrongly is found, if a document says it again.
func TestUntruths(t *testing.T) {
	const (
		all      = "algorithm ricart-agrawala\nprocesses 3\nschedule steps\nP1 asks\nP2 asks\ndeliver all\n"
		sections = "algorithm ricart-agrawala\nprocesses 2\nsection a among 1,2\nsection b among 1,2\nhold manual\nat 0 P1 asks a\nat 3 P2 asks b\nat 6 P1 asks b\nat 6 P2 asks a\n"
		banker   = "algorithm banker\nprocesses 2\nsite 1 P1 P2 L1 L2\nat 0 P1 takes L1 L2\nat 0.5 P2 takes L2 L1\n"
		dead     = "algorithm ricart-agrawala\nprocesses 3\nat 0 crash P3\nat 1 P1 asks\n"
	)
	in := func(d *Document, line int) bool { // sentences were written after the last event of a line
		return slices.ContainsFunc(d.Lines, func(l LineEvents) bool { return l.From < line && line < l.To })
	}
	for _, c := range []struct {
		text, old string
		spoil     func(d *Document, x *Delta, s string) *string // a sentence at a delta; nil takes it away
	}{
		{all, "only after all is delivered", func(d *Document, x *Delta, s string) *string {
			if in(d, x.Event) && s != "" {
				return nil
			}
			return &s
		}},
		{sections, "nothing of who is inside another section", func(d *Document, x *Delta, s string) *string {
			if x.Event > 12 {
				return nil
			}
			return &s
		}},
		{banker, "a message where none is", func(_ *Document, _ *Delta, s string) *string {
			if before, _, ok := strings.Cut(s, ", which is free"); ok {
				s = before + ": a message about it is in flight"
			}
			return &s
		}},
		{all, "inside who waits", func(_ *Document, _ *Delta, s string) *string {
			s = strings.ReplaceAll(s, "from P3", "from P3, which is inside")
			return &s
		}},
		{all, "a decision that was not made", func(_ *Document, _ *Delta, s string) *string {
			s = strings.ReplaceAll(s, "(1,P1) comes before (1,P2)", "(1,P2) comes before (1,P1)")
			return &s
		}},
		{all, "a decision about another process", func(_ *Document, _ *Delta, s string) *string {
			s = strings.ReplaceAll(s, "OK is in flight", "P2 defers P1, because (1,P2) comes before (1,P1)")
			return &s
		}},
		{dead, "the dead without a word", func(_ *Document, _ *Delta, s string) *string {
			s = strings.ReplaceAll(s, ", which has crashed", "")
			return &s
		}},
	} {
		d := run(c.text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		spec, err := SpecOf(must(t, c.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := untrue(d, spec); len(wrong) > 0 {
			t.Errorf("%s%s", c.text, strings.Join(wrong, "\n"))
		}
		for i := range d.Deltas {
			if x := &d.Deltas[i]; x.Wait != nil {
				x.Wait = c.spoil(d, x, *x.Wait)
			}
		}
		if len(untrue(d, spec)) == 0 {
			t.Errorf("%s%s: it is not found", c.text, c.old)
		}
	}
}

// must reads a text.
func must(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	sc, err := Parse(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sc
}
