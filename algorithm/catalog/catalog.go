// Package catalog is the list of all algorithms. Hosts take an algorithm.Spec; an
// algorithm that a user names comes from here.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/internal/spell"
)

// An entry is one algorithm and how to make it. Hosts make algorithms often, and a list of
// entries makes none.
type entry struct {
	name  string
	knows string // names of the options it accepts, separated by spaces
	make  func(o algorithm.Options) (algorithm.Spec, error)
}

// entries returns the sound algorithms in the order in which to present them, and then
// the wrong ones.
func entries() []entry {
	return []entry{
		{"central", "coordinator", coordinated(mutex.Central)},
		{"central-deny", "coordinator", coordinated(mutex.CentralDeny)},
		{"central-stamped", "coordinator", coordinated(mutex.CentralStamped)},
		plain("token-ring", mutex.TokenRing),
		plain("token-ring-lazy", mutex.TokenRingLazy),
		plain("lamport", mutex.Lamport),
		plain("ricart-agrawala", mutex.RicartAgrawala),
		plain("carvalho-roucairol", mutex.CarvalhoRoucairol),
		plain("suzuki-kasami", mutex.SuzukiKasami),
		plain("ricart-agrawala-token", mutex.RicartAgrawalaToken),
		plain("majority", mutex.Majority),
		{"maekawa", "topology sets", func(o algorithm.Options) (algorithm.Spec, error) {
			q, err := quorums(o)
			return drawn(mutex.Maekawa(q), o), err
		}},
		{"maekawa-reject", "topology sets", func(o algorithm.Options) (algorithm.Spec, error) {
			q, err := quorums(o)
			return drawn(mutex.MaekawaReject(q), o), err
		}},
		{"raymond", "topology", func(o algorithm.Options) (algorithm.Spec, error) {
			t, err := tree(o)
			return mutex.Raymond(t), err
		}},
		{"sanders", "topology sets inform experiment", sanders},
		plain("bakery", mutex.Bakery),
		plain("bakery-polling", mutex.BakeryPolling),
		{"dijkstra", "k", func(o algorithm.Options) (algorithm.Spec, error) { return mutex.Dijkstra(o.K), nil }},
		plain("naimi-trehel", mutex.NaimiTrehel),
		plain("ricart-agrawala-1981", mutex.RicartAgrawala1981),
		plain("majority-naive", mutex.MajorityNaive),
		{"maekawa-naive", "topology sets", func(o algorithm.Options) (algorithm.Spec, error) {
			q, err := quorums(o)
			return drawn(mutex.MaekawaNaive(q), o), err
		}},
		{"maekawa-published", "topology sets", func(o algorithm.Options) (algorithm.Spec, error) {
			q, err := quorums(o)
			return drawn(mutex.MaekawaPublished(q), o), err
		}},
		{"raymond-greedy", "topology", func(o algorithm.Options) (algorithm.Spec, error) {
			t, err := tree(o)
			return mutex.RaymondGreedy(t), err
		}},
		{"raymond-printed", "topology", func(o algorithm.Options) (algorithm.Spec, error) {
			t, err := tree(o)
			return mutex.RaymondPrinted(t), err
		}},
		{"raymond-initialize", "topology", func(o algorithm.Options) (algorithm.Spec, error) {
			t, err := tree(o)
			return mutex.RaymondInitialize(t), err
		}},
		plain("bakery-naive", mutex.BakeryNaive),
	}
}

// elections returns the elections.
func elections() []entry {
	return []entry{
		plain("bully", election.Bully),
		plain("ring-election", election.Ring),
		{"chang-roberts", "topology", func(o algorithm.Options) (algorithm.Spec, error) {
			switch o.Topology {
			case "", "up", "down":
				return election.ChangRoberts(o.Topology == "down"), nil
			}
			return algorithm.Spec{}, fmt.Errorf("unknown topology %q: want up or down%s", o.Topology, spell.DidYouMean(o.Topology, "up", "down"))
		}},
	}
}

// every returns the entries of all families.
func every() []entry { return slices.Concat(entries(), elections()) }

// recovered composes a lock and an election.
func recovered(lock, elect string, o algorithm.Options) (algorithm.Spec, error) {
	if elect == hasty {
		return hurried(lock, o)
	}
	vote, err := Make(elect, algorithm.Options{})
	if err != nil {
		return algorithm.Spec{}, err
	}
	patience := o.Patience
	o.Patience = 0
	one, err := Make(lock, o)
	if err != nil {
		return algorithm.Spec{}, err
	}
	if vote.Family != algorithm.Election || one.Family != algorithm.MutualExclusion || one.Detects {
		return algorithm.Spec{}, fmt.Errorf("%s+%s: want a lock and an election, such as central+bully", lock, elect)
	}
	if o.Coordinator != 0 {
		return algorithm.Spec{}, fmt.Errorf("the coordinator of %s+%s is elected: leave it out", lock, elect)
	}
	led := slices.ContainsFunc(entries(), func(e entry) bool {
		return e.name == lock && slices.Contains(strings.Fields(e.knows), "coordinator")
	})
	spec := recovery.Patient(func(coordinator algorithm.ID) algorithm.Spec {
		if !led {
			return one
		}
		o := o // several workers make machines at the same time
		o.Coordinator = int(coordinator) + 1
		spec, err := Make(lock, o)
		if err != nil {
			panic(fmt.Sprintf("catalog: making %s failed, though it succeeded before: %v", lock, err))
		}
		return spec
	}, vote, patience)
	spec.Theory.Wait = nil // a death makes others wait longer
	return spec, nil
}

// Patience returns a sensible patience for a lock such as central+bully among n processes
// where messages are lost: the least that is allowed. It is 0 for the hasty rule, which
// has no patience to choose.
func Patience(name string, n int) int {
	if strings.HasSuffix(name, "+"+hasty) {
		return 0
	}
	return recovery.LeastPatience(n)
}

// hasty takes the place of an election for the rule that goes wrong: a process that has
// waited for long makes a token.
const hasty = "hasty"

// Recoveries returns the names that can follow the plus of a lock: the elections, and the
// rule that goes wrong.
func Recoveries() []string { return append(names(elections()), hasty) }

// hurried composes a lock and the hasty rule.
func hurried(lock string, o algorithm.Options) (algorithm.Spec, error) {
	one, err := Make(lock, o)
	if err == nil && (one.Family != algorithm.MutualExclusion || one.Detects) {
		err = fmt.Errorf("%s+%s: want a lock with a token, such as token-ring+%s", lock, hasty, hasty)
	}
	if err != nil {
		return algorithm.Spec{}, err
	}
	return recovery.Hasty(one), nil
}

// plain returns an algorithm that accepts no options.
func plain(name string, f func() algorithm.Spec) entry {
	return entry{name, "", func(algorithm.Options) (algorithm.Spec, error) { return f(), nil }}
}

// Make returns the algorithm with the given name. A lock and an election with a plus
// between them, such as central+bully, make a lock that survives deaths. An option that
// the algorithm does not accept is an error, because it would otherwise seem to have an
// effect.
func Make(name string, o algorithm.Options) (algorithm.Spec, error) {
	if lock, elect, ok := strings.Cut(name, "+"); ok {
		return recovered(lock, elect, o)
	}
	all := every()
	i := slices.IndexFunc(all, func(e entry) bool { return e.name == name })
	if i < 0 {
		return algorithm.Spec{}, fmt.Errorf("unknown algorithm %q: 'stile-lab algorithms' lists them%s", name, spell.DidYouMean(name, names(all)...))
	}
	if err := Refuse(name, o, strings.Fields(all[i].knows)...); err != nil {
		return algorithm.Spec{}, err
	}
	spec, err := all[i].make(o)
	if err != nil {
		return algorithm.Spec{}, fmt.Errorf("%s: %w", name, err)
	}
	return spec, nil
}

// All returns every mutual exclusion algorithm with its default options, the sound ones
// first.
func All() []algorithm.Spec { return specs(entries()) }

// Every returns every algorithm, of every family, with its default options: those for
// mutual exclusion first.
func Every() []algorithm.Spec { return specs(every()) }

// Elections returns every election with its default options.
func Elections() []algorithm.Spec { return specs(elections()) }

func specs(list []entry) []algorithm.Spec {
	var specs []algorithm.Spec
	for _, e := range list {
		s, err := e.make(algorithm.Options{})
		if err != nil {
			panic(fmt.Sprintf("catalog: %s without options: %v", e.name, err))
		}
		specs = append(specs, s)
	}
	return specs
}

// Sound returns the mutual exclusion algorithms that are neither wrong nor weaker than
// another one.
func Sound() []algorithm.Spec {
	return slices.DeleteFunc(All(), func(s algorithm.Spec) bool { return !s.Sound() })
}

// Refuse returns an error if o sets an option that the algorithm does not accept.
func Refuse(name string, o algorithm.Options, known ...string) error {
	for _, opt := range []struct {
		name string
		set  bool
	}{
		{"topology", o.Topology != ""}, {"sets", o.Sets != ""}, {"inform", o.Inform != ""},
		{"k", o.K != 0}, {"coordinator", o.Coordinator != 0},
		{"experiment", o.Experiment}, {"patience", o.Patience != 0},
	} {
		if opt.set && !slices.Contains(known, opt.name) {
			return fmt.Errorf("%s has no option %s: leave it out", name, opt.name)
		}
	}
	return nil
}

func names(all []entry) []string {
	var list []string
	for _, e := range all {
		list = append(list, e.name)
	}
	return list
}
