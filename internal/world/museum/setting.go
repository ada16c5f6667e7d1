package museum

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
)

// A setting is one check: an algorithm, and the conditions.
type setting struct {
	algorithm  string
	options    algorithm.Options
	nodes      int // 0 means 3
	requests   int // 0 means without bound
	network    algorithm.Network
	losses     int    // messages lost, for a lock that survives crashes, of which there are none
	requesters string // empty means all processes
	properties string // comma-separated; empty means all that it claims
	sites      int    // sites of a method against deadlock, which it is if there are any
}

// run checks it, within these limits.
func (b *builder) run(s setting, l check.Limits) (*check.Report, error) {
	c := check.Config{Nodes: s.n(), Requests: s.requests, Network: s.network, Options: s.options}
	var err error
	if s.sites > 0 {
		err = dine(&c, s.algorithm, "", s.sites)
	} else {
		c.Spec, err = catalog.Make(s.algorithm, s.options)
	}
	if err != nil {
		return nil, err
	}
	if s.sites == 0 && c.Spec.Detects {
		c.Losses, c.Pace = s.losses, check.Quick
	}
	if s.properties != "" {
		c.Properties = strings.Split(s.properties, ",")
	}
	if s.requesters != "" {
		if c.Requesters, err = catalog.ParseList(s.requesters); err != nil {
			return nil, err
		}
	}
	return b.check(c, l)
}

// n is the number of processes: by default that of the command.
func (s setting) n() int {
	switch {
	case s.nodes == 0 && s.sites > 0:
		return 2
	case s.nodes == 0:
		return 3
	}
	return s.nodes
}

// command returns the command line that runs it.
func (s setting) command() string {
	parts := []string{"stile check", s.algorithm}
	say := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(s.sites > 2, "--sites %d", s.sites)
	say(s.nodes != 0, "--nodes %d", s.nodes)
	say(s.requests == 0, "--requests unbounded")
	say(s.requests != 0, "--requests %d", s.requests)
	say(s.network != algorithm.FIFO, "--network %v", s.network)
	o := s.options
	say(o.Topology != "", "--topology %s", o.Topology)
	say(o.Sets != "", "--sets %q", o.Sets)
	say(o.Inform != "", "--inform %q", o.Inform)
	say(o.K != 0, "--k %d", o.K)
	say(o.Coordinator != 0, "--coordinator %d", o.Coordinator)
	say(o.Experiment, "--experiment")
	say(o.Patience != 0, "--patience %d", o.Patience)
	say(strings.Contains(s.algorithm, "+"), "--crashes 0")
	say(s.losses != 0, "--losses %d", s.losses)
	say(s.requesters != "", "--requesters %s", s.requesters)
	say(s.properties != "", "--property %s", s.properties)
	return strings.Join(parts, " ")
}

// claim says what a property promises, in words.
func claim(property string) string {
	switch property {
	case check.Deadlock, check.Starvation:
		return "no " + property
	case check.MutualExclusion:
		return "mutual exclusion"
	case check.OrderOpen:
		return "order, also when applications talk"
	case check.Token:
		return "never two tokens"
	case check.Start:
		return "every start of a view is legitimate"
	}
	return property
}

// outcome says in words what a check of a sound algorithm resulted in.
func outcome(s setting, r *check.Report) string {
	what := "all that it claims"
	if s.properties != "" {
		var claims []string
		for p := range strings.SplitSeq(s.properties, ",") {
			claims = append(claims, claim(p))
		}
		what = strings.Join(claims, "; ")
	}
	things := "request"
	if s.sites > 0 {
		things = "transaction"
	}
	how := fmt.Sprintf("proved for %d processes and any number of %ss", s.n(), things)
	if s.requests > 0 {
		how = fmt.Sprintf("checked for %d processes and up to %s of each", s.n(), words.Plural(s.requests, things))
	}
	if s.losses > 0 {
		how += fmt.Sprintf(", with up to %s at any step", words.Plural(s.losses, "lost message"))
	}
	return fmt.Sprintf("%s: %s (%s states, %s transitions)", how, what, words.Grouped(r.States), words.Grouped(r.Transitions))
}
