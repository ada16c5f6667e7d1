package storm

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/words"
)

// A bank with its money: every lock protects one branch. Money only moves between the
// accounts of a branch, so a branch always has the total that it opened with.
const (
	accounts = 4
	opening  = 10_000 // on each account
)

// Books record what the bank of a run has done and what it has, or the sums of many runs.
type Books struct {
	Transfers int   // transfers that were written
	Moved     int64 // amount moved by them
	Stale     int   // writes that came after a higher fencing token was seen; the fence refuses them
	Expected  int64 // total when the branches opened
	Total     int64 // total at the end, or when an invariant was broken
	Missing   int64 // in branches that have too little
	Surplus   int64 // in branches that have too much
}

// Add adds the books of another run.
func (b *Books) Add(o *Books) {
	b.Transfers += o.Transfers
	b.Moved += o.Moved
	b.Stale += o.Stale
	b.Expected += o.Expected
	b.Total += o.Total
	b.Missing += o.Missing
	b.Surplus += o.Surplus
}

// Exact reports whether each branch has the total that it opened with.
func (b *Books) Exact() bool { return b.Missing == 0 && b.Surplus == 0 }

// A branch is what one lock protects.
type branch [accounts]account

type account struct {
	balance uint64
	by      algorithm.ID // last writer, if any
	token   member.Token // fencing token of that write
}

func openBranches(n int) []branch {
	all := make([]branch, n)
	for i := range all {
		for j := range all[i] {
			all[i][j].balance = opening
		}
	}
	return all
}

// total returns the sum of all accounts.
func (b *branch) total() int64 {
	sum := uint64(0)
	for i := range b {
		sum += b[i].balance
	}
	return int64(sum)
}

// balances answers a process that reads two accounts.
func (w *world) balances(from algorithm.ID, lock uint64, t member.Token, l numbers) {
	a, b := l.next(), l.next()
	all := &w.store.branches[lock]
	x, y := all[a].balance, all[b].balance
	w.book(from, lock, t, "%s reads %s with %v", w.Name(from), pair(a, x, b, y), t)
	w.tell(storeID, from, valueMsg, lock, t.Epoch, t.Count, a, b, x, y)
}

// post handles a transfer, and judges the total of the branch.
func (w *world) post(from algorithm.ID, lock uint64, t member.Token, l numbers) {
	a, b, x, y, amount := l.next(), l.next(), l.next(), l.next(), l.next()
	all := &w.store.branches[lock]
	over := w.overwritten(all, a, x+amount, b, y-amount)
	all[a], all[b] = account{x, from, t}, account{y, from, t}
	w.result.Books.Transfers++
	w.result.Books.Moved += int64(amount)
	w.note(amount<<32|lock, x<<32|y)
	w.book(from, lock, t, "%s writes %s with %v%s", w.Name(from), pair(a, x, b, y), t, over)
	w.tell(storeID, from, savedMsg, lock, t.Epoch, t.Count)
	if wrong := amiss(all.total()); wrong != "" {
		w.broken(Bank, "%s: %s moves %s from %s to %s with %v%s: %s", w.names[lock], w.Name(from), words.Grouped(int64(amount)), accountName(a), accountName(b), t, over, wrong)
	}
}

// overwritten says whose writes are lost when a process writes two accounts that have
// changed since it read them.
func (w *world) overwritten(all *branch, a, x, b, y uint64) string {
	var lost []string
	for _, z := range [...]struct{ at, read uint64 }{{a, x}, {b, y}} {
		if last := &all[z.at]; last.balance != z.read {
			lost = append(lost, fmt.Sprintf("the %s that %s wrote to %s with %v", grouped(last.balance), w.Name(last.by), accountName(z.at), last.token))
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return ", overwriting " + strings.Join(lost, " and ")
}

// amiss says what is wrong with the total of a branch, if anything.
func amiss(total int64) string {
	const right = accounts * opening
	switch {
	case total < right:
		return fmt.Sprintf("the total is %s, %s of %s is missing", words.Grouped(total), words.Grouped(right-total), words.Grouped(int64(right)))
	case total > right:
		return fmt.Sprintf("the total is %s, %s more than the original %s", words.Grouped(total), words.Grouped(total-right), words.Grouped(int64(right)))
	}
	return ""
}

// staleAtBank records a request with a stale fencing token.
func (w *world) staleAtBank(from algorithm.ID, kind byte, lock uint64, t member.Token) {
	if kind == writeMsg {
		w.result.Books.Stale++
	}
	then := "the bank refuses it"
	if w.Unfenced {
		then = "without a fence the bank accepts it"
	}
	w.book(from, lock, t, staleMark+": the %s from %s has token %v, but the bank has seen %v; %s", msgNames[kind], w.Name(from), t, w.store.cells[lock].seen, then)
}

// audit closes the books.
func (w *world) audit() {
	sums := &w.result.Books
	for i := range w.store.branches {
		total := w.store.branches[i].total()
		sums.Expected += accounts * opening
		sums.Total += total
		sums.Missing += max(0, accounts*opening-total)
		sums.Surplus += max(0, total-accounts*opening)
		if wrong := amiss(total); wrong != "" {
			w.broken(Bank, "%s: at the end %s", w.names[i], wrong)
		}
	}
}
