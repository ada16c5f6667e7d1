package storm

import (
	"fmt"
	"strconv"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// Durations of the kernel, whose ticks are nanoseconds here.
const (
	us = int64(member.Microsecond)
	ms = int64(member.Millisecond)
)

// The network, without faults.
const (
	fastest = ms / 5
	slowest = 2 * ms
)

// The events that the storm schedules.
const (
	wake    = kernel.Own + iota // of a process: the member or a link must be woken
	act                         // an application does something
	link                        // a process is notified that it has, or no longer has, a connection
	saved                       // its disk has acknowledged a save
	depart                      // it is asked to leave
	check                       // at no process: has it been notified?
	boot                        // at no process: another incarnation starts in a place
	pulse                       // of a client: something is due
	tick                        // the world checks whether the cluster has formed, and what it must do
	strike                      // a fault begins
	cease                       // a fault ends
	look                        // the oracle checks all waiting requests
	overdue                     // what arrived late on a connection of a client is handed over
	written                     // at no process: a disk has finished a save
	hear                        // at no process: has a client been notified of what an operator did?
	stalled                     // at no process: does an eviction stall a lock?
	redial                      // at no process: two processes have a connection again
)

// The kernel's processes: the resource, then the members' places and the clients.
const (
	storeID algorithm.ID = iota
	firstProc
)

// spare is the number of places for processes that join.
const spare = 2

type phase uint8

const (
	forming phase = iota // the cluster has not formed yet
	stormy
	healing
	demanding // every request must be granted soon
	draining  // applications make no new requests
	drained   // no request waits any longer
)

// A world is one run.
type world struct {
	*kernel.Kernel
	Config
	names        []string       // of the locks, the kept ones last
	units        []int          // of the kept ones; 0 if they are no semaphores
	numbers      map[string]int // of the locks, by name
	procs        []*proc        // by place
	clients      []*client
	lines        []*line // the clients' connections
	orders       orders
	backups      backups
	store        store
	network      network
	oracle       oracle
	thief        thief
	incarnations []incarnation          // all incarnations ever admitted, sorted
	active       []bool                 // by strike
	hit          []algorithm.ID         // by strike: the process it hit
	lost         []uint64               // voters whose disks were lost
	wiped        []uint64               // those of them whose disks are empty since
	kept         []*proc                // voters that know what a cluster that has gone back has lost
	severed      bool                   // two processes never hear each other again
	resumed      map[algorithm.ID]int64 // when a process was last resumed
	stirred      int64                  // when a fault last began or ended
	booted       int64                  // when a process last started
	attempts     uint64                 // of transactions
	phase        phase
	times        times
	result       Result
	specs        []made            // algorithms that were requested
	methods      []deadlock.Method // of kept locks
	buf          []byte
}

// A made is an algorithm made earlier: making one takes time, and there are many views.
type made struct {
	name    string
	version int
	spec    algorithm.Spec
}

// times are when the parts of a run begin.
type times struct {
	heal, demand, drain, end int64
}

// Run makes a run. An error means that such a run is impossible.
func Run(c Config) (*Result, error) { return run(c, nil) }

func run(c Config, observe func(e trace.Event)) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Strikes == nil {
		c.Strikes = Draw(c)
	}
	w := newWorld(c, observe)
	if err := w.begin(); err != nil {
		return nil, err
	}
	for w.Pending() && w.result.Violation == nil && w.phase != drained && w.Due() <= w.times.end {
		w.turn(w.Due())
		w.Step()
	}
	w.finish()
	return &w.result, nil
}

func newWorld(c Config, observe func(e trace.Event)) *world {
	places := c.Nodes + spare
	w := &world{Config: c, numbers: map[string]int{}, methods: member.KeptMethods(), resumed: map[algorithm.ID]int64{}, active: make([]bool, len(c.Strikes)), hit: make([]algorithm.ID, len(c.Strikes))}
	for i := range c.Locks {
		w.names = append(w.names, prefixes[i%len(prefixes)]+strconv.Itoa(i))
		w.numbers[w.names[i]] = i
	}
	w.nameKept()
	names := laneNames(&c)
	for i := range places {
		q := &proc{w: w, id: firstProc + algorithm.ID(i)}
		q.drive.q = q
		w.procs = append(w.procs, q)
	}
	for i := range c.Clients {
		w.clients = append(w.clients, newClient(w, i, firstProc+algorithm.ID(places+i)))
	}
	w.Kernel = kernel.New(kernel.Config{
		Processes: len(names), Latency: scenario.Uniform(fastest, slowest), Network: algorithm.FIFO,
		Seed: c.Seed, Adversary: true, Names: names, Observe: observe,
	}, w)
	w.Happen = w.happen
	w.network = newWire(w, len(names))
	w.store = newStore(&c)
	w.backups = newBackups(&c)
	w.oracle, w.thief = newOracle(w), newThief(w)
	w.times.end = formFor
	return w
}

// spec returns an algorithm, made once.
func (w *world) spec(name string, version int) (algorithm.Spec, error) {
	for i := range w.specs {
		if m := &w.specs[i]; m.name == name && m.version == version {
			return m.spec, nil
		}
	}
	spec, err := w.Spec(name, version)
	if err == nil {
		w.specs = append(w.specs, made{name, version, spec})
	}
	return spec, err
}

// prefixes are the prefixes of names, by which algorithms may be chosen.
var prefixes = [...]string{"orders/", "jobs/", "orders/eu/"}

// begin starts the first processes: one of them founds the cluster, the others join it.
func (w *world) begin() error {
	for i := range w.Nodes {
		if err := w.procs[i].boot(); err != nil {
			return err
		}
	}
	for _, c := range w.clients {
		c.begin()
	}
	w.At(orderEvery, tick, algorithm.None, 0)
	return nil
}

// formed starts the storm: all initial members are members, and as many as possible are
// voters.
func (w *world) formed() {
	w.phase = stormy
	w.plan()
	for i, s := range w.Strikes {
		w.At(w.Now()+int64(s.At), strike, algorithm.None, i)
	}
}

// formFor is how long a cluster may take to form.
const formFor = 4000 * ms

// plan derives when the parts of a run begin.
//
// The grace period: when all faults are healed, a member that is dead or does not renew is
// evicted after the service's patience with silent members. Homes, whose clocks may be
// slow, then wait until its lease has expired. An evicted process is notified when it
// renews, and joins again, which takes a view. Links that resend wait longer each time, and
// a member that has missed a view fetches it: some additional renewals allow for that.
//
// The end: the last requests must be granted within as many turns as rounds says, each with
// as many entries as are handed over locally, each of which may be the longest.
func (w *world) plan() {
	s := w.Settings
	w.times.heal = w.Now() + int64(w.Length)
	grace := w.quiet() + int64(s.Patience())*(million+2*s.Drift)/million + 4*int64(s.ViewLife) + 6*(int64(s.Renew)+2*slowest) + maxRest + 4*int64(s.Renew) + w.reign()
	if w.Faults.has(Beyond) {
		grace += grace / 2
	}
	w.times.demand = w.times.heal + grace
	hold := longestHold
	if w.Bank {
		hold += 2 * slowest // it releases the lock when its transfer is confirmed
	}
	turn := w.passing() + int64(min(s.Handover, 2*w.Apps+hands*w.Clients))*hold
	w.times.drain = w.times.demand + demandFor
	w.times.end = w.times.drain + int64(w.rounds())*turn + int64(s.Lease)
	if w.Workers > 0 {
		w.times.end += w.txBound(w.mostVictims())
	}
}

// demandFor is how long requests continue after the grace period.
const demandFor = 300 * ms

// turn starts the next part of the run when its time has come.
func (w *world) turn(now int64) {
	switch {
	case w.phase == stormy && now >= w.times.heal:
		w.phase = healing
		w.heal()
	case w.phase == healing && now >= w.times.demand:
		w.phase = demanding
		w.oracle.demand()
		w.At(now, look, algorithm.None, 0)
		if w.severed {
			w.times.end += 4 * int64(w.Settings.Lease)
		}
	case w.phase == demanding && now >= w.times.drain:
		w.phase = draining
	}
}

// finish judges the end.
func (w *world) finish() {
	w.result.Simulated = member.Span(w.Now())
	w.result.Views = w.oracle.views
	w.audit()
	if w.result.Violation != nil {
		return
	}
	w.oracle.final()
}

// broken records the first violation.
func (w *world) broken(i Invariant, format string, args ...any) {
	if w.result.Violation == nil {
		w.result.Violation = &Violation{i, member.Span(w.Now()), fmt.Sprintf(format, args...)}
		w.Note(trace.Event{Kind: trace.Violation, Proc: algorithm.None, Peer: algorithm.None, Name: string(i)})
	}
}

// note adds to the digest of the run.
func (w *world) note(a, b uint64) {
	x := w.result.Digest ^ uint64(w.Now())*0x9e3779b97f4a7c15
	x = (x ^ a) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>29 ^ b) * 0x94d049bb133111eb
	w.result.Digest = x ^ x>>32
}

func (w *world) happen(e *kernel.Event) {
	switch e.Kind {
	case tick:
		w.tick()
		w.At(w.Now()+orderEvery, tick, algorithm.None, 0)
	case strike:
		if w.phase == stormy {
			w.strike(e.Arg())
		}
	case cease:
		w.cease(e.Arg())
	case look:
		w.oracle.look()
	case overdue:
		w.overdue(e.Arg())
	case check:
		w.procs[e.Arg()].checkTold()
	case boot:
		w.procs[e.Arg()].again()
	case written:
		w.procs[e.Arg()&(1<<placeBits-1)].drive.written(e.Arg() >> placeBits)
	case stalled:
		w.oracle.stalls(e.Arg(), nil)
	case redial:
		w.redial(e.Arg())
	case hear:
		w.clients[e.Arg()].heard()
	case pulse:
		w.clientAt(e.Proc()).happen(e.Arg())
	default:
		w.procOf(e.Proc()).happen(e.Kind, e.Arg())
	}
}

func (w *world) procOf(id algorithm.ID) *proc { return w.procs[id-firstProc] }

func (w *world) clientAt(id algorithm.ID) *client { return w.clients[int(id-firstProc)-len(w.procs)] }

// isClient reports whether a process of the kernel is a client.
func (w *world) isClient(id algorithm.ID) bool { return int(id-firstProc) >= len(w.procs) }

// lockOf returns the number of a lock, or -1.
func (w *world) lockOf(name string) int {
	if i, ok := w.numbers[name]; ok {
		return i
	}
	return -1
}

// calm reports whether nothing unrequested may happen any longer.
func (w *world) calm() bool { return w.phase >= demanding && w.within() && !w.severed }

// within reports whether the clocks are within the margin: promises about time then hold.
func (w *world) within() bool { return !w.Faults.has(Beyond) }
