package teller

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
)

// NoLock is the lock of a run whose transfers acquire none.
const NoLock = "none"

// A Config describes a run.
type Config struct {
	Postgres  string   // URL of a PostgreSQL database; empty: an SQLite file
	Transfers int      // number of transfers
	Workers   int      // number of transfers at a time
	Accounts  int      // number of accounts, at least 2
	Lock      string   // NoLock, the name of an algorithm, or kept:METHOD
	Fence     bool     // the store checks fencing tokens
	Chaos     []string // faults that strike: some of Faults
	Seed      uint64   // of the transfers

	// Event is called when something happens, and Progress after each transfer, one at a
	// time. Both may be nil.
	Event    func(e Event)
	Progress func(made int, n Tally)
}

// Check returns why there can be no such run.
func (c *Config) Check() error {
	switch {
	case c.Transfers < 1 || c.Workers < 1:
		return errors.New("a run needs at least one transfer and one worker")
	case c.Accounts < 2 || c.Accounts > MaxAccounts:
		return fmt.Errorf("%d accounts: want 2 to %d", c.Accounts, MaxAccounts)
	case c.Lock == NoLock && c.Fence:
		return errors.New("without a lock there are no fencing tokens to check: choose a lock, or turn the fence off")
	case c.Lock == NoLock:
	case c.Lock == "" || strings.ContainsAny(c.Lock, "=,"):
		return fmt.Errorf("lock %q: choose one algorithm or method", c.Lock)
	default:
		if err := node.CheckAlgorithm(c.Lock); err != nil {
			return err
		}
	}
	for _, f := range c.Chaos {
		if !slices.Contains(Faults(), f) {
			return fmt.Errorf("unknown fault %q: want some of %s", f, strings.Join(Faults(), ","))
		}
	}
	return nil
}

// method returns the method against deadlock, if transfers are transactions.
func (c *Config) method() (m deadlock.Method, kept bool) {
	all := member.KeptMethods()
	name := c.Lock
	if name == "kept" { // the default method
		return all[0], true
	}
	i := slices.IndexFunc(all, func(m deadlock.Method) bool { return member.Kept(m) == name })
	if i < 0 {
		return m, false
	}
	return all[i], true
}

// algorithm returns the algorithms of the cluster, as Config.Algorithm of package node.
func (c *Config) algorithm() string {
	_, kept := c.method()
	switch {
	case c.Lock == NoLock:
		return ""
	case kept:
		return "naimi-trehel," + accountPrefix + "=" + c.Lock
	}
	return c.Lock
}

// MaxAccounts is the number of accounts whose names have the same length.
const MaxAccounts = 999

// accountPrefix is what the names of all accounts begin with. An account and its lock have
// the same name.
const accountPrefix = "account/"

// accountName returns the name of an account; the first is 1.
func accountName(i int) string { return fmt.Sprintf("%s%03d", accountPrefix, i) }

// A Transfer moves an amount between two accounts, which are numbered from 1 on.
type Transfer struct {
	ID     int
	From   int
	To     int
	Amount int64
}

// The money in the bank.
const (
	Opening   = 1000 // balance of each account at the beginning
	maxAmount = 100  // of a transfer
)

// accounts returns the names of the two accounts: the source first.
func (t Transfer) accounts() []string { return []string{accountName(t.From), accountName(t.To)} }

// plan returns all transfers of a run.
func (c *Config) plan() []Transfer {
	chance := rand.New(rand.NewPCG(c.Seed, 0))
	all := make([]Transfer, c.Transfers)
	for i := range all {
		from := chance.IntN(c.Accounts)
		to := (from + 1 + chance.IntN(c.Accounts-1)) % c.Accounts
		all[i] = Transfer{ID: i + 1, From: from + 1, To: to + 1, Amount: 1 + chance.Int64N(maxAmount)}
	}
	return all
}

// The faults of a run.
const (
	killFault      = "kill"      // a node is killed and started again
	pauseFault     = "pause"     // a worker process or a node is paused for longer than the lease
	partitionFault = "partition" // a node is cut off from the others for longer than the lease
)

// Faults returns the names of faults.
func Faults() []string { return []string{killFault, pauseFault, partitionFault} }

// A strike is one fault of a run.
type strike struct {
	kind   string
	worker bool // it hits a worker process, not a node
	victim int  // of the nodes or of the worker processes
	after  int  // number of transfers that are made before it
}

// A fault takes about two seconds, so a run has one for so many transfers, and at least so
// many.
const (
	strikeEvery = 500
	minStrikes  = 3
)

// strikes returns the faults of a run in their order. They are due after equal shares of the
// transfers, none of them after the last one.
func (c *Config) strikes() []strike {
	var kinds []strike
	if slices.Contains(c.Chaos, pauseFault) {
		kinds = append(kinds, strike{kind: pauseFault, worker: true})
	}
	if slices.Contains(c.Chaos, killFault) {
		kinds = append(kinds, strike{kind: killFault})
	}
	if slices.Contains(c.Chaos, partitionFault) {
		kinds = append(kinds, strike{kind: partitionFault})
	}
	if slices.Contains(c.Chaos, pauseFault) {
		kinds = append(kinds, strike{kind: pauseFault})
	}
	if len(kinds) == 0 {
		return nil
	}
	all := make([]strike, max(minStrikes, c.Transfers/strikeEvery))
	for i := range all {
		all[i] = kinds[i%len(kinds)]
		all[i].after = (i + 1) * c.Transfers / (len(all) + 1)
		candidates := nodes
		if all[i].worker {
			candidates = c.processes()
		}
		all[i].victim = i / len(kinds) % candidates
	}
	return all
}

// processes returns the number of worker processes.
func (c *Config) processes() int { return min(c.Workers, maxProcesses) }

// maxProcesses is the number of processes that workers share. A process is paused as a
// whole, so there are several.
const maxProcesses = 4

// nodes is the number of nodes of the cluster.
const nodes = 3
