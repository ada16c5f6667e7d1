package museum

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lab/family/families"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
)

// Time limits of one attempt of a proof.
const (
	patience = 30 * time.Second // without a bound on requests
	long     = 3 * time.Minute  // with one: the next attempt proves less
)

// Proofs makes docs/results/proofs.md. It takes ten minutes, so told receives each line
// of the table as soon as it is known.
func Proofs(parse Parser, l check.Limits, told func(line string)) (string, error) {
	b := newPage("What was proved", "proofs", l, told)
	b.text(fmt.Sprintf("Every algorithm, in every order of events, with N = 2, 3 and 4 on FIFO channels, and with N = 2 and 3 on the weakest network that it claims, if that is weaker. Groups that take very long are in [proofs-long.md](proofs-long.md). *Requests* is how often each process may ask. *Any* means without bound: what holds is then proved for this N. If such a check does not end within %v, the number of requests is bounded. States, transitions and depth are those of the pass without monitors. Tests pin the counts of the smaller groups, on the weakest network that the algorithm claims. The time is that of all passes together, and the memory that of the largest pass, %s.", patience, machine()))
	b.text("The properties: **M**utual exclusion, no **D**eadlock, no **S**tarvation, **O**rder (closed), order among applications that **T**alk, **B**ypass, **K** one token, **F**ence, **C**hannels, st**A**rt (all its claims, from every start of a view: any holder, inside or not, if possible), al**I**bi, con**V**ergence. An upper-case letter means that the property holds; a lower-case letter, that it holds up to the bound on requests; a leading !, that it is violated; a leading ?, that the check did not finish, and the states are those so far. An absent letter means that the property is not claimed, or that there is nothing to check.")
	b.line("\n| algorithm | N | network | requests | states | transitions | depth | properties | on a link | bypass | seconds | MiB |")
	b.line("|---|--:|---|--:|--:|--:|--:|---|--:|--:|--:|--:|")
	large, err := longer(parse)
	if err != nil {
		return "", err
	}
	all, err := tables(parse)
	if err != nil {
		return "", err
	}
	var locks []check.Config
	for _, s := range catalog.All() {
		locks = append(locks, groups(s, large)...)
	}
	b.total, b.things = len(locks), "rows"
	for _, t := range all {
		b.total += len(t.commands)
	}
	for _, c := range locks {
		if err := b.part(fmt.Sprintf("%s with N = %d on a %v network", c.Spec.Name, c.Nodes, c.Network), func() error { return b.lock(c) }); err != nil {
			return b.ended(err)
		}
	}
	b.text("*On a link*: the largest number of messages in flight on one link at a time. *Bypass*: the largest number of entries of other processes that a process can see while it waits, from its request on, and after none of its own messages is in flight.")
	for _, t := range all {
		if err := b.table(t); err != nil {
			return b.ended(err)
		}
	}
	return b.ended(nil)
}

// lock writes the row of a group of a lock.
func (b *builder) lock(c check.Config) error {
	r, err := b.prove(c)
	if err != nil {
		return err
	}
	b.row("| %s | %d | %v | %s | %s | %s | %d | %s | %s | %s | %.1f | %s |", c.Spec.Name, c.Nodes, c.Network, times(int(r.Requests)),
		words.Grouped(r.States), words.Grouped(r.Transitions), r.Depth, verdicts(r, check.Properties(families.Of(c.Spec)), "MDSOTBKFCAIV"),
		strings.Join(atMost(r, check.Channels, 1), ""), strings.Join(atMost(r, check.Bypass, 2), " / "), r.Seconds, mebibytes(r))
	return nil
}

// mebibytes returns the memory of the largest pass of a check, rounded up.
func mebibytes(r *check.Report) string { return words.Grouped((r.Memory + 1<<20 - 1) >> 20) }

// machine says where and with what the page was made.
func machine() string {
	s := fmt.Sprintf("on %d cores of %s/%s with %s", runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, set := range info.Settings {
			if set.Key == "vcs.revision" {
				s += fmt.Sprintf(", at commit %.12s", set.Value)
			}
		}
	}
	return s
}

// groups lists the groups in which an algorithm is checked, without the large ones that are
// checked for all properties.
func groups(s algorithm.Spec, large []check.Config) []check.Config {
	var all []check.Config
	for network := algorithm.FIFO; network <= s.Network; network += max(1, s.Network) {
		for n := 2; n <= 4; n++ {
			c := check.Config{Spec: s, Nodes: n, Network: network}
			long := slices.ContainsFunc(large, func(l check.Config) bool {
				return l.Properties == nil && l.Spec.Name == s.Name && l.Nodes == n && l.Network == network
			})
			if s.Accepts(n) == nil && (n < 4 || network == algorithm.FIFO) && !long {
				all = append(all, c)
			}
		}
	}
	return all
}

// prove proves what can be proved of a group: first without a bound, then with fewer and
// fewer requests.
func (b *builder) prove(c check.Config) (r *check.Report, err error) {
	attempts := []int{0, 2, 1}
	if c.Nodes == 4 {
		attempts = []int{0, 1}
	}
	for _, c.Requests = range attempts {
		l := b.limits
		l.Time = long
		if c.Requests == 0 || c.Spec.Wrong != "" {
			l.Time = patience
		}
		if r, err = b.check(c, l); err != nil || !unfinished(r) {
			break
		}
	}
	return r, err
}

func unfinished(r *check.Report) bool {
	return slices.ContainsFunc(r.Properties, func(p check.Property) bool { return p.Verdict == check.Unfinished })
}

// atMost returns the first bounds that the note of a property names, as many as are wanted.
func atMost(r *check.Report, property string, wanted int) []string {
	var all []string
	if p := r.Find(property); p != nil {
		note := strings.ReplaceAll(p.Note, "without bound", "at most ∞")
		for _, m := range regexp.MustCompile(`at most (\d+|∞)`).FindAllStringSubmatch(note, wanted) {
			all = append(all, m[1])
		}
	}
	return all
}
