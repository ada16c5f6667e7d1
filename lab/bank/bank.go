// Package bank plays the scene of the cash machines with any lock: one from the catalog,
// or the caller's own. Each machine deposits money in one account by reading its balance
// over the network, adding, and writing the sum back, in its critical section; if two are
// inside, a deposit can be lost. It is the scene of 'stile-lab bank'.
package bank

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
	scene "github.com/stile-lock/stile/lab/internal/bank"
)

// The initial balance of the account, and the amount of each deposit.
const (
	Before = 1_000
	Amount = 10_000
)

// A Scene is the outcome of one run.
type Scene struct {
	Lock     string // name of the algorithm
	Balance  int64  // final balance of the account
	Expected int64  // expected balance
	Missing  int    // deposits that were never made, because the requesting machine was not let in
	Messages int    // messages of the lock

	result *scene.Result
}

// Play has each machine make the given number of deposits, taking turns by the lock. The
// seed selects one of many runs.
func Play(lock algorithm.Spec, machines, deposits int, seed uint64) (*Scene, error) {
	r, err := scene.Run(scene.Config{
		Lock: lock, Machines: machines, Deposits: deposits, Amount: Amount, Balance: Before, Seed: seed,
		Record: scene.Fits(machines, deposits),
	})
	if err != nil {
		return nil, err
	}
	return &Scene{
		Lock: lock.Name, Balance: r.Balance, Expected: r.Expected, Missing: machines*deposits - r.Entries, Messages: r.Messages, result: r,
	}, nil
}

// Diagram draws what happened, in at most the given number of rows. It is empty if there
// are too many machines or deposits to draw.
func (s *Scene) Diagram(rows int) string {
	if !scene.Fits(s.result.Machines, s.result.Deposits) {
		return ""
	}
	return strings.Join(s.result.Diagram(Before, rows), "\n") + "\n"
}

// Err returns nil if all deposits were made and none was lost, thanks to the lock and not
// by luck. Otherwise the error describes what went wrong, with a diagram: it is meant for
// go test.
func (s *Scene) Err() error {
	var wrong []string
	if lost := s.result.Lost; lost != 0 {
		wrong = append(wrong, words.Grouped(lost)+" IS LOST")
	}
	for _, o := range s.result.Overwritten[:min(1, len(s.result.Overwritten))] {
		wrong = append(wrong, fmt.Sprintf("%v read the balance before %v had written", o.By, o.Of))
	}
	if s.Missing > 0 {
		wrong = append(wrong, words.Plural(s.Missing, "deposit")+" never made, because no process enters any longer")
	}
	if len(wrong) == 0 && len(s.result.Found) > 0 {
		wrong = append(wrong, "nothing is lost, but only by luck: "+s.result.Found[0].String())
	}
	if len(wrong) == 0 {
		return nil
	}
	text := fmt.Sprintf("the bank with %s: %s on the account, want %s: %s", s.Lock,
		words.Grouped(s.Balance), words.Grouped(s.Expected), strings.Join(wrong, "; "))
	return errors.New(strings.TrimSpace(text + "\n\n" + s.Diagram(40)))
}
