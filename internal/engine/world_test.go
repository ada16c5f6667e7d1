package engine

import (
	"bytes"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

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
	wrong    Misreading
	stormy   bool // things happen to messages, entries and leaders
	calm     bool // all has been well for long
	nodes    []*node

	leader  *keeper
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
	keeper  *keeper
	proc    *proc
	cuts    []int64 // by nodes: since when it does not reach them; 0 if it does
}

// A keeper is a voter.
type keeper struct {
	n       *node
	id      uint64
	warden  *Warden
	applied int // how many entries
	term    uint64
}

// A proc is a process that is a member, or wants to be.
type proc struct {
	n      *node
	dead   bool
	leaves bool
	p      *Petitioner
	nonce  uint64
	number uint64
	sent   map[uint64]int64 // true time
	since  int64            // of its membership
}

type proposal struct {
	by    *keeper
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
	return member.Settings{Lease: 100 * member.Millisecond, Renew: 16 * member.Millisecond, Drift: drift, Act: 1, Handover: 16, ViewLife: 8 * member.Millisecond}
}

// newWorld makes a cluster of so many nodes, all of them members and some voters.
func newWorld(seed uint64, nodes, voters int, wrong Misreading) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 1)), wrong: wrong, views: map[uint64][]byte{}, settings: stormSettings(100_000),
		ends: map[uint64]int64{}, bounds: map[uint64]int64{}, outAt: map[uint64]int64{}, admitted: map[uint64]*proc{}}
	x := Change{Start: &Start{7, 1, w.settings}, Choices: []member.Choice{{Algorithm: "central"}}, Wanted: voters}
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
	w.append(x.AppendTo(nil))
	if len(w.records) == 0 {
		panic("no birth")
	}
	for i, v := range w.records[0].Voters {
		w.list = append(w.list, v.ID)
		w.keep(w.nodes[i], v.ID)
	}
	w.elect(w.nodes[0].keeper)
	return w
}

// keep begins a voter.
func (w *world) keep(n *node, id uint64) {
	k := &keeper{n: n, id: id, warden: NewWarden(id, w.last()), applied: len(w.records)}
	Misread(k.warden, w.wrong)
	k.warden.Voters(w.list, true)
	if w.leader != nil {
		k.warden.Follow(w.leader.id)
	}
	n.keeper = k
	var tick func()
	tick = func() {
		if n.keeper != k {
			return
		}
		n.on(func() { k.warden.Tick(n.clock()); k.take() })
		w.after(2*ms, tick)
	}
	w.after(w.below(2*ms), tick)
}

func (w *world) last() Record { return w.records[len(w.records)-1] }

// elect makes a voter the leader. What the old one had proposed is in the log
// before the new term, or nowhere. The old one may not notice for long.
func (w *world) elect(k *keeper) {
	old := w.leader
	w.leader, w.term = k, w.term+1
	term := w.term
	w.note("%s leads in term %d", k.n.address, term)
	for _, p := range w.pending {
		if w.r.IntN(2) == 0 {
			w.append(p.bytes)
		}
	}
	w.pending = nil
	for _, n := range w.nodes {
		if o := n.keeper; o != nil && o != k {
			d := w.below(10 * ms)
			if o == old && w.stormy {
				d = w.below(3 * int64(w.settings.Lease))
			}
			w.after(d, func() {
				if w.term == term {
					o.warden.Follow(k.id)
				}
			})
		}
	}
	w.after(w.below(5*ms), func() {
		k.n.on(func() {
			if w.leader == k && w.term == term {
				k.catchUp(len(w.records))
				k.term = term
				k.warden.Lead(k.n.clock(), term, w.last())
				k.take()
			}
		})
	})
}

// append adds an entry to the log.
func (w *world) append(b []byte) {
	var old Record
	if len(w.records) > 0 {
		old = w.last()
	}
	next, ok := MisreadApply(w.wrong, old, b)
	w.records = append(w.records, next)
	w.entries++
	if ok {
		w.committed(&old, &next)
	}
	at := len(w.records)
	for _, n := range w.nodes {
		if k := n.keeper; k != nil {
			w.after(w.below(4*ms), func() { n.on(func() { k.catchUp(at) }) })
		}
	}
}

func (k *keeper) catchUp(to int) {
	for ; k.applied < to; k.applied++ {
		k.warden.Applied(k.n.clock(), k.n.w.records[k.applied])
	}
	k.take()
}

// take does what a warden wants done.
func (k *keeper) take() {
	w, out := k.n.w, k.warden.Out
	k.warden.Out = WardenOut{}
	term := k.term
	for _, l := range out.Send {
		w.deliver(k.n, l)
	}
	if out.Propose != nil {
		w.propose(k, term, out.Propose)
	}
	if out.Read != 0 {
		w.after(w.below(3*ms), func() {
			if w.leader == k && w.term == term && !w.chance(5) {
				w.after(w.below(3*ms), func() {
					k.n.on(func() { k.warden.Confirmed(k.n.clock(), out.Read); k.take() })
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
			if n.keeper != nil && n.keeper.id == out.HandOver && w.leader == k && slices.Contains(w.list, out.HandOver) {
				w.elect(n.keeper)
			}
		}
	}
}

func (w *world) propose(k *keeper, term uint64, b []byte) {
	if w.leader != k || w.term != term || w.chance(10) {
		return
	}
	p := &proposal{k, term, b}
	w.pending = append(w.pending, p)
	w.after(w.below(6*ms), func() {
		if i := slices.Index(w.pending, p); i >= 0 {
			w.pending = slices.Delete(w.pending, i, i+1)
			w.append(b)
		}
	})
	if w.chance(10) {
		w.after(w.below(60*ms), func() { w.append(b) })
	}
}

func (w *world) revote(x *Revote) {
	r := w.last()
	var fresh []*node
	for _, id := range x.Add { // each of them must be there, and know of it
		i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.address == r.Address(id) })
		if i < 0 || w.nodes[i].proc.dead || w.nodes[i].proc.p.config.Voter != id {
			return
		}
		fresh = append(fresh, w.nodes[i])
	}
	for i, id := range x.Add {
		if !slices.Contains(w.list, id) {
			w.list = append(w.list, id)
			w.keep(fresh[i], id)
		}
	}
	for _, id := range x.Remove {
		if i := slices.Index(w.list, id); i >= 0 && w.leader.id != id {
			w.list = slices.Delete(w.list, i, i+1)
			for _, n := range w.nodes {
				if n.keeper != nil && n.keeper.id == id {
					n.keeper = nil
				}
			}
		}
	}
	slices.Sort(w.list)
	w.note("voters %v", w.list)
	for _, n := range w.nodes {
		if n.keeper != nil {
			n.keeper.warden.Voters(w.list, true)
		}
	}
}

// deliver brings a message, or not.
func (w *world) deliver(from *node, l Letter) {
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
	if Kind(b[0]) <= Status {
		if n.keeper != nil {
			err = n.keeper.warden.Receive(n.clock(), from, b)
			n.keeper.take()
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

// boot begins another process.
func (n *node) boot() {
	w := n.w
	w.nonces++
	q := &proc{n: n, nonce: w.nonces, sent: map[uint64]int64{}}
	c := PetitionerConfig{Name: n.address, Address: n.address, Nonce: q.nonce, Retry: 10 * member.Millisecond}
	for i := range n.cuts {
		c.Voters = append(c.Voters, fmt.Sprintf("p%d", i))
	}
	if n.keeper != nil {
		c.Voter = n.keeper.id
	}
	q.p, _ = NewPetitioner(c)
	n.proc = q
	w.after(w.below(5*ms)+1, func() { q.p.Join(n.clock()); q.take() })
	q.renew()
}

func (q *proc) renew() {
	if q.dead {
		return
	}
	n := q.n
	n.on(func() {
		if q.p.Inc() != 0 && !q.leaves && !q.dead {
			q.number++
			q.sent[q.number] = n.w.now
			q.p.Renew(n.clock(), q.number, false, q.unreached())
			q.take()
		}
	})
	n.w.after(n.lasts(member.Instant(n.w.settings.Renew)), q.renew)
}

// unreached are the members that it has not exchanged anything with for long.
func (q *proc) unreached() []uint64 {
	var all []uint64
	w := q.n.w
	for _, m := range q.p.Record().Members {
		i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.address == m.Address })
		for _, since := range []int64{q.n.cuts[i], w.nodes[i].cuts[q.n.i]} {
			if since != 0 && w.now-since > 25*ms && !slices.Contains(all, m.Inc) {
				all = append(all, m.Inc)
			}
		}
	}
	return all
}

// take does what a petitioner wants done.
func (q *proc) take() {
	n, w, out := q.n, q.n.w, q.p.Out
	q.p.Out = PetitionerOut{Wake: out.Wake}
	for _, l := range out.Send {
		w.deliver(n, l)
	}
	inc := q.p.Inc()
	if out.View {
		if q.since == 0 {
			q.since = w.now
		}
		if !bytes.Equal(w.views[q.p.Record().Epoch], q.p.Record().AppendTo(nil)) {
			w.fail("%s has another view of epoch %d than was committed", n.address, q.p.Record().Epoch)
		}
	}
	for _, number := range out.Renewed {
		q.renewed(inc, number)
	}
	q.wake(out.Wake)
	if out.Ending != Running {
		r := w.last()
		if out.Ending == Evicted && inc != 0 && r.Rank(inc) >= 0 {
			w.fail("%s is told that %d is gone, and it is a member", n.address, inc)
		}
		q.stop()
	}
}

// wake wakes a petitioner when it wants to be.
func (q *proc) wake(at member.Instant) {
	n := q.n
	if at == member.Never {
		return
	}
	n.w.after(max(ms/10, n.lasts(at-n.clock())), func() {
		n.on(func() {
			switch {
			case q.dead || q.p.Out.Wake != at:
			case n.clock() < at:
				q.wake(at)
			default:
				q.p.Wake(n.clock())
				q.take()
			}
		})
	})
}

func (q *proc) renewed(inc, number uint64) {
	w := q.n.w
	if q.leaves {
		return
	}
	end := q.sent[number] + q.n.lasts(member.Instant(w.settings.Lease))
	w.ends[inc] = max(w.ends[inc], end)
	if at, out := w.outAt[inc]; out && q.sent[number] > at {
		w.fail("%d is out since %d ms, and what it sent at %d ms was confirmed", inc, at/ms, q.sent[number]/ms)
	}
	w.lease(inc)
}

// lease checks that nobody acts who is taken to be over.
func (w *world) lease(inc uint64) {
	if bound, out := w.bounds[inc]; out && w.ends[inc] > bound {
		w.fail("%d may act until %.1f ms, and is taken to be over at %.1f", inc, float64(w.ends[inc])/float64(ms), float64(bound)/float64(ms))
	}
}

// stop ends the process; another one comes some time later.
func (q *proc) stop() {
	if q.dead {
		return
	}
	q.dead = true
	d := ms + q.n.w.below(60*ms)
	q.n.w.after(d, q.n.boot)
}

// committed checks a view.
func (w *world) committed(old, r *Record) {
	w.note("epoch %d: %d members, %d ghosts, voters %v", r.Epoch, len(r.Members), len(r.Ghosts), r.staying())
	if w.views[r.Epoch] != nil {
		w.fail("epoch %d is committed twice", r.Epoch)
	}
	w.views[r.Epoch] = r.AppendTo(nil)
	for _, m := range r.Members {
		if at, out := w.outAt[m.Inc]; out {
			w.fail("%d is a member again, and is out since %d ms", m.Inc, at/ms)
		}
		if old.Rank(m.Inc) >= 0 {
			continue
		}
		i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.address == m.Address })
		if q := w.admitted[m.Nonce]; q != nil && q.p.Inc() != 0 {
			w.fail("nonce %d is admitted again, and is a member already, or was one", m.Nonce)
		}
		if q := w.nodes[i].proc; q.nonce == m.Nonce {
			w.admitted[m.Nonce] = q
		}
	}
	for _, m := range old.Members {
		if r.Rank(m.Inc) >= 0 {
			continue
		}
		w.outAt[m.Inc] = w.now
		if w.calm {
			w.fail("%d is out, and all is well", m.Inc)
		}
	}
	for inc := range w.outAt {
		bound := w.now
		if i := slices.IndexFunc(r.Ghosts, func(g Ghost) bool { return g.Inc == inc }); i >= 0 {
			bound += int64(r.Ghosts[i].Rest)
		}
		if b, had := w.bounds[inc]; !had || bound < b {
			w.bounds[inc] = bound
		}
		w.lease(inc)
	}
}

// cut keeps two nodes apart, or no more.
func (w *world) cut(a, b *node, both, on bool) {
	set := func(x, y *node) {
		if x.cuts[y.i] = 0; on {
			x.cuts[y.i] = w.now
		}
	}
	if set(a, b); both {
		set(b, a)
	}
}

func (w *world) node() *node { return w.nodes[w.r.IntN(len(w.nodes))] }

// strike lets something happen.
func (w *world) strike() {
	lease := int64(w.settings.Lease)
	a, b := w.node(), w.node()
	switch w.r.IntN(9) {
	case 0:
		if k := a.keeper; k != nil && slices.Contains(w.list, k.id) && k != w.leader {
			w.elect(k)
		}
	case 1:
		a.proc.stop()
	case 2:
		a.paused = w.now + w.below(2*lease)
	case 3, 4:
		if both := w.r.IntN(3) > 0; a != b {
			w.cut(a, b, both, true)
			w.after(w.below(4*lease), func() { w.cut(a, b, both, false) })
		}
	case 5:
		w.isolate(a, true)
		w.after(w.below(2*lease), func() { w.isolate(a, false) })
	case 6:
		a.leave()
	case 7:
		if k := w.leader; k.warden.Leads() {
			r := k.warden.Record()
			_ = k.warden.Evict(r.Members[w.r.IntN(len(r.Members))].Inc) // one that does not lead refuses
		}
	case 8:
		_ = w.leader.warden.Forget()
	}
}

func (w *world) isolate(a *node, on bool) {
	for _, b := range w.nodes {
		if a != b {
			w.cut(a, b, true, on)
		}
	}
}

// leave has a process leave that has been a member for a while.
func (n *node) leave() {
	q := n.proc
	if q.dead || q.leaves || q.since == 0 || n.w.now-q.since < int64(n.w.settings.Lease) {
		return
	}
	n.on(func() {
		if q.dead || q.p.Inc() == 0 {
			return
		}
		q.leaves = true
		n.w.ends[q.p.Inc()] = 0 // it has promised
		q.p.Leave(n.clock())
		q.take()
	})
}

// heal ends all that happens.
func (w *world) heal() {
	w.stormy = false
	for _, n := range w.nodes {
		n.paused = 0
		clear(n.cuts)
	}
	if w.leader.n.keeper != w.leader || !w.leader.warden.Leads() {
		for _, n := range w.nodes {
			if n.keeper != nil && slices.Contains(w.list, n.keeper.id) {
				w.elect(n.keeper)
				break
			}
		}
	}
}

// storm makes a whole run, and returns what went wrong first.
func storm(seed uint64, wrong Misreading) *world {
	r := rand.New(rand.NewPCG(seed, 2))
	voters := []int{1, 3, 3, 5}[r.IntN(4)]
	w := newWorld(seed, max(voters, 2+r.IntN(5)), voters, wrong)
	lease := int64(w.settings.Lease)
	w.stormy = true
	for w.broken == "" && w.now < 24*lease {
		w.run(w.below(lease / 2))
		w.strike()
	}
	w.heal()
	w.run(16 * lease)
	w.calm = true
	w.run(lease) // what was under way
	idle := w.entries
	w.run(4 * lease)
	if w.broken == "" {
		w.settled(idle)
	}
	return w
}

// settled checks that all is well in the end.
func (w *world) settled(entries int) {
	r := w.last()
	if len(r.Members) != len(w.nodes) {
		w.fail("%d members of %d", len(r.Members), len(w.nodes))
	}
	for _, n := range w.nodes {
		inc := n.proc.p.Inc()
		switch {
		case r.Rank(inc) < 0:
			w.fail("%s is no member", n.address)
		case n.proc.p.Record().Epoch != r.Epoch:
			w.fail("%s is in epoch %d of %d", n.address, n.proc.p.Record().Epoch, r.Epoch)
		case w.ends[inc] < w.now:
			w.fail("%s has no lease", n.address)
		}
	}
	if w.entries != entries {
		w.fail("%d entries while nothing happens", w.entries-entries)
	}
	if want := r.staying(); !slices.Equal(want, w.list) || len(want) < min(r.Wanted, fit(len(w.nodes))) {
		w.fail("voters %v, and the record wants %v", w.list, want)
	}
}

func TestStorm(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 50
	}
	views := 0
	for seed := range seeds {
		w := storm(seed, 0)
		if w.broken != "" {
			t.Fatalf("seed %d: %s", seed, w.broken)
		}
		views += len(w.views)
	}
	t.Logf("%d views", views)
}
