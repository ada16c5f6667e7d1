package storm

import (
	"cmp"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// orderEvery is the interval at which an operator checks the cluster.
const orderEvery = 5 * ms

// An incarnation is an incarnation of a member, and its place.
type incarnation struct {
	inc      uint64
	q        *proc
	used     []uint64 // the locks that it has requested, a bit for each
	promised bool     // never to enter again
	died     int64    // when its process ended; 0 if it has not
	asks     []*ask   // its requests for kept locks
}

// find returns the index of an incarnation among all there were.
func (w *world) find(inc uint64) (int, bool) {
	return slices.BinarySearchFunc(w.incarnations, inc, func(p incarnation, inc uint64) int { return cmp.Compare(p.inc, inc) })
}

// at returns the place of an incarnation.
func (w *world) at(inc uint64) *proc {
	if i, ok := w.find(inc); ok {
		return w.incarnations[i].q
	}
	return nil
}

// no returns the number of an incarnation in reports, from 1.
func (w *world) no(inc uint64) int {
	i, ok := w.find(inc)
	if !ok {
		return 0
	}
	return i + 1
}

// addressed returns the process at an address, or nil.
func (w *world) addressed(address string) *proc {
	for _, q := range w.procs {
		if w.Name(q.id) == address {
			return q
		}
	}
	return nil
}

// lane returns the owner of an address: a process, or a client that has asked a question.
func (w *world) lane(address string) (algorithm.ID, bool) {
	if q := w.addressed(address); q != nil {
		return q.id, true
	}
	for _, c := range w.clients {
		if w.Name(c.id) == address {
			return c.id, true
		}
	}
	return algorithm.None, false
}

// orders are what is asked of the view service.
type orders struct {
	hurry    int             // number of views that must follow as fast as they can
	epoch    uint64          // epoch when the last of them was requested
	surprise bool            // the last of them must evict a member that is inside a lock
	next     []member.Choice // algorithms to be used next; nil for the present ones
	forget   bool
	evict    []uint64 // members to be evicted
}

// leader returns the process whose voter leads, as far as can be known: that of the highest
// term. It may be paused, or not serve yet.
func (w *world) leader() *proc {
	var best *proc
	term := uint64(0)
	for _, q := range w.procs {
		if c := q.voter(); c != nil && c.Lead().Leader == c.ID() && c.Lead().Term > term {
			best, term = q, c.Lead().Term
		}
	}
	return best
}

// choices returns the algorithms of a run, with number n serving most names, besides the
// choice for kept locks.
func (w *world) choices(n int, kept []member.Choice) []member.Choice {
	k := len(w.Algorithms)
	all := []member.Choice{w.Algorithms[n%k]}
	if w.Prefixed && k > 1 {
		for i, prefix := range [...]string{prefixes[0], prefixes[2]} {
			c := w.Algorithms[(n+1+i)%k]
			c.Prefix = prefix
			all = append(all, c)
		}
	}
	return append(all, kept...)
}

// calmViews is the minimum interval between views of the same members while progress is
// demanded.
const calmViews = 40 * ms

// tick checks whether the cluster has formed, and hands the operator's orders to the
// service.
func (w *world) tick() {
	w.copyDisks()
	lead := w.leader()
	if lead == nil || !lead.voter().Lead().Serves {
		return
	}
	c := lead.voter()
	if w.phase == forming && w.complete(c) {
		w.formed()
	}
	if w.phase == demanding && w.Now()-w.oracle.since > calmViews && w.Faults.has(Forget|Switch) && w.network.chance.Below(6) == 0 {
		w.orders.forget = true
		if w.Faults.has(Switch) {
			w.orders.next = w.choices(int(w.network.chance.Below(10)), keptOf(c.Record().Choices))
		}
	}
	if !w.Paused(lead.id) {
		w.backUp(c)
		w.order(lead)
	}
}

// complete reports whether all initial members are members with a lease, and the required
// number of them are voters.
func (w *world) complete(c *views.Replica) bool {
	r := c.Record()
	want := min(w.Voters, 1+(w.Nodes-1)/2*2)
	if lead := c.Lead(); len(r.Members) < w.Nodes || len(lead.Voters) < want || !lead.Settled || len(lead.Learners) > 0 {
		return false
	}
	for _, q := range w.procs[:w.Nodes] {
		if q.epoch() != r.Epoch || q.lease <= q.now() {
			return false
		}
	}
	return true
}

// order makes the leader do what the operator wants. What it refuses is tried again, unless
// that would be too late.
func (w *world) order(lead *proc) {
	o := &w.orders
	if o.next != nil && lead.does(process.Input{Kind: process.Choose, Choice: o.next}) {
		o.next = nil
	}
	if o.forget && lead.does(process.Input{Kind: process.Refresh}) {
		o.forget = false
	}
	for _, inc := range o.evict {
		lead.does(process.Input{Kind: process.Evict, Number: inc}) // which may no longer be a member
	}
	o.evict = o.evict[:0]
	if o.hurry == 0 || o.epoch == w.oracle.epoch() {
		return
	}
	o.epoch = w.oracle.epoch()
	if o.hurry--; o.hurry == 0 && o.surprise {
		w.surprise(lead)
	}
	if v := lead.voter(); v != nil {
		lead.does(process.Input{Kind: process.Choose, Choice: slices.Clone(v.Record().Choices)})
	}
	if o.hurry == 0 {
		w.network.skipper = algorithm.None
	}
}

// does hands an operator's order to a process, if it still runs, and reports whether it was
// accepted.
func (q *proc) does(in process.Input) bool { return q.state != dead && q.step(in) == nil }

// surprise evicts a healthy member that is inside a lock.
func (w *world) surprise(lead *proc) {
	for _, q := range w.procs {
		if q.id != w.network.skipper && q.state == taking && q.inside() {
			lead.does(process.Input{Kind: process.Evict, Number: q.inc})
			return
		}
	}
}

// reign is how long it may take until there is a leader and members know it, once all
// faults are healed: votes may be split several times, and a new leader restarts every
// lease and every ghost.
func (w *world) reign() int64 {
	return 6*2*process.Election*int64(process.Tick(w.Settings)) + 2*int64(w.Settings.Patience())
}

// expendable reports whether the others can permanently do without the disk of a voter: a
// majority of the voters is left, with its disks.
func (w *world) expendable(q *proc) bool {
	id := q.drive.voter()
	lead := w.leader()
	if lead == nil {
		return false
	}
	l := lead.voter().Lead()
	if w.severed || !w.sound() {
		return false
	}
	if !slices.Contains(l.Voters, id) {
		return lead.voter().Record().Over(id) // it may be about to become one
	}
	whole := 0
	for _, o := range w.procs {
		if o != q && o.votes() && !o.drive.ill && slices.Contains(l.Voters, o.drive.voter()) {
			whole++
		}
	}
	return 2*whole > len(l.Voters)
}

// quiet is how long the service tolerates a member that does not renew.
func (w *world) quiet() int64 { return int64(w.Settings.Patience()) / 2 }

// sound reports whether all voters have their disks and the set of voters is not changing.
func (w *world) sound() bool {
	for _, q := range w.procs {
		if q.votes() && (q.state == leaving || q.draining) {
			return false
		}
	}
	lead := w.leader()
	if lead == nil || w.wounded() {
		return false
	}
	l := lead.voter().Lead()
	return l.Settled && len(l.Learners) == 0
}

// wounded reports whether a voter has lost its disk, or some of it, and the others have not
// replaced it yet: they must not lose another one.
func (w *world) wounded() bool {
	if w.goesBack() || slices.ContainsFunc(w.procs, func(q *proc) bool { return q.drive.behind() }) {
		return true
	}
	for _, id := range w.lost {
		for _, q := range w.procs {
			if c := q.voter(); c != nil && (slices.Contains(c.Lead().Voters, id) || slices.ContainsFunc(c.Record().Voters, func(v views.Voter) bool { return v.ID == id })) {
				return true
			}
		}
	}
	return false
}
