package storm

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/views"
)

// A Config is all that a run follows from.
type Config struct {
	Seed       uint64
	Nodes      int             // members at the start, and at least so many at the end
	Voters     int             // how many of them keep the view log, if there are so many: 1, 3 or 5
	Shelter    bool            // nothing befalls the process that has begun the cluster
	Locks      int             // names
	Apps       int             // applications of each process
	Hold       member.Span     // how long they are inside while there are faults, at most; 0 is a few milliseconds, mostly
	Clients    int             // processes that are no members
	Questions  bool            // they ask voters, too, what the record is
	Algorithms []member.Choice // without prefixes; the first serves all names to begin with
	Prefixed   bool            // the second serves a part of them from the start
	Think      member.Span     // how long an application rests between two requests, about
	Length     member.Span     // how long there are faults
	Faults     Faults
	Intensity  int      // how many strikes there are, for each second of Length
	Strikes    []Strike // nil: they are drawn from the seed
	Bank       bool     // whoever is inside moves money between accounts, instead of depositing some
	Unfenced   bool     // the resource does not look at tokens

	Settings member.Settings
	Limits   member.Limits
	Links    member.LinkLimits
	// Spec returns an algorithm by its name.
	Spec func(algorithm string, version int) (algorithm.Spec, error)
	// Logs starts the logs of voters.
	Logs views.Logs
	// Disk returns an empty disk for a voter's log.
	Disk func() Disk
}

// appBits is how many bits the number of an application has.
const appBits = 8

// limits of what is stormed: most storms are small, there are many of them.
const (
	maxNodes   = 25
	maxLocks   = 4096
	maxApps    = 1 << appBits
	maxClients = 16
)

// Check reports why a run cannot be made.
func (c *Config) Check() error {
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return fmt.Errorf("%d members: want 1 to %d", c.Nodes, maxNodes)
	case c.Voters != 1 && c.Voters != 3 && c.Voters != 5:
		return fmt.Errorf("%d voters: want 1, 3 or 5", c.Voters)
	case c.Disk == nil || c.Logs == nil:
		return errors.New("no disks or logs for voters: set Disk and Logs")
	case c.Locks < 1 || c.Locks > maxLocks:
		return fmt.Errorf("%d locks: want 1 to %d", c.Locks, maxLocks)
	case c.Apps < 0 || c.Apps > maxApps || c.Clients < 0 || c.Clients > maxClients || c.Apps+c.Clients == 0:
		return fmt.Errorf("%d applications of each process and %d clients: want up to %d and %d, and not none of both", c.Apps, c.Clients, maxApps, maxClients)
	case len(c.Algorithms) == 0 || c.Spec == nil:
		return errors.New("no algorithm: want one at least, and a way to make it")
	case c.Length < 0 || c.Length > 3600*member.Second:
		return fmt.Errorf("faults for %v: want up to 1h", c.Length)
	case c.Think < 0 || c.Think > member.Second:
		return fmt.Errorf("%v between requests: want up to 1s", c.Think)
	case c.Intensity < 0 || c.Intensity > 1000:
		return fmt.Errorf("%d strikes a second: want up to 1000", c.Intensity)
	}
	return c.Settings.Check()
}

// A Result is what came of a run.
type Result struct {
	Entries   int
	Tries     int // that were refused
	Views     int
	Terms     int // in which somebody led
	Revotes   int // how often other voters kept the log
	Lost      int // holds that were lost, and told
	Strikes   int
	Full      int         // links that ended because their peer confirmed nothing
	Restores  int         // backups that were restored
	Reads     int         // questions for the record that were answered
	Spared    int         // how often it was judged that an eviction does not stall a lock
	Deposits  int         // writes that the fenced resource accepted
	Refused   int         // those that it refused
	Books     Books       // if there is a bank
	Frames    [13]int     // by their kinds, in the order of FrameNames
	Simulated member.Span // how long the run was
	Longest   member.Span // wait of a request that was made after the time of grace
	Bound     member.Span // the longest that such a wait may have been, by what others did meanwhile
	Violation *Violation  // the first one, or nil
	Digest    uint64      // of all that happened
}

// Add adds up what came of two runs: sums, and the longest of their waits. It leaves
// out violations.
func (r *Result) Add(o *Result) {
	r.Entries += o.Entries
	r.Tries += o.Tries
	r.Views += o.Views
	r.Terms += o.Terms
	r.Revotes += o.Revotes
	r.Lost += o.Lost
	r.Strikes += o.Strikes
	r.Full += o.Full
	r.Restores += o.Restores
	r.Reads += o.Reads
	r.Spared += o.Spared
	r.Deposits += o.Deposits
	r.Refused += o.Refused
	r.Books.Add(&o.Books)
	for i, n := range o.Frames {
		r.Frames[i] += n
	}
	r.Simulated += o.Simulated
	r.Longest = max(r.Longest, o.Longest)
	r.Bound = max(r.Bound, o.Bound)
	r.Digest += o.Digest // whatever their order
}

// A Violation says which invariant was broken first, when and how.
type Violation struct {
	Invariant Invariant
	At        member.Span
	Text      string
}

// Error tells it.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s broken at %.3f ms: %s", v.Invariant, float64(v.At)/float64(member.Millisecond), v.Text)
}

// An Invariant is one of the things that are checked on every step.
type Invariant string

// The invariants.
const (
	Exclusion Invariant = "exclusion" // no two are inside one lock, their leases running
	Tokens    Invariant = "tokens"    // counts are dense within an epoch, and tokens rise
	Leased    Invariant = "leased"    // nobody enters without a lease
	Epochs    Invariant = "epochs"    // nobody acts in an epoch that is over for it
	Clearing  Invariant = "clearing"  // when a home lets go or lends, nobody is inside by an older epoch, nor will be
	Told      Invariant = "told"      // whoever runs is told of a loss before its lease is over
	Waits     Invariant = "waits"     // once all is healed, everybody enters soon
	Spared    Invariant = "spared"    // an eviction stalls no lock that the evicted had nothing to do with
	Turns     Invariant = "turns"     // nobody enters again and again while another member waits
	Tries     Invariant = "tries"     // and every try is decided soon
	Order     Invariant = "order"     // who waited across views enters in the order of first requests
	Fence     Invariant = "fence"     // the resource accepts nothing older than what it has accepted
	Bank      Invariant = "bank"      // nor loses money, or makes any up
	Events    Invariant = "events"    // everybody is told the right things, once
	Channels  Invariant = "channels"  // what is delivered was sent, in this order, and comes once
	Errors    Invariant = "errors"    // nobody finds anybody else broken
	Calm      Invariant = "calm"      // once all is healed nothing is lost, and nobody is evicted
	Silence   Invariant = "silence"   // when nobody asks, members send each other nothing, and nothing is written
	Views     Invariant = "views"     // an epoch has one view, the same for all, and nobody acts on one that is not committed
	Ghosts    Invariant = "ghosts"    // nobody who was evicted may act for longer than views say
	Voters    Invariant = "voters"    // voters that have applied as much have the same record
	Acks      Invariant = "acks"      // one that leads no more confirms no renewal
	Reads     Invariant = "reads"     // who asks for the record gets none that was out of date when it asked
)
