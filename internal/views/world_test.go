package views

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A world is voters, members and a log, in true time, with all that can happen
// to them; and an oracle that sees it.
type world struct {
	r        *rand.Rand
	now      int64
	seq      int
	queue    events
	settings member.Settings
	severed  []*node
	stormy   bool // things happen to messages, entries and leaders
	calm     bool // all has been well for long
	nodes    []*node

	leader  *voter
	term    uint64
	list    []uint64
	pending []*proposal
	records []Record // after each entry of the log; the first is after birth
	views   map[uint64][]byte

	nonces   uint64
	ends     map[uint64]int64 // by incarnations: when their leases are over, in true time
	bounds   map[uint64]int64 // of those that are out: when they are taken to be over
	outAt    map[uint64]int64
	admitted map[uint64]*proc
	entries  int
	broken   string // the first thing that went wrong
	trace    []string
}

// A node is a machine: an address, a clock, perhaps a voter, and a process.
type node struct {
	w       *world
	i       int
	address string
	offset  int64
	rate    int64 // millionths
	paused  int64 // until when
	voter   *voter
	proc    *proc
	cuts    []int64 // by nodes: since when it does not reach them; 0 if it does
}

// A voter is a node that stores the view log.
type voter struct {
	n       *node
	id      uint64
	leader  *Leader
	applied int // how many entries
	term    uint64
}

// A proc is a process that is a member, or wants to be.
type proc struct {
	n      *node
	dead   bool
	leaves bool
	p      *Membership
	nonce  uint64
	number uint64
	sent   map[uint64]int64 // true time
	since  int64            // of its membership
}

type proposal struct {
	by    *voter
	term  uint64
	bytes []byte
}

type event struct {
	at  int64
	seq int
	f   func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	x := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return x
}

const ms = int64(member.Millisecond)

func (w *world) after(d int64, f func()) {
	w.seq++
	heap.Push(&w.queue, event{w.now + d, w.seq, f})
}

func (w *world) run(d int64) {
	for end := w.now + d; w.broken == "" && len(w.queue) > 0 && w.queue[0].at <= end; {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.f()
	}
}

func (w *world) fail(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf("at %d ms: ", w.now/ms) + fmt.Sprintf(format, args...)
	}
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%6.1f ", float64(w.now)/float64(ms))+fmt.Sprintf(format, args...))
}

func (w *world) chance(percent int) bool { return w.stormy && w.r.IntN(100) < percent }
func (w *world) below(d int64) int64     { return w.r.Int64N(max(d, 1)) }

func (n *node) clock() member.Instant {
	return member.Instant(n.offset + n.w.now + n.w.now/1_000_000*n.rate)
}

// lasts is how long a time of the own clock is.
func (n *node) lasts(d member.Instant) int64 { return int64(d) * 1_000_000 / (1_000_000 + n.rate) }

// on does something at a node, when it is not paused.
func (n *node) on(f func()) {
	if n.paused > n.w.now {
		n.w.after(n.paused-n.w.now, func() { n.on(f) })
		return
	}
	f()
}

func stormSettings(drift int64) member.Settings {
	return member.Settings{Lease: 100 * member.Millisecond, Renew: 16 * member.Millisecond, Drift: drift, Act: 1, Handover: 16, ViewLife: 8 * member.Millisecond, Replace: 300 * member.Millisecond}
}

// newWorld makes a cluster of so many nodes, all of them members and some voters.
func newWorld(seed uint64, nodes, voters int) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 1)), views: map[uint64][]byte{}, settings: stormSettings(100_000),
		ends: map[uint64]int64{}, bounds: map[uint64]int64{}, outAt: map[uint64]int64{}, admitted: map[uint64]*proc{}}
	x := Change{Start: &Start{Cluster: 7, Epoch: 1, Settings: w.settings}, Choices: []member.Choice{{Algorithm: "central"}}, Wanted: voters}
	for i := range nodes {
		n := &node{w: w, i: i, address: fmt.Sprintf("p%d", i), offset: 1 + w.below(1000*ms), cuts: make([]int64, nodes)}
		n.rate = []int64{-w.settings.Drift, 0, w.settings.Drift, w.below(2*w.settings.Drift) - w.settings.Drift}[w.r.IntN(4)]
		w.nodes = append(w.nodes, n)
		n.boot()
		if i < voters {
			x.Join = append(x.Join, Joiner{Name: n.address, Address: n.address, Nonce: n.proc.nonce})
			x.Promote = append(x.Promote, n.proc.nonce)
		}
	}
	w.append(0, x.AppendTo(nil))
	if len(w.records) == 0 {
		panic("no birth")
	}
	for i, v := range w.records[0].Voters {
		w.list = append(w.list, v.ID)
		w.keep(w.nodes[i], v.ID)
	}
	w.elect(w.nodes[0].voter)
	return w
}

// keep begins a voter.
func (w *world) keep(n *node, id uint64) {
	k := &voter{n: n, id: id, leader: NewLeader(id, w.last()), applied: len(w.records)}
	k.leader.Voters(slices.Clone(w.list), false, true)
	if w.leader != nil {
		k.leader.Follow(n.clock(), w.leader.id)
	}
	n.voter = k
	var tick func()
	tick = func() {
		if n.voter != k {
			return
		}
		n.on(func() { k.leader.Tick(n.clock()); k.take() })
		w.after(2*ms, tick)
	}
	w.after(w.below(2*ms), tick)
}

func (w *world) last() Record { return w.records[len(w.records)-1] }

// elect makes a voter the leader. What the old one had proposed is in the log
// before the new term, or nowhere. The old one may not notice for long.
func (w *world) elect(k *voter) {
	old := w.leader
	w.leader, w.term = k, w.term+1
	term := w.term
	w.note("%s leads in term %d", k.n.address, term)
	for _, p := range w.pending {
		if w.r.IntN(2) == 0 {
			w.append(p.term, p.bytes)
		}
	}
	w.pending = nil
	for _, n := range w.nodes {
		if o := n.voter; o != nil && o != k {
			d := w.below(10 * ms)
			if o == old && w.stormy {
				d = w.below(3 * int64(w.settings.Lease))
			}
			w.after(d, func() {
				if w.term == term {
					o.leader.Follow(n.clock(), k.id)
				}
			})
		}
	}
	w.after(w.below(5*ms), func() {
		k.n.on(func() {
			if w.leader == k && w.term == term {
				k.catchUp(len(w.records))
				k.term = term
				k.leader.Lead(k.n.clock(), term, w.last())
				k.take()
			}
		})
	})
}

// append adds an entry of a term to the log.
func (w *world) append(term uint64, b []byte) {
	var old Record
	if len(w.records) > 0 {
		old = w.last()
	}
	next, ok := Apply(old, term, b)
	w.records = append(w.records, next)
	w.entries++
	if ok {
		w.committed(&old, &next)
	}
	at := len(w.records)
	for _, n := range w.nodes {
		if k := n.voter; k != nil {
			w.after(w.below(4*ms), func() { n.on(func() { k.catchUp(at) }) })
		}
	}
}

func (k *voter) catchUp(to int) {
	for ; k.applied < to; k.applied++ {
		k.leader.Applied(k.n.clock(), k.n.w.records[k.applied])
	}
	k.take()
}

// take carries out what a leader wants done.
func (k *voter) take() {
	w, out := k.n.w, k.leader.Out
	k.leader.Out = LeaderOut{}
	term := k.term
	for _, l := range out.Send {
		w.deliver(k.n, l)
	}
	if out.Propose != nil && w.propose(k, term, out.Propose) {
		k.leader.Appended()
	}
	if out.Read != 0 {
		w.after(w.below(3*ms), func() {
			if w.leader == k && w.term == term && !w.chance(5) {
				w.after(w.below(3*ms), func() {
					k.n.on(func() { k.leader.Confirmed(k.n.clock(), out.Read); k.take() })
				})
			}
		})
	}
	if out.Revote != nil {
		w.after(w.below(5*ms), func() {
			if w.leader == k && w.term == term && !w.chance(20) {
				w.revote(out.Revote)
			}
		})
	}
	if out.HandOver != 0 {
		for _, n := range w.nodes {
			if n.voter != nil && n.voter.id == out.HandOver && w.leader == k && slices.Contains(w.list, out.HandOver) {
				w.elect(n.voter)
			}
		}
	}
}

// propose proposes an entry, and reports whether the log has it.
func (w *world) propose(k *voter, term uint64, b []byte) bool {
	if w.leader != k || w.term != term || w.chance(10) {
		return false
	}
	p := &proposal{k, term, b}
	w.pending = append(w.pending, p)
	w.after(w.below(6*ms), func() {
		if i := slices.Index(w.pending, p); i >= 0 {
			w.pending = slices.Delete(w.pending, i, i+1)
			w.append(term, b)
		}
	})
	if w.chance(10) {
		w.after(w.below(60*ms), func() { w.append(w.term, b) })
	}
	return true
}

func (w *world) revote(want []uint64) {
	r := w.last()
	without := func(all, some []uint64) []uint64 {
		return slices.DeleteFunc(slices.Clone(all), func(id uint64) bool { return slices.Contains(some, id) })
	}
	add, remove := without(want, w.list), without(w.list, want)
	var fresh []*node
	for _, id := range add { // each of them must be there, and know of it
		i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.address == r.Address(id) })
		if i < 0 || w.nodes[i].proc.dead || w.nodes[i].proc.p.config.Voter != id {
			return
		}
		fresh = append(fresh, w.nodes[i])
	}
	for i, id := range add {
		if !slices.Contains(w.list, id) {
			w.list = append(w.list, id)
			w.keep(fresh[i], id)
		}
	}
	for _, id := range remove {
		if i := slices.Index(w.list, id); i >= 0 && w.leader.id != id {
			w.list = slices.Delete(w.list, i, i+1)
			for _, n := range w.nodes {
				if n.voter != nil && n.voter.id == id {
					n.voter = nil
				}
			}
		}
	}
	slices.Sort(w.list)
	w.note("voters %v", w.list)
	for _, n := range w.nodes {
		if n.voter != nil {
			n.voter.leader.Voters(slices.Clone(w.list), false, true)
		}
	}
}

// deliver brings a message, or not.
func (w *world) deliver(from *node, l Envelope) {
	i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.address == l.To })
	if i < 0 {
		w.fail("a letter to %q", l.To)
		return
	}
	n := w.nodes[i]
	times := 1
	if w.chance(5) {
		times = 2
	}
	if w.chance(3) || from.cuts[i] != 0 {
		return
	}
	for range times {
		d := 100_000 + w.below(2*ms)
		if w.chance(5) {
			d += w.below(50 * ms)
		}
		if from == n {
			d = 1000
		}
		w.after(d, func() { n.on(func() { n.receive(from.address, l.Bytes) }) })
	}
}

func (n *node) receive(from string, b []byte) {
	var err error
	if ForVoter(b) {
		if n.voter != nil {
			err = n.voter.leader.Receive(n.clock(), from, b)
			n.voter.take()
		} else if !n.proc.dead {
			err = n.proc.p.Refer(n.clock(), from, b)
			n.proc.take()
		}
	} else if !n.proc.dead {
		err = n.proc.p.Receive(n.clock(), from, b)
		n.proc.take()
	}
	if err != nil {
		n.w.fail("%s: %v", n.address, err)
	}
}
