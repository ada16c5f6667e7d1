package deadlock

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/spell"
)

// A method is what makes one way of dealing with deadlocks differ from
// another. Each embeds plain and changes what it must.
type method interface {
	fields(s *site, c *algorithm.Coder)                     // its own state
	keeper(s *site, k int) algorithm.ID                     // which site grants a lock
	keeps(s *site, k int) bool                              // this site does, or may have to
	allows(t *transaction, k int) bool                      // t may ask for this lock
	claims(t *transaction) []int                            // what a request says of the future
	asked(s *site, who node, k int, o *out)                 // a transaction of this site has asked
	restarts(t *transaction)                                // t has aborted and will try again
	heard(s *site, who node, m *message)                    // a request has come
	may(s *site, k int, who node) bool                      // a free lock may be given
	meet(s *site, k int, who node, o *out)                  // it may not, or is taken
	turn(queue []node) int                                  // who is next
	pass(s *site, o *out)                                   // some locks may have become free
	granted(s *site, k int, who node)                       // a lock was given
	ended(s *site, who node)                                // an attempt is over
	changed(s *site, o *out)                                // the local graph may have changed
	receive(s *site, from algorithm.ID, m *message, o *out) // a message of its own
	expire(s *site, timer int, o *out)                      // a timer of its own
	died(s *site, d algorithm.ID, o *out)                   // a site is dead
}

// plain does nothing about deadlocks: who cannot have a lock waits for it, in
// order of arrival.
type plain struct{}

func (plain) fields(*site, *algorithm.Coder)              {}
func (plain) keeper(s *site, k int) algorithm.ID          { return s.layout.At[k] }
func (plain) keeps(s *site, k int) bool                   { return s.layout.At[k] == s.self }
func (plain) allows(*transaction, int) bool               { return true }
func (plain) claims(*transaction) []int                   { return nil }
func (plain) asked(*site, node, int, *out)                {}
func (plain) restarts(*transaction)                       {}
func (plain) heard(*site, node, *message)                 {}
func (plain) may(*site, int, node) bool                   { return true }
func (plain) meet(s *site, k int, who node, _ *out)       { s.enqueue(k, who) }
func (plain) turn([]node) int                             { return 0 }
func (plain) pass(s *site, o *out)                        { s.passEach(o) }
func (plain) granted(*site, int, node)                    {}
func (plain) ended(*site, node)                           {}
func (plain) changed(*site, *out)                         {}
func (plain) receive(*site, algorithm.ID, *message, *out) {}
func (plain) expire(*site, int, *out)                     {}
func (plain) died(*site, algorithm.ID, *out)              {}

// A Family says how a method deals with deadlocks.
type Family string

// The families.
const (
	Ignore    Family = "none"
	Prevent   Family = "prevention"
	Avoid     Family = "avoidance"
	Detection Family = "detection"
)

// A Method is one way of dealing with deadlocks, ready to be run by a host. Of one
// that is not among Methods it only says what it is: its sites are in an algorithm.Spec of
// their own, which is checked beside it as the example of check.Run shows.
type Method struct {
	Name    string
	Title   string
	Paper   string
	Family  Family
	Sorted  bool     // transactions must ask for locks in ascending order
	Claims  bool     // transactions must say beforehand what they may ask for
	Starves bool     // somebody may be aborted for ever
	Wrong   string   // for the wrong ones: what goes wrong
	Weaker  string   // for those that keep what they promise, but promise less: what is worse
	Fixed   string   // for both: the Name of the sound one
	Shown   string   // for both: a command of stile that shows it
	Modes   []string // how it can run, the usual way first; nil if there is one way only

	// Exact says in which mode a reported deadlock is always one, as long as
	// nobody aborts meanwhile. Prevention reports none.
	Exact func(mode string) bool

	make    func(mode string) func(l *Layout) method
	spreads bool // there are more stamps than transactions; see algorithm.Spec
}

// Spec returns the method for a layout, in one of its modes, "" being the
// usual one.
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
		return algorithm.Spec{}, fmt.Errorf("the method %q is none of those of Methods, and so has no sites: make a core.Spec of it yourself, with sites by core.NewSite, and give that to a host beside it", m.Name)
	}
	born := m.make(mode)
	return algorithm.Spec{
		Name: m.Name, Family: algorithm.Transactions, Title: m.Title, Paper: m.Paper, Network: algorithm.FIFO, Kinds: Kinds(),
		Shape: algorithm.Shape{Picture: algorithm.AtSites, Title: "who waits for whom"},
		Wrong: m.Wrong, Weaker: m.Weaker, Fixed: m.Fixed, Shown: m.Shown, Spreads: m.spreads,
		Plan: func(n int) (algorithm.Birth, error) {
			if n != l.Sites {
				return nil, fmt.Errorf("%s at %d sites: the layout has %d", m.Name, n, l.Sites)
			}
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				s := newSite(self, &l, born(&l))
				return machine{algorithm.NewSite[message](self, v, s, len(l.Home)), s}
			}, nil
		},
	}, nil
}

// A machine is a site as hosts see it, and Stamp.
type machine struct {
	algorithm.Machine
	site *site
}

// Unwrap returns the site as core made it.
func (m machine) Unwrap() algorithm.Machine { return m.Machine }

// Stamp returns when a transaction began, by the clock of its home m; none
// if it has not, or is not at home there. It is for judges: no site looks into
// another.
func Stamp(m algorithm.Machine, tx algorithm.ID) algorithm.Time {
	if m, ok := m.(machine); ok && m.site.atHome(int(tx)) {
		return m.site.txs[tx].stamp
	}
	return algorithm.Time{}
}

// Attempt returns the number of a transaction's present attempt, or of its last
// one, by its home m; 0 if it has had none, or is not at home there. It is for
// judges, too.
func Attempt(m algorithm.Machine, tx algorithm.ID) uint64 {
	if m, ok := m.(machine); ok && m.site.atHome(int(tx)) {
		return m.site.txs[tx].attempt
	}
	return 0
}

// Methods lists all methods, in the order in which people should see them: the
// wrong ones come last.
func Methods() []Method {
	return []Method{
		None(), Ordered(), Priority(), PriorityRequester(), WaitDie(), WoundWait(), Banker(), DetectCentral(), DetectDistributed(),
		WaitDieRestamped(), WoundWaitRestamped(),
	}
}

// Kept lists the methods that keep what they promise.
func Kept() []Method {
	return slices.DeleteFunc(Methods(), func(m Method) bool { return m.Wrong != "" })
}

// Find returns the method of that name.
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
