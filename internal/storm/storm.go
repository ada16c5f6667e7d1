// Package storm runs whole members, on the project's event kernel, under every
// fault there is, and judges every step by an oracle that sees true time and
// never asks a member.
package storm

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A Config says what is stormed, and how hard.
type Config struct {
	Seed     uint64
	Members  int
	Locks    int
	Choices  []member.Choice
	Spec     func(algorithm string, version int) (core.Spec, error)
	Settings member.Settings
	Length   int64 // nanoseconds of faults, and as many again in which all heals
	Faults   Faults
}

// Faults are how often each of them strikes, in a thousand chances.
type Faults struct {
	Crash, Pause, Cut, Break, Join, Leave int
	Loss                                  bool
	Drift                                 int64 // millionths, up to
}

// A Result is what came of a storm.
type Result struct {
	Entries   int
	Views     int
	Lost      int    // holds that were lost and told
	Violation string // what broke first; empty if nothing did
	At        int64
	Longest   int64 // wait for an entry, once healed
}

// All times of the kernel are nanoseconds here.
const (
	ms     = int64(member.Millisecond)
	second = int64(member.Second)
)

// The events that the storm schedules.
const (
	wake   = kernel.Own + iota // a member wants to be woken
	flush                      // its links have something to send
	beat                       // it renews
	act                        // its applications do something
	tick                       // the service looks around
	strike                     // a fault
)

type world struct {
	*kernel.Kernel
	Config
	chance  kernel.Rand
	procs   []*proc // by process; 0 is the service
	service service
	oracle  oracle
	healed  bool
	end     int64
	result  Result
}

// Run storms.
func Run(c Config) (*Result, error) {
	slots := 3*c.Members + 2
	w := &world{Config: c, chance: kernel.NewRand(c.Seed, 7), end: 2 * c.Length}
	network := core.FIFO
	if c.Faults.Loss {
		network = core.Lossy
	}
	w.Kernel = kernel.New(kernel.Config{
		Processes: slots, Latency: scenario.Dist{Shape: scenario.Uniform, A: ms / 5, B: 2 * ms}, Network: network,
		Seed: c.Seed, Adversary: true,
	}, w)
	w.Happen = w.happen
	w.oracle = newOracle(w)
	w.procs = make([]*proc, slots)
	w.service = service{w: w, leases: map[uint64]int64{}, at: map[uint64]core.ID{}}
	var first []member.Who
	for p := core.ID(1); int(p) <= c.Members; p++ {
		who, err := w.boot(p)
		if err != nil {
			return nil, err
		}
		first = append(first, who)
	}
	w.service.begin(first)
	w.At(100*ms, tick, core.None, 0)
	w.At(50*ms, strike, core.None, 0)
	for w.Pending() && w.Due() <= w.end && w.result.Violation == "" {
		if !w.healed && w.Due() > c.Length {
			w.heal()
		}
		w.Step()
	}
	w.result.Views = int(w.service.view.Epoch)
	if w.result.Violation == "" {
		w.oracle.final()
	}
	return &w.result, nil
}

// broken notes the first violation.
func (w *world) broken(format string, args ...any) {
	if w.result.Violation == "" {
		w.result.Violation, w.result.At = fmt.Sprintf(format, args...), w.Now()
	}
}

func (w *world) happen(e *kernel.Event) {
	p := e.Proc()
	switch e.Kind {
	case tick:
		w.service.tick()
		w.At(w.Now()+20*ms, tick, core.None, 0)
		return
	case strike:
		if !w.healed {
			w.strike()
			w.At(w.Now()+10*ms, strike, core.None, 0)
		}
		return
	}
	q := w.procs[p]
	if q == nil || int(q.inc) != e.Arg() {
		return // of somebody who is no more
	}
	switch e.Kind {
	case wake:
		q.m.Wake(q.clock())
		q.done()
	case flush:
		q.flush()
	case beat:
		q.beat()
	case act:
		q.act()
	}
}

// Deliver implements kernel.Handler.
func (w *world) Deliver(from, to core.ID, slot int32) {
	b := slices.Clone(w.Slot(slot).Bytes)
	if to == 0 {
		w.service.receive(from, b)
		return
	}
	if q := w.procs[to]; q != nil {
		q.receive(from, b)
	}
}

// Expired implements kernel.Handler.
func (*world) Expired(core.ID, kernel.Timer, kernel.Tag) {}

// Believed implements kernel.Handler.
func (*world) Believed(core.ID, core.ID) {}

// Called implements kernel.Handler.
func (*world) Called(*kernel.Slot) string { return "PACKET" }

// Describe implements kernel.Handler.
func (*world) Describe(*trace.Event, *kernel.Slot) {}

func (w *world) transmit(from, to core.ID, b []byte) {
	w.Send(from, to, w.Keep(b, 0, 0, 1))
}

// odds reports whether something that happens so often in a thousand does.
func (w *world) odds(n int) bool { return int(w.chance.Below(1000)) < n }

// strike lets a fault happen, or several.
func (w *world) strike() {
	f := w.Faults
	p := core.ID(1 + w.chance.Below(int64(w.Processes()-1)))
	q := w.procs[p]
	switch {
	case q == nil:
		if w.odds(f.Join) {
			w.join(p)
		}
		return
	case w.Paused(p):
		if w.odds(250) {
			w.Resume(p)
		}
		return
	}
	switch {
	case w.odds(f.Crash):
		w.crash(p)
	case w.odds(f.Pause):
		w.Pause(p)
	case w.odds(f.Break):
		q.reconnect()
	case w.odds(f.Leave):
		q.leave()
	case w.odds(f.Cut):
		var part []core.ID
		for i := range core.ID(w.Processes()) {
			if w.odds(500) {
				part = append(part, i)
			}
		}
		w.Partition([][]core.ID{part})
		w.cutUntil()
	}
}

// cutUntil heals a partition some time later.
func (w *world) cutUntil() {
	// The next strike that is none heals it.
	if w.odds(300) {
		w.Heal()
	}
}

// heal lets all faults end.
func (w *world) heal() {
	w.healed = true
	w.Heal()
	for p := range w.procs {
		if w.Paused(core.ID(p)) {
			w.Resume(core.ID(p))
		}
	}
}

func (w *world) crash(p core.ID) {
	q := w.procs[p]
	w.oracle.died(q)
	w.procs[p] = nil
	w.Crash(p)
	w.Restart(p) // the slot is free for another one
}

func (w *world) join(p core.ID) {
	if w.service.alive() >= 2*w.Members {
		return
	}
	if who, err := w.boot(p); err == nil {
		w.procs[p].join(who)
	}
}
