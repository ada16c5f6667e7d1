package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// Bounds of a scenario with sites: larger ones could be run, but not followed.
const (
	maxSites        = 100
	maxLocks        = 1000
	maxTransactions = 100 // processes that run them
)

// Transacts reports whether the scenario is about transactions over several locks at
// sites, and not about one critical section.
func (s *Scenario) Transacts() bool { return s.Sites > 0 }

// checkTransacts refuses what does not fit a scenario with sites, or one without.
func (s *Scenario) checkTransacts() error {
	if !s.Transacts() {
		if s.Homes != nil || s.Locks != nil || s.Units != nil || s.Mode != "" || s.Backoff != (Dist{}) {
			return fmt.Errorf("homes, locks, units, mode and backoff are for transactions, which need sites: add lines such as site 1 P1 L1")
		}
		return s.eachFits()
	}
	if s.Sites > maxSites || s.Processes > maxTransactions || len(s.Locks) > maxLocks {
		return fmt.Errorf("%d sites, %d processes and %d locks: want at most %d, %d and %d", s.Sites, s.Processes, len(s.Locks), maxSites, maxTransactions, maxLocks)
	}
	if len(s.Locks) == 0 {
		return fmt.Errorf("there are sites but no locks: add them to the site lines, such as site 1 P1 L1")
	}
	if len(s.Homes) != s.Processes {
		return fmt.Errorf("%d of %d processes are at sites: put every process at one site", len(s.Homes), s.Processes)
	}
	for _, at := range slices.Concat(s.Homes, s.Locks) {
		if at < 0 || int(at) >= s.Sites {
			return fmt.Errorf("there is no site %d: want 1 to %d", at+1, s.Sites)
		}
	}
	if s.Units != nil && len(s.Units) != len(s.Locks) {
		return fmt.Errorf("units of %d locks: want those of each of %d, or none", len(s.Units), len(s.Locks))
	}
	for k, n := range s.Units {
		if n < 0 || n > maxUnits {
			return fmt.Errorf("%s has %d units: want at most %d", lockName(k), n, maxUnits)
		}
	}
	if s.Options != (algorithm.Options{}) || s.Holder != 0 || s.Busy ||
		s.Network != algorithm.FIFO || s.Manual || len(s.Set) > 0 {
		return fmt.Errorf("a scenario with sites is about transactions: it cannot have algorithm options, holder, network, hold manual or set")
	}
	for _, l := range s.Links {
		if min(l.From, l.To) < 0 || int(max(l.From, l.To)) >= s.Sites {
			return fmt.Errorf("latency %d -> %d: there are sites 1 to %d", l.From+1, l.To+1, s.Sites)
		}
	}
	return s.eachFits()
}

// eachFits checks that actions and expectations are of the right kind.
func (s *Scenario) eachFits() error {
	for _, a := range s.Actions {
		if err := s.kindFits(a); err != nil {
			return err
		}
		if a.Kind == Take && (len(a.Locks) == 0 || slices.Max(a.Locks) >= len(s.Locks) || slices.Min(a.Locks) < 0 || repeats(a.Locks)) {
			return fmt.Errorf("%q: want locks L1 to L%d, each once", a, len(s.Locks))
		}
		if err := s.modesFit(a); err != nil {
			return err
		}
		if a.Kind.transacts() && !s.has(a.Proc) {
			return fmt.Errorf("%q: there are processes 1 to %d", a, s.Processes)
		}
		if s.Transacts() && !a.Kind.transacts() && (!s.isSite(a.Proc) || !s.isSite(a.Peer)) {
			return fmt.Errorf("%q: there are sites 1 to %d", a, s.Sites)
		}
	}
	for _, e := range s.Expect {
		if e.Kind >= NoCycle {
			return fmt.Errorf("%q: only a resource graph can have this expectation", e)
		}
		both := e.Kind == Messages || e.Kind == Violated && e.Name == MutualExclusion || e.Kind == PhaseIs && e.Phase != Inside && e.When.Kind != OnEntry
		if !both && (e.Kind >= Commits) != s.Transacts() {
			return fmt.Errorf("%q: scenarios with sites have expectations about transactions, those without about critical sections", e)
		}
		if s.Transacts() && (!s.has(e.Proc) || !s.has(e.Peer) || slices.ContainsFunc(e.Procs, func(p algorithm.ID) bool { return !s.has(p) })) {
			return fmt.Errorf("%q: there are processes 1 to %d", e, s.Processes)
		}
	}
	return nil
}

// transacts reports whether an action is one of a process that runs transactions.
func (k ActionKind) transacts() bool {
	return k == Take || k == Proceed || k == Cancel || k == Abandon
}

// modesFit checks that locks can be taken in their modes.
func (s *Scenario) modesFit(a Action) error {
	if a.Modes == nil {
		return nil
	}
	if a.Kind != Take || len(a.Modes) != len(a.Locks) {
		return fmt.Errorf("%d modes of %d locks: want one for each lock that a transaction takes", len(a.Modes), len(a.Locks))
	}
	for i, m := range a.Modes {
		if why := s.unfit(a.Locks[i], m); why != "" {
			return fmt.Errorf("%q: %s", a, why)
		}
	}
	return nil
}

// unfit says why a lock cannot be taken in a mode, or nothing.
func (s *Scenario) unfit(k, mode int) string {
	n := s.unitsOf(k)
	switch {
	case mode < -1:
		return fmt.Sprintf("there is no mode %d", mode)
	case mode < 0 && n > 1:
		return fmt.Sprintf("%s has units, so it cannot be shared: take a number of units", lockName(k))
	case mode > max(1, n):
		return fmt.Sprintf("%s has %d: take at most that many, or add a line such as units %s %d", lockName(k), max(1, n), lockName(k), mode)
	}
	return ""
}

// unitsOf returns the units of a lock.
func (s *Scenario) unitsOf(k int) int {
	if k >= len(s.Units) {
		return 0
	}
	return s.Units[k]
}

// kindFits checks that an action is for this kind of scenario: transactions are for one
// with sites, which has few other actions, and goes on is only for steps.
func (s *Scenario) kindFits(a Action) error {
	if a.Kind.OnLink() || a.Kind == DeliverAll {
		return nil
	}
	switch a.Kind {
	case Take, CrashSite, SuspectSite, ExpireSite, Cancel, Abandon:
		if s.Transacts() {
			return nil
		}
	case Proceed:
		if s.Transacts() && !s.Steps {
			return fmt.Errorf("%q: only for schedule steps; in a timed schedule it happens by itself", a)
		}
		if s.Transacts() {
			return nil
		}
	default:
		if !s.Transacts() {
			return nil
		}
	}
	return fmt.Errorf("%q: only scenarios with sites have transactions, and they have nothing else", a)
}

func (s *Scenario) isSite(id algorithm.ID) bool { return id >= 0 && int(id) < s.Sites }

func (s *Scenario) has(p algorithm.ID) bool { return p >= 0 && int(p) < s.Processes }

func repeats(locks []int) bool {
	sorted := slices.Sorted(slices.Values(locks))
	return len(slices.Compact(sorted)) < len(locks)
}

// formatSites writes a line for each site.
func (s *Scenario) formatSites(say func(string, ...any)) {
	for site := range algorithm.ID(s.Sites) {
		line := "site " + strconv.Itoa(int(site)+1)
		for p, at := range s.Homes {
			if at == site {
				line += " " + algorithm.ID(p).String()
			}
		}
		for k, at := range s.Locks {
			if at == site {
				line += " " + lockName(k)
			}
		}
		say("%s", line)
	}
	for k, n := range s.Units {
		if n > 1 {
			say("units %s %d", lockName(k), n)
		}
	}
}

func lockName(k int) string { return "L" + strconv.Itoa(k+1) }

// takenNames formats locks with their modes: L1 shared L2 L3 2 units.
func takenNames(locks, modes []int) string {
	var words []string
	for i, k := range locks {
		words = append(words, lockName(k))
		switch {
		case modes == nil || modes[i] == 0:
		case modes[i] < 0:
			words = append(words, "shared")
		case modes[i] == 1:
			words = append(words, "1 unit")
		default:
			words = append(words, strconv.Itoa(modes[i])+" units")
		}
	}
	return strings.Join(words, " ")
}

// transacts returns an expectation of transactions without the word expect.
func (e Expectation) transacts() string {
	switch e.Kind {
	case Commits:
		return "commits " + names(e.Procs)
	case Aborts:
		return "aborts " + names(e.Procs)
	case CommitsAt:
		return fmt.Sprintf("%v commits at %s", e.Proc, FormatTime(e.At))
	case AbortsAt:
		return fmt.Sprintf("%v aborts at %s", e.Proc, FormatTime(e.At))
	case Stuck:
		return "stuck " + names(e.Procs)
	case Deadlocks:
		return "deadlocks " + strconv.Itoa(e.N)
	case Cycle:
		return "cycle " + names(e.Procs)
	case FalseCycle:
		return "false cycle " + names(e.Procs)
	case Phantom:
		return "phantom " + names(e.Procs)
	case NoFalseCycle:
		return "no false cycle"
	case WaitsFor:
		return fmt.Sprintf("%s%v waits for %v", e.When, e.Proc, e.Peer)
	}
	return fmt.Sprintf("expectation %d", uint8(e.Kind))
}

// names formats processes as P2 P3, or none.
func names(ids []algorithm.ID) string {
	if len(ids) == 0 {
		return "none"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return strings.Join(words, " ")
}
