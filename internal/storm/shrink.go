package storm

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/member"
)

// A Story is a run that breaks an invariant, shrunk as far as was tried.
type Story struct {
	Config    Config // with its strikes
	Violation *Violation
	Tries     int // runs made to find it
}

// Shrink looks for a smaller run that breaks the same invariant as c: shorter, and with
// fewer strikes, members, locks, applications, clients and kinds of algorithms. It makes at
// most tries runs. It returns nil if c breaks nothing.
func Shrink(c Config, tries int) (*Story, error) {
	if c.Strikes == nil {
		c.Strikes = Draw(c)
	}
	r, err := Run(c)
	if err != nil || r.Violation == nil {
		return nil, err
	}
	s := &shrinker{best: c, found: r.Violation, left: tries}
	for again := true; again && s.left > 0; {
		before := s.size()
		s.thin()
		s.numbers()
		again = s.size() < before
	}
	return &Story{s.best, s.found, tries - s.left}, nil
}

// A shrinker holds the smallest run so far.
type shrinker struct {
	best  Config
	found *Violation
	left  int
}

func (s *shrinker) size() int {
	c := &s.best
	return len(c.Strikes) + c.Nodes + c.Locks + c.Apps + c.Clients + c.Kept + c.Workers + len(c.Algorithms) + int(c.Length/member.Millisecond)
}

// try adopts a run if it still breaks the invariant.
func (s *shrinker) try(c Config) bool {
	if s.left == 0 || c.Check() != nil {
		return false
	}
	s.left--
	r, err := Run(c)
	if err != nil || r.Violation == nil || r.Violation.Invariant != s.found.Invariant {
		return false
	}
	s.best, s.found = c, r.Violation
	return true
}

// thin removes strikes: halves of them first, then smaller parts, then single ones.
func (s *shrinker) thin() {
	for part := (len(s.best.Strikes) + 1) / 2; part > 0; part /= 2 {
		for at := 0; at < len(s.best.Strikes) && s.left > 0; {
			c := s.best
			end := min(at+part, len(c.Strikes))
			c.Strikes = append(append(make([]Strike, 0, len(c.Strikes)), c.Strikes[:at]...), c.Strikes[end:]...) // not nil, which means drawn
			if !s.try(c) {
				at = end
			}
		}
	}
}

// numbers makes all numbers of the run as small as possible.
func (s *shrinker) numbers() {
	for _, f := range [...]func(c *Config){
		func(c *Config) { c.Length = s.found.At },
		func(c *Config) { c.Length = s.lastStrike() + 1 },
		func(c *Config) { c.Kept, c.Workers = 0, 0 },
		func(c *Config) { c.Kept-- },
		func(c *Config) { c.Workers-- },
		func(c *Config) { c.Clients = 0 },
		func(c *Config) { c.Clients-- },
		func(c *Config) { c.Locks = 1 },
		func(c *Config) { c.Locks-- },
		func(c *Config) { c.Apps = 1 },
		func(c *Config) { c.Apps-- },
		func(c *Config) { c.Algorithms, c.Prefixed = c.Algorithms[:1], false },
		func(c *Config) { c.Nodes = 2 },
		func(c *Config) { c.Nodes = 3 },
		func(c *Config) { c.Nodes-- },
		func(c *Config) { c.Faults &= s.used() | Drift | Beyond },
		func(c *Config) { c.Faults &= s.used() },
	} {
		for s.left > 0 {
			c := s.best
			f(&c)
			if same(&c, &s.best) || c.Length < 0 || !s.try(c) {
				break
			}
		}
	}
}

func same(a, b *Config) bool {
	return a.Length >= b.Length && a.Kept == b.Kept && a.Workers == b.Workers && a.Clients == b.Clients && a.Locks == b.Locks && a.Apps == b.Apps &&
		len(a.Algorithms) == len(b.Algorithms) && a.Nodes >= b.Nodes && a.Faults == b.Faults
}

// lastStrike returns when the last strike begins.
func (s *shrinker) lastStrike() member.Span {
	if n := len(s.best.Strikes); n > 0 {
		return s.best.Strikes[n-1].At
	}
	return 0
}

// used returns the kinds of faults among the strikes.
func (s *shrinker) used() (f Faults) {
	for _, x := range s.best.Strikes {
		f |= x.Kind
	}
	return f
}

// String tells the story in a few lines.
func (s *Story) String() string {
	c := &s.Config
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", s.Violation)
	fmt.Fprintf(&b, "%s among %d members, %d locks, %d applications each, %d clients; faults for %.0f ms, then healed\n",
		c.Algorithms[0].Algorithm, c.Nodes, c.Locks, c.Apps, c.Clients, float64(c.Length)/float64(member.Millisecond))
	for _, x := range c.Strikes {
		fmt.Fprintf(&b, "  %v\n", x)
	}
	return b.String()
}
