package storm

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

// A Config determines a run completely.
type Config struct {
	Seed       uint64
	Nodes      int             // members at the start, and the minimum at the end
	Voters     int             // maximum number of voters: 1, 3 or 5
	Shelter    bool            // no fault hits the process that founded the cluster
	Locks      int             // number of locks
	Apps       int             // applications of each process
	Hold       member.Span     // maximum time inside while there are faults; 0: a few milliseconds, mostly
	Clients    int             // processes that are not members
	Eager      bool            // they acquire the same lock again and again
	Kept       int             // number of kept locks, besides the others
	Workers    int             // applications of each process that run transactions over them
	Methods    []member.Choice // of the kept locks; the first serves them to begin with
	Questions  bool            // they also ask voters for the record
	Algorithms []member.Choice // without prefixes; the first serves all names to begin with
	Prefixed   bool            // the second serves a part of them from the start
	Think      member.Span     // average rest of an application between two requests
	Length     member.Span     // duration of the faults
	Faults     Faults
	Intensity  int      // strikes per second of Length
	Strikes    []Strike // nil: drawn from the seed
	Bank       bool     // holders move money between accounts, instead of depositing some
	Unfenced   bool     // the resource ignores fencing tokens

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

// appBits is the number of bits of an application's number.
const appBits = 8

// Limits of a storm: most storms are small, and there are many of them.
const (
	maxNodes   = 25
	maxLocks   = 4096
	maxApps    = 1 << appBits
	maxClients = 16
	maxKept    = 10
)

// Check reports why a run is impossible.
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
		return fmt.Errorf("%d applications per process and %d clients: want up to %d and %d, and at least one of either", c.Apps, c.Clients, maxApps, maxClients)
	case c.Kept < 0 || c.Kept > maxKept || c.Workers < 0 || c.Apps+c.Workers > maxApps || (c.Kept == 0) != (c.Workers == 0) || c.Kept > 0 && len(c.Methods) == 0:
		return fmt.Errorf("%d kept locks, %d methods for them and %d applications that use them: want up to %d locks, and all or none of these", c.Kept, len(c.Methods), c.Workers, maxKept)
	case len(c.Algorithms) == 0 || c.Spec == nil:
		return errors.New("no algorithm: want at least one, and a function that creates it")
	case c.Length < 0 || c.Length > 3600*member.Second:
		return fmt.Errorf("faults for %v: want up to 1h", c.Length)
	case c.Think < 0 || c.Think > member.Second:
		return fmt.Errorf("%v between requests: want up to 1s", c.Think)
	case c.Intensity < 0 || c.Intensity > 1000:
		return fmt.Errorf("%d faults per second: want up to 1000", c.Intensity)
	}
	return c.Settings.Check()
}

// A Result is the result of a run.
type Result struct {
	Entries    int
	Tries      int // tries that were refused
	Claims     int // claims that were honoured
	KeptClaims int // those of kept locks

	Delegations int // grants of a lock as delegated to a client
	Reentries   int // entries of clients in such locks, without a message

	Views     int
	Terms     int // terms with a leader
	Revotes   int // changes of the set of voters
	Lost      int // holds that were lost, with notification
	Strikes   int
	Full      int         // links that ended because their peer confirmed nothing
	Restores  int         // restored backups
	Rollbacks int         // disks that were replaced by an older copy
	Setbacks  int         // number of times that this happened to most voters at once
	Noticed   int         // processes that ended because of that
	Returns   int         // processes that were refused because they had a disk of a lost cluster
	Reads     int         // answered questions for the record
	Spared    int         // number of times an eviction was judged not to stall a lock
	Commits   int         // transactions that have ended well
	Victims   int         // transactions that had to abort, because of a deadlock or to prevent one
	Deposits  int         // writes that the fenced resource accepted
	Refused   int         // writes that it refused
	Books     Books       // if there is a bank
	Frames    [kinds]int  // number by kind, in the order of FrameNames
	Simulated member.Span // duration of the run
	Longest   member.Span // longest wait of a request made after the grace period
	Bound     member.Span // largest bound of such a wait, given what others did meanwhile
	Violation *Violation  // the first one, or nil
	Digest    uint64      // of everything that happened
}

// Add adds up the results of two runs: sums, and the longest of their waits. It leaves out
// violations.
func (r *Result) Add(o *Result) {
	r.Entries += o.Entries
	r.Tries += o.Tries
	r.Claims += o.Claims
	r.KeptClaims += o.KeptClaims
	r.Delegations += o.Delegations
	r.Reentries += o.Reentries
	r.Views += o.Views
	r.Terms += o.Terms
	r.Revotes += o.Revotes
	r.Lost += o.Lost
	r.Strikes += o.Strikes
	r.Full += o.Full
	r.Restores += o.Restores
	r.Rollbacks += o.Rollbacks
	r.Setbacks += o.Setbacks
	r.Noticed += o.Noticed
	r.Returns += o.Returns
	r.Reads += o.Reads
	r.Spared += o.Spared
	r.Commits += o.Commits
	r.Victims += o.Victims
	r.Deposits += o.Deposits
	r.Refused += o.Refused
	r.Books.Add(&o.Books)
	for i, n := range o.Frames {
		r.Frames[i] += n
	}
	r.Simulated += o.Simulated
	r.Longest = max(r.Longest, o.Longest)
	r.Bound = max(r.Bound, o.Bound)
	r.Digest += o.Digest // in any order
}

// A Violation says which invariant was broken first, when and how.
type Violation struct {
	Invariant Invariant
	At        member.Span
	Text      string
}

// Error describes the violation.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s violated at %.3f ms: %s", v.Invariant, float64(v.At)/float64(member.Millisecond), v.Text)
}

// An Invariant is a property that is checked at every step.
type Invariant string

// The invariants.
const (
	Exclusion Invariant = "exclusion" // no two processes are inside one lock with running leases, unless it is shared
	Tokens    Invariant = "tokens"    // counts are dense within an epoch, and fencing tokens rise
	Leased    Invariant = "leased"    // no process enters without a lease
	Epochs    Invariant = "epochs"    // no process acts in an epoch that has ended for it
	Clearing  Invariant = "clearing"  // when a home releases or lends, no process is or will be inside by an older epoch
	Told      Invariant = "told"      // a running process is notified of a loss before its lease expires
	Waits     Invariant = "waits"     // once all faults are healed, every request is granted soon
	Spared    Invariant = "spared"    // an eviction stalls no lock that the evicted member had nothing to do with
	Turns     Invariant = "turns"     // no member enters again and again while another member waits
	Tries     Invariant = "tries"     // and every try is decided soon
	Victims   Invariant = "victims"   // no transaction must abort without a reason
	Order     Invariant = "order"     // requests that wait across views are granted in the order of first requests
	Fence     Invariant = "fence"     // the resource accepts nothing older than what it has accepted
	Bank      Invariant = "bank"      // and neither loses nor creates money
	Events    Invariant = "events"    // every application gets the right notifications, once
	Channels  Invariant = "channels"  // what is delivered was sent, in this order, and arrives once
	Owners    Invariant = "owners"    // no client gets what belongs to another: a session, a hold or a quota
	Errors    Invariant = "errors"    // no process finds another one broken
	Calm      Invariant = "calm"      // once all faults are healed, no lock is lost and no member evicted
	Silence   Invariant = "silence"   // when there are no requests, members send nothing and nothing is written
	Views     Invariant = "views"     // an epoch has one view, and no process acts on an uncommitted one
	Ghosts    Invariant = "ghosts"    // no evicted member may act for longer than views say, and no view begins that time anew
	Voters    Invariant = "voters"    // voters that have applied the same entries have the same record
	Acks      Invariant = "acks"      // a voter that no longer leads confirms no renewal
	Reads     Invariant = "reads"     // no answer has a record that was outdated when it was requested
)
