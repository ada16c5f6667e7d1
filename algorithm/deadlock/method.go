package deadlock

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/spell"
)

// A method is what distinguishes one way of dealing with deadlocks from another. Each
// embeds plain and overrides what it must.
type method interface {
	begins(s *site)                                         // a site begins
	fields(s *site, c *algorithm.Coder)                     // codes its own state
	policy() policy                                         // what keepers do about requests that wait
	keeper(s *site, k int) algorithm.ID                     // the site that grants a lock
	keeps(s *site, k int) bool                              // whether this site does, or may have to
	allows(t *transaction, k int, m Mode) bool              // whether t may request this lock
	claims(t *transaction) []int                            // what a request declares about the future
	asked(s *site, who Attempt, k int, o *out)              // a transaction of this site has made a request
	cancelled(s *site, who Attempt, k int, o *out)          // it has given the request up
	restarts(t *transaction)                                // t has aborted and will try again
	heard(s *site, who Attempt, m *message)                 // a request has arrived
	pass(s *site, changed []int, o *out)                    // requests and holds of these locks have changed
	granted(s *site, k int, who Attempt)                    // a lock was given
	ended(s *site, who Attempt)                             // an attempt has ended; if it has a Seq, only that request
	changed(s *site, o *out)                                // the local graph may have changed
	receive(s *site, from algorithm.ID, m *message, o *out) // a message of its own
	expire(s *site, timer int, o *out)                      // a timer of its own
	died(s *site, d algorithm.ID, o *out)                   // a site is dead
}

// plain does nothing about deadlocks: a transaction that cannot have a lock waits for it,
// in order of arrival.
type plain struct{}

func (plain) begins(*site)                        {}
func (plain) fields(*site, *algorithm.Coder)      {}
func (plain) policy() policy                      { return policy{} }
func (plain) keeper(s *site, k int) algorithm.ID  { return s.layout.At[k] }
func (plain) keeps(s *site, k int) bool           { return s.layout.At[k] == s.self }
func (plain) allows(*transaction, int, Mode) bool { return true }
func (plain) claims(*transaction) []int           { return nil }
func (plain) asked(*site, Attempt, int, *out)     {}
func (plain) cancelled(*site, Attempt, int, *out) {}
func (plain) restarts(*transaction)               {}
func (plain) heard(*site, Attempt, *message)      {}
func (plain) pass(s *site, changed []int, o *out) { s.settle(changed, o) }
func (plain) granted(*site, int, Attempt)         {}
func (plain) ended(*site, Attempt)                {}
func (plain) changed(*site, *out)                 {}
func (plain) receive(_ *site, from algorithm.ID, _ *message, o *out) {
	o.Because(siteVoid, facts{Site: from})
}
func (plain) expire(*site, int, *out)        {}
func (plain) died(*site, algorithm.ID, *out) {}

// A Family is the way in which a method deals with deadlocks.
type Family string

// The families.
const (
	Ignore    Family = "none"
	Prevent   Family = "prevention"
	Avoid     Family = "avoidance"
	Detection Family = "detection"
)

// A Method is one way of dealing with deadlocks, ready to be run by a host. For a method
// that is not among Methods it is only a description: its sites are in an algorithm.Spec
// of their own, which is checked beside it as the example of check.Run shows.
type Method struct {
	Name    string
	Title   string
	Paper   string
	Family  Family
	Sorted  bool     // whether transactions must request locks in ascending order
	Claims  bool     // whether transactions must claim beforehand what they may request
	Starves bool     // whether a transaction may be aborted forever
	Wrong   string   // for wrong methods: what goes wrong
	Weaker  string   // for those that keep a weaker promise: what is worse
	Fixed   string   // for both: the Name of the sound method
	Shown   string   // for both: a stile command that demonstrates it
	Modes   []string // modes in which it can run, the usual one first; nil if there is only one

	// Exact reports whether, in the given mode, a reported deadlock always existed,
	// although an abort or a death may have broken it since. Prevention and timeouts
	// report none.
	Exact func(mode string) bool

	make    func(mode string) func(l *Layout) method
	rules   func(rules []algorithm.Rule)                   // adds its own rules to those of all sites; nil if it has none
	modal   func(mode string) func(rules []algorithm.Rule) // the same where modes differ
	single  bool                                           // whether it knows no semaphores
	spreads bool                                           // whether there are more stamps than transactions; see algorithm.Spec
}

// Spec returns the method for a layout, in one of its modes; "" is the usual one.
func (m Method) Spec(l Layout, mode string) (algorithm.Spec, error) {
	if err := l.Check(); err != nil {
		return algorithm.Spec{}, err
	}
	if mode == "" && len(m.Modes) > 0 {
		mode = m.Modes[0]
	}
	if mode != "" && !slices.Contains(m.Modes, mode) {
		if len(m.Modes) == 0 {
			return algorithm.Spec{}, fmt.Errorf("%s has no modes: leave the mode out", m.Name)
		}
		return algorithm.Spec{}, fmt.Errorf("%s has no mode %q: want %s", m.Name, mode, spell.Either(m.Modes...))
	}
	if m.make == nil {
		return algorithm.Spec{}, fmt.Errorf("method %q is not in Methods, so its sites are unknown: make an algorithm.Spec for it, with sites made by algorithm.NewSite, and give the host both", m.Name)
	}
	if m.single && l.semaphore() {
		return algorithm.Spec{}, m.refuses()
	}
	born, rules := m.make(mode), siteRules()
	if m.modal != nil {
		m.rules = m.modal(mode)
	}
	if m.rules != nil {
		m.rules(rules)
	}
	return algorithm.Spec{
		Name: m.Name, Family: algorithm.Transactions, Title: m.Title, Paper: m.Paper, Network: algorithm.FIFO, Kinds: Kinds(), Rules: rules,
		Shape: algorithm.Shape{Picture: algorithm.AtSites, Title: "who waits for whom"},
		Wrong: m.Wrong, Weaker: m.Weaker, Fixed: m.Fixed, Shown: m.Shown, Spreads: m.spreads,
		Plan: func(n int) (algorithm.Birth, error) {
			if n != l.Sites {
				return nil, fmt.Errorf("%s at %d sites: the layout has %d", m.Name, n, l.Sites)
			}
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.NewSite[message](self, v, newSite(self, &l, born(&l)), len(l.Home))
			}, nil
		},
	}, nil
}

// refuses returns the error of a method that knows no semaphores.
func (m Method) refuses() error {
	return fmt.Errorf("%s cannot be used with semaphores: a cycle among units need not be a deadlock; use detect-central, or prevention", m.Name)
}

// Stamp returns the time when a transaction began, by the clock of its home m. It is none
// if the transaction has not begun, or if its home is not m. It is for judges: no site
// looks into another.
func Stamp(m algorithm.Machine, tx algorithm.ID) algorithm.Time {
	return attemptAt(m, tx).Stamp
}

// AttemptOf returns the number of a transaction's present attempt, or of its last one, as
// known by its home m. It is 0 if there was none, or if its home is not m. It is for
// judges, too.
func AttemptOf(m algorithm.Machine, tx algorithm.ID) uint64 {
	return attemptAt(m, tx).Number
}

func attemptAt(m algorithm.Machine, tx algorithm.ID) Attempt {
	if m, ok := m.(interface{ Author() any }); ok {
		if s, ok := m.Author().(interface{ attempt(tx int) Attempt }); ok {
			return s.attempt(int(tx))
		}
	}
	return Attempt{}
}

// Methods returns all methods, in the order in which to present them: the wrong ones
// last.
func Methods() []Method {
	return []Method{
		None(), Ordered(), Priority(), PriorityRequester(), WaitDie(), WoundWait(), Banker(), DetectCentral(), DetectDistributed(), Timeout(),
		WaitDieRestamped(), WoundWaitRestamped(),
	}
}

// Kept returns the methods that keep what they promise.
func Kept() []Method {
	return slices.DeleteFunc(Methods(), func(m Method) bool { return m.Wrong != "" })
}

// Find returns the method with the given name.
func Find(name string) (Method, error) {
	var names []string
	for _, m := range Methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, fmt.Errorf("unknown method %q: want %s%s", name, spell.Either(names...), spell.DidYouMean(name, names...))
}

// only makes a method that has one mode.
func only(f func(l *Layout) method) func(string) func(l *Layout) method {
	return func(string) func(l *Layout) method { return f }
}

func always(string) bool { return true }
