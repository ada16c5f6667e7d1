package script

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A Deposit is an amount that a process adds to one account, which all share, each time that
// it is inside: it reads the balance when it enters, and writes the sum when it leaves.
type Deposit struct {
	Proc   algorithm.ID
	Amount int
}

// MaxDeposit bounds an amount, so that no balance can overflow.
const MaxDeposit = 1_000_000_000

// deposit reads the rest of a line that begins with deposit.
func (p *parser) deposit() {
	w := p.here()
	d := Deposit{Proc: p.process(), Amount: p.number(1, MaxDeposit)}
	if slices.ContainsFunc(p.s.Deposits, func(o Deposit) bool { return o.Proc == d.Proc }) && p.err == nil {
		p.failAt(w, fmt.Sprintf("%v already has a deposit: remove one of the two lines", d.Proc))
	}
	p.end()
	p.s.Deposits = append(p.s.Deposits, d)
}

// checkDeposits refuses deposits where there is not one critical section.
func (s *Scenario) checkDeposits() error {
	if len(s.Deposits) > 0 && len(s.Sections) > 0 {
		return fmt.Errorf("deposits and several sections: the account belongs to one section; remove one of the two")
	}
	return nil
}
