package document

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// An Account is the shared account of a scenario with deposits, from a cursor on.
type Account struct {
	Event   int     `json:"event"`
	Balance int64   `json:"balance"`
	Lost    int64   `json:"lost"`  // deposits that another process has overwritten
	Reads   []int   `json:"reads"` // processes inside,
	Read    []int64 `json:"read"`  // and the balance that each of them read
}

// mostAccounts bounds the changes of an account that are shown, and the processes inside.
const mostAccounts = 50_000

// accounts follows the account through the events of a run. A process reads the balance when
// it enters, and writes it with its deposit when it leaves. One that crashes writes nothing.
// In a run that is too long to follow there is no account.
func accounts(sc *scenario.Scenario, events []trace.Event) []Account {
	if len(sc.Deposits) == 0 {
		return nil
	}
	amount := make([]int64, sc.Processes)
	for _, d := range sc.Deposits {
		amount[d.Proc] = int64(d.Amount)
	}
	room := mostAccounts
	now, paid := Account{Reads: []int{}, Read: []int64{}}, int64(0)
	all := []Account{now}
	for i := range events {
		e := &events[i]
		if e.Proc == algorithm.None || int(e.Proc) >= len(amount) {
			continue
		}
		at := slices.Index(now.Reads, int(e.Proc))
		next := Account{Event: i + 1, Balance: now.Balance, Lost: now.Lost, Reads: slices.Clone(now.Reads), Read: slices.Clone(now.Read)}
		switch {
		case e.Kind == trace.Enter && at < 0:
			next.Reads, next.Read = append(next.Reads, int(e.Proc)), append(next.Read, now.Balance)
		case (e.Kind == trace.Exit || e.Kind == trace.Crash) && at >= 0:
			if e.Kind == trace.Exit {
				next.Balance = now.Read[at] + amount[e.Proc]
				paid += amount[e.Proc]
				next.Lost = paid - next.Balance
			}
			next.Reads, next.Read = slices.Delete(next.Reads, at, at+1), slices.Delete(next.Read, at, at+1)
		default:
			continue
		}
		now = next
		all = append(all, now)
		if room -= 1 + len(now.Reads); room < 0 {
			return nil
		}
	}
	return all
}
