package museum

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
)

// A longProof is a proof worth minutes.
type longProof struct {
	check.Config
	memory int64 // maximum memory
}

// eight is the memory for groups of four: what does not fit is too large.
const eight = 8 << 30

// patient is the time limit of one pass of a long proof.
const patient = 30 * time.Minute

// longer lists the long proofs.
func longer() []longProof {
	only := []string{check.MutualExclusion, check.Deadlock}
	all := []longProof{
		{check.Config{Spec: mutex.Lamport(), Nodes: 3}, 0},
		{check.Config{Spec: mutex.RicartAgrawala(), Nodes: 4, Properties: only}, 0},
		{check.Config{Spec: mutex.Majority(), Nodes: 3, Requests: 2}, 0},
		{check.Config{Spec: mutex.Bakery(), Nodes: 3, Requests: 2, Network: algorithm.Unordered}, 0},
		{check.Config{Spec: mutex.BakeryPolling(), Nodes: 3, Requests: 2, Network: algorithm.Unordered}, 0},
	}
	for _, s := range []algorithm.Spec{mutex.RicartAgrawala(), mutex.Sanders(mutex.AskAll), mutex.Bakery(), mutex.BakeryPolling(), mutex.Lamport(), mutex.Majority()} {
		all = append(all, longProof{check.Config{Spec: s, Nodes: 4, Requests: 1}, eight})
	}
	return all
}

// isLonger reports whether a group is one of the long proofs.
func isLonger(c check.Config) bool {
	return slices.ContainsFunc(longer(), func(p longProof) bool {
		return p.Spec.Name == c.Spec.Name && p.Nodes == c.Nodes && p.Network == c.Network
	})
}

// Long makes docs/results/proofs-long.md, which takes hours. told receives each line of
// the table as soon as it is known. What is not begun within the time limit is left out.
func Long(l check.Limits, told func(line string)) (string, error) {
	started := time.Now()
	b := newPage("What took longer to prove", "proofs-long", l, told)
	b.text(fmt.Sprintf("Proofs that [proofs.md](proofs.md) has no time for, one row for each pass over the states: the first without a monitor, the others with one, or from every start of a view. *Requests* is how often each process may ask; what holds for *any* number is proved for this N. Groups of four may use 8 GiB for states and queue; if the first pass does not fit, the others, which are larger, are not tried. Made %s.", machine()))
	b.line("\n| algorithm | N | network | requests | property | verdict | states | transitions | depth | seconds |")
	b.line("|---|--:|---|--:|---|---|--:|--:|--:|--:|")
	b.things = "passes"
	for _, p := range longer() {
		b.total += len(passes(p))
	}
	for _, p := range longer() {
		lists := passes(p)
		for i, names := range lists {
			if l.Time > 0 && time.Since(started) > l.Time {
				b.text(fmt.Sprintf("What follows was not begun: the time limit of %v was over.", l.Time))
				return b.ended(nil)
			}
			fits := false
			err := b.part(fmt.Sprintf("%s with N = %d on a %v network, %s", p.Spec.Name, p.Nodes, p.Network, names[0]), func() (err error) {
				fits, err = b.pass(p, names)
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
func (b *builder) pass(p longProof, names []string) (fits bool, err error) {
	c, l := p.Config, b.limits
	c.Properties, l.Time = names, patient
	if p.memory > 0 {
		l.Memory = min(p.memory, l.Memory)
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
func passes(p longProof) [][]string {
	names := p.Properties
	if names == nil {
		names = check.Claims(p.Spec)
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
			b.row("| %s | %d | %s | %s | %s | %s%s | %s | %s | %d | %.0f |", r.Algorithm, r.Nodes, r.Network, times(int(r.Requests)),
				strings.Join(names, ", "), v, note, words.Grouped(r.States), words.Grouped(r.Transitions), r.Depth, r.Seconds)
		}
	}
}
