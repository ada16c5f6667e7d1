package bank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A Config is one scene.
type Config struct {
	Lock     algorithm.Spec // how the machines take turns; NoLock for not at all
	Machines int
	Deposits int   // deposits of each machine
	Amount   int64 // of each deposit
	Balance  int64 // initial balance of the account
	Seed     uint64
	Crash    Crash     // whether and how a machine dies
	Record   bool      // keep the events, for a diagram
	Watch    sim.Watch // may end the scene early; may be nil
}

// A Result is the outcome of a scene.
type Result struct {
	Lock     string `json:"lock"`
	Machines int    `json:"machines"`
	Deposits int    `json:"deposits"` // deposits of each machine
	Seed     uint64 `json:"seed"`
	Expected int64  `json:"expected"`          // correct final balance
	Balance  int64  `json:"balance"`           // actual final balance
	Lost     int64  `json:"lost"`              // part of the deposits that was lost
	Entries  int    `json:"entries"`           // deposits that were made
	Messages int    `json:"messages"`          // messages of the lock; a deposit itself takes four
	Stopped  bool   `json:"stopped,omitempty"` // by Config.Watch, before all deposits were made
	Crash    string `json:"crash,omitempty"`   // machine that died, and when, as in 2@write
	Waiting  []int  `json:"waiting,omitempty"` // machines that wait forever after that
	Refused  int    `json:"refused,omitempty"` // writes that the account refused
	After    int    `json:"after,omitempty"`   // deposits of other machines that began after the death

	Overwritten []Overwrite     `json:"-"` // how deposits were lost
	Found       []sim.Violation `json:"-"` // how the lock failed
	Events      []trace.Event   `json:"-"` // if Record is set; the account is the process after the machines
}

// An Overwrite is a lost deposit: By wrote a sum that it had computed before Of wrote its
// own.
type Overwrite struct{ By, Of algorithm.ID }

// latency is how long a message takes, whether of the lock or of the account.
func latency() scenario.Dist {
	return scenario.Uniform(scenario.T/2, 3*scenario.T/2)
}

// arrival is how long a machine waits for its next customer.
func arrival() scenario.Dist {
	return scenario.Uniform(0, 6*scenario.T)
}

// accountStream is the stream of random numbers for messages to the account.
const accountStream = 1 << 32

// check returns what prevents c from being played.
func (c Config) check() error {
	switch {
	case c.Machines < 1:
		return fmt.Errorf("%d cash machines: want at least 1", c.Machines)
	case c.Deposits < 1:
		return fmt.Errorf("%d deposits: want at least 1", c.Deposits)
	case c.Amount < 0 || c.Balance < 0:
		return fmt.Errorf("a deposit of %d on a balance of %d: neither may be negative", c.Amount, c.Balance)
	}
	if all := float64(c.Machines) * float64(c.Deposits); all*float64(c.Amount)+float64(c.Balance) > math.MaxInt64/2 {
		return fmt.Errorf("the total overflows: use a smaller amount or fewer deposits")
	}
	return nil
}

// Run plays the scene.
func Run(c Config) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if !c.Crash.On {
		return c.play(nil)
	}
	doom, err := c.foresee()
	if err != nil {
		return nil, err
	}
	return c.play(doom)
}

// play plays the scene, in which a machine may die.
func (c Config) play(doom *end) (*Result, error) {
	b := c.branch(doom)
	r, err := b.run()
	if err != nil {
		return nil, err
	}
	balance, made := b.settle()
	result := &Result{
		Lock: c.Lock.Name, Machines: c.Machines, Deposits: c.Deposits, Seed: c.Seed,
		Expected: c.Balance + int64(c.Machines)*int64(c.Deposits)*c.Amount,
		Balance:  balance, Lost: c.Balance + int64(made)*c.Amount - balance, Entries: made, Messages: r.Messages,
		Stopped: r.Stopped, Refused: b.refused, After: b.after, Overwritten: b.lost, Found: r.Found, Events: b.timeline(),
	}
	if c.Crash.On {
		result.bereaved(c)
	}
	return result, nil
}

func (c Config) branch(doom *end) *branch {
	return &branch{Config: c, over: math.MaxInt64, seen: math.MaxInt64, rand: kernel.NewRand(c.Seed, accountStream), doom: doom}
}

// run makes the machines do their work.
func (b *branch) run() (*sim.Result, error) {
	run := sim.Config{
		Spec: b.Lock, Nodes: b.Machines, Entries: b.Machines * b.Deposits,
		Quota: b.Deposits, Latency: latency(), Think: arrival(), Work: b.deposit, Seed: b.Seed,
	}
	if b.doom != nil {
		run.Crashes = []sim.Outage{{Proc: b.Crash.Who, At: b.doom.at}}
	}
	if b.Record {
		run.Observe = b.observe
	}
	now := int64(0)
	if b.Watch != nil {
		run.Watch = func(p sim.Progress) bool {
			now = p.Now
			return b.Watch(p)
		}
	}
	r, err := sim.Run(run)
	if err == nil && r.Stopped {
		b.over = now
	}
	return r, err
}

// A branch is the account and the machines' dealings with it.
type branch struct {
	Config
	over  int64 // nothing happens after this time
	seen  int64 // no event is kept after this time
	rand  kernel.Rand
	doom  *end // end of the machine that dies, if one does
	calls []call
	turns int // number of sections begun
	lost  []Overwrite

	refused int
	after   int // sections that began after the death
	events  []trace.Event
}

// A call is a message to the account and its answer.
type call struct {
	machine algorithm.ID
	write   bool
	sent    int64
	reached int64 // when the account processes it
	back    int64 // when the answer arrives
	turn    int   // section it belongs to
	sum     int64 // what was read or written, once settled
	refused bool  // once settled
	orphan  bool  // its machine is dead when the answer arrives
}

// deposit is what machine p does inside; it returns how long that takes.
func (b *branch) deposit(p algorithm.ID, now int64) int64 {
	at := now
	b.turns++
	if b.doom != nil && now > b.doom.at {
		b.after++
	}
	for _, write := range []bool{false, true} {
		c := call{machine: p, write: write, sent: at, turn: b.turns}
		c.reached = c.sent + b.rand.Sample(latency())
		c.back = c.reached + b.rand.Sample(latency())
		at = c.back
		if !b.doomed(&c) {
			b.calls = append(b.calls, c)
		}
	}
	return at - now
}

// settle makes the account process all calls in the order in which they reach it, and
// returns the balance and the number of deposits it has seen.
func (b *branch) settle() (balance int64, writes int) {
	slices.SortStableFunc(b.calls, func(x, y call) int { return cmp.Compare(x.reached, y.reached) })
	balance, writer := b.Balance, algorithm.None
	read := make([]int64, b.Machines)
	since := make([]int, b.Machines) // number of writes each had seen when it read
	latest := 0                      // latest turn known to the account
	for i := range b.calls {
		c := &b.calls[i]
		if c.reached > b.over {
			break
		}
		p := c.machine
		if c.refused = b.Crash.Fenced && c.turn < latest; c.refused {
			c.sum = read[p] + b.Amount
			b.refused++
			continue
		}
		latest = max(latest, c.turn)
		if !c.write {
			read[p], since[p], c.sum = balance, writes, balance
			continue
		}
		if since[p] != writes {
			b.lost = append(b.lost, Overwrite{By: p, Of: writer})
		}
		balance, writer = read[p]+b.Amount, p
		c.sum = balance
		writes++
	}
	return balance, writes
}
