package teller

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/words"
)

// An Audit is a comparison of the balances with the recorded transfers.
type Audit struct {
	Made     int   `json:"made"`     // number of transfers that are recorded
	Moved    int64 `json:"moved"`    // by them
	Expected int64 `json:"expected"` // total of all accounts
	Found    int64 `json:"found"`
	Wrong    int   `json:"wrong"` // number of accounts with a wrong balance
	Off      int64 `json:"off"`   // sum of the differences, all counted as positive
}

// Exact reports whether each balance is what the transfers made of it. The total alone does
// not show it: two lost updates can cancel out.
func (a *Audit) Exact() bool { return a.Wrong == 0 }

// audit compares the balances of all accounts with the transfers that were made.
func audit(balances []int64, made []Transfer) (Audit, error) {
	a := Audit{Made: len(made), Expected: int64(len(balances)) * Opening}
	right := make([]int64, len(balances))
	for i := range right {
		right[i] = Opening
	}
	for _, t := range made {
		if min(t.From, t.To) < 1 || max(t.From, t.To) > len(balances) {
			return a, fmt.Errorf("transfer %d is between accounts %d and %d of %d: only the run may write to its tables", t.ID, t.From, t.To, len(balances))
		}
		right[t.From-1] -= t.Amount
		right[t.To-1] += t.Amount
		a.Moved += t.Amount
	}
	for i, b := range balances {
		a.Found += b
		if off := b - right[i]; off != 0 {
			a.Wrong++
			a.Off += max(off, -off)
		}
	}
	return a, nil
}

// A Tally counts what happened in transfers.
type Tally struct {
	Attempts  int `json:"attempts"`
	Retried   int `json:"retried"`   // attempts after the first of a transfer
	Refused   int `json:"refused"`   // by the fence
	Deadlocks int `json:"deadlocks"` // attempts that ended with ErrDeadlock, in a deadlock or to prevent one
	Lost      int `json:"lost"`      // attempts whose lock was lost before its release
}

// Add adds another tally.
func (n *Tally) Add(o Tally) {
	n.Attempts += o.Attempts
	n.Retried += o.Retried
	n.Refused += o.Refused
	n.Deadlocks += o.Deadlocks
	n.Lost += o.Lost
}

// An Event is something that happened in a run.
type Event struct {
	Seconds float64 `json:"seconds"` // since the start
	Text    string  `json:"text"`
}

// A Report is the result of a run.
type Report struct {
	Store     string   `json:"store"`
	Lock      string   `json:"lock"`
	Fence     bool     `json:"fence"`
	Chaos     []string `json:"chaos"`
	Nodes     int      `json:"nodes"`
	Workers   int      `json:"workers"`
	Processes int      `json:"processes"` // that the workers are in
	Accounts  int      `json:"accounts"`
	Transfers int      `json:"transfers"` // that were planned
	Seconds   float64  `json:"seconds"`   // that the transfers took
	Tally
	Audit
	Killed   int           `json:"killed"`             // nodes
	Paused   int           `json:"paused"`             // nodes and worker processes
	Isolated int           `json:"isolated"`           // nodes, by partitions
	Deadlock *survey.Graph `json:"deadlock,omitempty"` // that ended the run
	Events   []Event       `json:"events"`
}

// Failed reports whether money is wrong that lock and fence must have protected.
func (r *Report) Failed() bool { return !r.Exact() && r.Lock != NoLock && r.Fence }

// Why says in two sentences why the run came out as it did.
func (r *Report) Why() string {
	var cause, effect string
	switch locked := r.Lock != NoLock; {
	case r.Failed():
		cause = "Each transfer held both locks, and the store checked both tokens, and yet a balance is wrong."
		effect = "This is a bug of stile or of this command: please report it, with the command line."
	case !locked && !r.Exact():
		cause = "Without a lock, workers read balances that others were about to change, and wrote theirs over them."
		effect = "Each write was a transaction, which does not help, because the read was not part of it."
	case !locked:
		cause = "No two workers met at an account between a read and a write, by luck."
		effect = "More workers, fewer accounts or another seed may lose money."
	case !r.Exact():
		cause = "A worker was paused between its read and its write until its lease expired, and others acquired its locks."
		effect = "Its late write then replaced newer balances; with --fence on, the store would have refused it."
	case r.Refused > 0:
		cause = fmt.Sprintf("The locks kept workers apart, and the fence refused %s from workers that had lost their locks in a pause.", words.Plural(r.Refused, "late request"))
		effect = "Refused transfers were made again from the start, with new locks."
	case r.Deadlocks > 0:
		cause = "The locks kept workers apart from the read to the write."
		effect = fmt.Sprintf("Transactions that had to abort because of %s began again, with the age that they had.", r.Lock)
	case !r.Fence:
		cause = "The locks kept workers apart from the read to the write."
		effect = "Without the fence this holds only as long as no worker is paused for longer than its lease: try --chaos pause."
	default:
		cause = "The locks kept workers apart from the read to the write."
		effect = "The fence had nothing to refuse, because no worker wrote after it had lost its locks."
	}
	if r.Deadlock != nil {
		effect = "But transactions waited for each other in a ring, which kept:none does nothing about, so the run was ended there."
	}
	return strings.Join([]string{cause, effect}, " ")
}
