// Package model is the model of a group of machines that is explored, the same for every
// family: the machines, the messages between them, their timers, which of them are dead,
// what the adversary may still do, and the applications, which are a [family.Env].
//
// The states of single machines and the contents of messages, here called blobs, are few,
// so a global state refers to them by number, and what a machine does with an input is
// determined once, by running it.
package model

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A Clock says when timers expire.
type Clock uint8

// The clocks.
const (
	Anytime Clock = iota // a running timer may expire at any time
	// Units of the maximum latency pass: a message arrives in the unit in which it was
	// sent or in the next one, and a timer expires after as many units as it was set for,
	// when everything that had to arrive by then has arrived.
	Units
)

// A Pace says how long messages take if time passes in units.
type Pace uint8

// The paces. Quick and Slow are the two extremes, with far fewer states.
const (
	AnyPace Pace = iota // any time up to the maximum
	Quick               // no time at all, compared with timeouts
	Slow                // each arrives in the unit after it was sent
)

// A Config says which group is explored, and under which conditions.
type Config struct {
	Spec    algorithm.Spec
	Seats   int
	Env     family.Env
	Tagged  bool           // the Env marks messages
	Sites   bool           // seats are sites: applications are elsewhere, each with one of them as its home
	Names   []string       // properties that can be seen violated: one bit each, in this order
	Waiters []algorithm.ID // applications that may wait, one bit for each, in this order
	Settles bool           // what counts is not which applications wait, but whether any does
	Network algorithm.Network
	Starts  []algorithm.View // nil means one: seat 1 has the lock and is not inside
	Upset   bool             // start from every state of Spec.Upset instead, and let timer 0 of every machine expire at any time
	Clock   Clock
	Pace    Pace
	Form    Form
	Copies  bool // keep a second copy of a message even if it is declared idempotent

	Crashes   int  // maximum number of seats that crash, at any step; all others eventually suspect them
	Comebacks int  // maximum number of them that return, at any step
	Losses    int  // maximum number of messages lost, at any step, on a network that otherwise loses none
	Wrong     bool // once a timeout is too short, or a live seat is taken for dead
}

const (
	maxSeats   = 64 // limit of labels and of sets of seats
	maxWaiters = 30 // two more bits of the waiting set have another meaning
	maxEvents  = 15 // maximum number of crashes, returns, and losses
)

// Reductions omit what makes no difference. The tests compare each of them with the model
// that does without.
type reductions struct {
	losses bool // messages to the dead are lost as late as makes no difference: see deaths.go
	still  bool // time stands still while no timer runs
	vain   bool // timers of sites that would change nothing do not run
}

// A Model is a group of machines, ready to be explored.
type Model struct {
	Config
	reductions
	blobs  *blobs
	birth  algorithm.Birth
	tried  *tried
	mortal bool // a process may crash, or be taken for dead
	plain  bool // a message in flight is fully described by its link and its content
	bits   looks
	spent  *spent // messages that are removed; nil means none

	longest atomic.Int64 // messages on one link, so far
	asked   atomic.Bool  // some machine received a request
	entered atomic.Bool  // some machine let its application in

	torn atomic.Bool // two blobs of a state had different anchors

	mu      sync.Mutex
	used    [][]algorithm.Machine // machines of former workers
	lagging map[place]bool        // where counters were seen to lag behind their anchor
}

// looks are the bits of the properties checked here.
type looks struct{ token, alibi, channels explore.Broken }

// New makes a model.
func New(c Config) (*Model, error) {
	return newModel(c, reductions{losses: true, still: true, vain: true})
}

func newModel(c Config, r reductions) (*Model, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	birth, err := c.Spec.Birth(c.Seats)
	if err != nil {
		return nil, err
	}
	if len(c.Starts) == 0 {
		c.Starts = []algorithm.View{{N: c.Seats}}
	}
	for _, v := range c.Starts {
		if _, err := c.Spec.Group(v); err != nil {
			return nil, err
		}
	}
	m := &Model{Config: c, reductions: r, birth: birth, blobs: &blobs{ids: map[string]uint32{}}, tried: &tried{steps: map[uint64]struct{}{}}, lagging: map[place]bool{}}
	m.mortal = c.Crashes > 0 || c.Wrong
	m.plain = c.Seats <= 16 && c.Clock != Units && !c.Tagged
	m.bits = looks{m.Bit(family.Token), m.Bit(family.Alibi), m.Bit(family.Channels)}
	return m, nil
}

// check returns why a group cannot be checked, or why nothing could ever happen in it, in
// which case all properties would hold vacuously.
func (c *Config) check() error {
	switch {
	case c.Seats > maxSeats:
		return fmt.Errorf("%d processes: the checker supports at most %d", c.Seats, maxSeats)
	case c.Network > algorithm.Lossy:
		return fmt.Errorf("unknown %v", c.Network)
	case len(c.Waiters) == 0:
		return errors.New("no process may ask: name at least one requester")
	case len(c.Waiters) > maxWaiters && !c.Settles:
		return fmt.Errorf("%d requesters: the checker supports at most %d; name fewer", len(c.Waiters), maxWaiters)
	case c.Crashes < 0 || c.Crashes > maxEvents || c.Comebacks < 0 || c.Comebacks > maxEvents:
		return fmt.Errorf("%d crashes and %d comebacks: want 0 to %d of each", c.Crashes, c.Comebacks, maxEvents)
	case c.Losses < 0 || c.Losses > maxEvents:
		return fmt.Errorf("%d lost messages: want 0 to %d", c.Losses, maxEvents)
	case c.Clock == Units && c.Network != algorithm.FIFO && c.Network != algorithm.Unordered:
		return fmt.Errorf("a network that is %v: with crashes it must be fifo or unordered", c.Network)
	}
	for _, v := range c.Starts {
		if err := v.Check(); err != nil {
			return err
		}
		if v.N != c.Seats {
			return fmt.Errorf("a start of %d processes in a group of %d", v.N, c.Seats)
		}
	}
	return nil
}

// Bit returns the bit of a property, or 0 if it cannot be seen here.
func (m *Model) Bit(property string) explore.Broken {
	if i := slices.Index(m.Names, property); i >= 0 {
		return 1 << i
	}
	return 0
}

// Longest returns the maximum number of messages on one link.
func (m *Model) Longest() int { return int(m.longest.Load()) }

// HasTokens reports whether a token was seen anywhere, and HasAlibis whether any process
// vouched for another.
func (m *Model) HasTokens() bool { return m.blobs.some(func(b *blob) bool { return b.tokens > 0 }) }

// HasAlibis is described at HasTokens.
func (m *Model) HasAlibis() bool { return m.blobs.some(func(b *blob) bool { return b.alibis != 0 }) }

// Vain reports whether some application asked in what was explored, but none was ever let
// in or inside from the start.
func (m *Model) Vain() bool {
	busy := func(v algorithm.View) bool { return v.Busy }
	return m.asked.Load() && !m.entered.Load() && !slices.ContainsFunc(m.Starts, busy)
}

// ordered reports whether links keep the order of sending.
func (m *Model) ordered() bool { return m.Network == algorithm.FIFO || m.Network == algorithm.Lossy }

// see notes the number of messages on a link.
func (m *Model) see(n int) {
	for old := m.longest.Load(); int64(n) > old; old = m.longest.Load() {
		m.longest.CompareAndSwap(old, int64(n))
	}
}
