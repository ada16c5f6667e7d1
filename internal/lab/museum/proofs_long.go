package museum

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
)

// patient is the time limit of one pass of a long proof.
const patient = 30 * time.Minute

// eight is the memory for groups of four with a bound on requests: what does not fit is
// too large.
const eight = 8 << 30

// reduced are the flags of a proof without spent messages, for all properties that need
// no others.
const reduced = " --reduce --property mutual-exclusion,deadlock,token,alibi,fence"

// four are the flags of a proof for a group of four, without a bound on requests.
const four = " --nodes 4 --requests unbounded --property mutual-exclusion,deadlock"

// longer returns the proofs worth minutes.
func longer(parse Parser) ([]check.Config, error) {
	commands := []string{
		"lamport --requests unbounded",
		"ricart-agrawala" + four,
		"carvalho-roucairol" + four,
		"maekawa" + four,
		"maekawa-reject" + four,
		"sanders" + four,
		"suzuki-kasami --nodes 4 --requests unbounded" + reduced,
		"ricart-agrawala-token --nodes 4 --requests unbounded" + reduced,
		"ricart-agrawala-token --nodes 5 --requests unbounded" + reduced,
		"majority --requests 2",
		"bakery --requests 2 --network unordered",
		"bakery-polling --requests 2 --network unordered",
	}
	for _, name := range []string{"ricart-agrawala", "sanders", "bakery", "bakery-polling", "lamport", "majority"} {
		commands = append(commands, name+" --nodes 4 --requests 1")
	}
	return parseAll(parse, commands)
}

// Long makes docs/results/proofs-long.md, which takes hours. told receives each line of
// the table as soon as it is known. What is not begun within the time limit is left out.
func Long(parse Parser, l check.Limits, told func(line string)) (string, error) {
	started := time.Now()
	b := newPage("What took longer to prove", "proofs-long", l, told)
	b.text(fmt.Sprintf("Proofs that take too long for [proofs.md](proofs.md), one row for each pass over the states: the first without a monitor, the others with one, or from every start of a view. *Requests* is how often each process may ask; what holds for *any* number is proved for this N. Groups of four may use 8 GiB for states and queue; if the first pass does not fit, the others, which are larger, are not tried. *Reduced* means that the states are counted without messages that no longer change anything. Made %s.", machine()))
	b.line("\n| algorithm | N | network | requests | property | verdict | states | transitions | depth | seconds | MiB |")
	b.line("|---|--:|---|--:|---|---|--:|--:|--:|--:|--:|")
	b.things = "passes"
	all, err := longer(parse)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		b.total += len(passes(c))
	}
	for _, c := range all {
		lists := passes(c)
		for i, names := range lists {
			if l.Time > 0 && time.Since(started) > l.Time {
				b.text(fmt.Sprintf("The rest was not started, because the time limit of %v was reached.", l.Time))
				return b.ended(nil)
			}
			fits := false
			err := b.part(fmt.Sprintf("%s with N = %d on a %v network, %s", c.Spec.Name, c.Nodes, c.Network, names[0]), func() (err error) {
				fits, err = b.pass(c, names)
				return err
			})
			if err != nil {
				return b.ended(err)
			}
			if !fits {
				b.done += len(lists) - i - 1
				break
			}
		}
	}
	return b.ended(nil)
}

// pass writes the rows of a pass of a proof, and reports whether there is room for the
// plain states.
func (b *builder) pass(c check.Config, names []string) (fits bool, err error) {
	l := b.limits
	c.Properties, l.Time = names, patient
	if c.Nodes == 4 && c.Requests > 0 {
		l.Memory = min(eight, l.Memory)
	}
	r, err := b.check(c, l)
	if err != nil {
		return false, err
	}
	b.longRows(r)
	plain := r.Find(check.MutualExclusion)
	return plain == nil || plain.Verdict != check.Unfinished, nil
}

// passes divides the properties to prove into one list for each pass.
func passes(c check.Config) [][]string {
	names := c.Properties
	if names == nil {
		names = check.Claims(c.Spec)
	}
	own := []string{check.Order, check.OrderOpen, check.Fence, check.Start}
	first := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(own, n) })
	lists := [][]string{first}
	for _, n := range own {
		if slices.Contains(names, n) {
			lists = append(lists, []string{n})
		}
	}
	return lists
}

// longRows writes one row for the properties that share a verdict.
func (b *builder) longRows(r *check.Report) {
	states := words.Grouped(r.States)
	if r.Reduced {
		states += " reduced"
	}
	for _, v := range []check.Verdict{check.Holds, check.HoldsBounded, check.Violated, check.Unfinished} {
		var names []string
		note := ""
		for _, p := range r.Properties {
			if p.Verdict != v {
				continue
			}
			names = append(names, p.Name)
			if v == check.Unfinished {
				note = ": " + p.Note
			}
		}
		if names != nil {
			b.row("| %s | %d | %s | %s | %s | %s%s | %s | %s | %d | %.0f | %s |", r.Algorithm, r.Nodes, r.Network, times(int(r.Requests)),
				strings.Join(names, ", "), v, note, states, words.Grouped(r.Transitions), r.Depth, r.Seconds, mebibytes(r))
		}
	}
}
