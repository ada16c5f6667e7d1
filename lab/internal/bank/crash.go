package bank

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A Crash is how a machine dies, in its first deposit.
type Crash struct {
	On     bool
	Who    algorithm.ID
	Moment Moment
	Fenced bool // the account rejects a write of a turn if it knows of a later one
}

// A Moment is when a machine dies.
type Moment uint8

// The moments.
const (
	Read  Moment = iota // it has read, and not written
	Write               // its write is in flight, and arrives as messages do
	Late                // its write is in flight, and arrives long after others have gone on
)

// moments are the words that may follow the machine in a crash.
var moments = [...]string{"read", "write", "late", "fenced"}

// Moments lists these names.
func Moments() []string { return slices.Clone(moments[:]) }

// ParseCrash parses which machine dies, and when: 2, which means 2@read, 2@write, 2@late,
// or 2@fenced, which is late with an account that checks whose turn it is.
func ParseCrash(s string) (Crash, error) {
	who, when, said := strings.Cut(s, "@")
	n, err := strconv.Atoi(who)
	if err != nil || n < 1 {
		return Crash{}, fmt.Errorf("want a machine such as 2, or 2@%s", spell.Either(moments[:]...))
	}
	c := Crash{On: true, Who: algorithm.ID(n - 1)}
	if !said {
		return c, nil
	}
	i := slices.Index(moments[:], when)
	if i < 0 {
		return Crash{}, fmt.Errorf("want 2@%s%s", spell.Either(moments[:]...), spell.DidYouMean(when, moments[:]...))
	}
	c.Moment, c.Fenced = Moment(min(i, int(Late))), when == "fenced"
	return c, nil
}

// String formats it as ParseCrash reads it.
func (c Crash) String() string {
	when := moments[c.Moment]
	if c.Fenced {
		when = "fenced"
	}
	return fmt.Sprintf("%d@%s", c.Who+1, when)
}

// lateness is how long the write of a dead machine takes if it is late: long enough for
// the others to elect, and to go on.
const lateness = 40 * scenario.T

// An end is when a machine dies, and the section it is in then.
type end struct {
	at   int64
	turn int
}

// foresee plays the scene to find out when the machine makes its first deposit: up to its
// death everything is the same.
func (c Config) foresee() (*end, error) {
	if int(c.Crash.Who) >= c.Machines {
		return nil, fmt.Errorf("machine %d cannot crash: there are machines 1 to %d", c.Crash.Who+1, c.Machines)
	}
	b := c.branch(&end{at: math.MaxInt64})
	b.Record, b.Watch = false, func(p sim.Progress) bool {
		return (c.Watch == nil || c.Watch(p)) && !slices.ContainsFunc(b.calls, c.Crash.first)
	}
	if _, err := b.run(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(b.calls, c.Crash.first)
	if i < 0 {
		return nil, fmt.Errorf("%v never enters with %s, so it cannot crash inside: crash another machine, or use another --seed", c.Crash.Who, c.Lock.Name)
	}
	doom := &end{at: b.calls[i].back + 1, turn: b.calls[i].turn}
	if c.Crash.Moment != Read {
		doom.at += scenario.T / 4 // a write takes at least twice that
	}
	return doom, nil
}

// first reports whether a call is a read of the machine that dies.
func (c Crash) first(x call) bool { return x.machine == c.Who && !x.write }

// doomed changes the last calls of the machine that dies, and reports whether a call is
// never made.
func (b *branch) doomed(c *call) bool {
	if b.doom == nil || c.turn != b.doom.turn || !c.write {
		return false
	}
	if b.Crash.Moment == Late {
		c.reached = c.sent + lateness
		c.back = c.reached + scenario.T
	}
	c.orphan = true
	return b.Crash.Moment == Read
}

// bereaved notes what the death of a machine has led to. Machines that wait forever wait
// for the dead one, and are not a fault of a lock that does not claim to tolerate it.
func (r *Result) bereaved(c Config) {
	r.Crash = c.Crash.String()
	for _, v := range r.Found {
		if v.Property == family.LostRequest {
			r.Waiting = append(r.Waiting, int(v.Proc)+1)
		}
	}
	slices.Sort(r.Waiting)
	if !c.Lock.Detects {
		r.Found = slices.DeleteFunc(r.Found, func(v sim.Violation) bool { return v.Property == family.LostRequest })
	}
}
