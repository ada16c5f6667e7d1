package deadlock

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// An Attempt is one attempt of a transaction to get through. It ends when the transaction
// commits or aborts, so an attempt never comes back. A restarted transaction has the next
// number and keeps its stamp.
type Attempt struct {
	Origin uint64 // incarnation of the member where the transaction began, 0 in simulations
	Tx     int    // number of the transaction, unique among those of its Origin
	Number uint64
	Stamp  algorithm.Time // when the transaction began
	Seq    int            // number of the request, from 1 within the attempt; 0 where none is meant
}

// of reports whether two attempts are of one transaction.
func (a Attempt) of(b Attempt) bool { return a.Origin == b.Origin && a.Tx == b.Tx }

// same reports whether two requests belong to one attempt.
func (a Attempt) same(b Attempt) bool { return a.of(b) && a.Number == b.Number }

// older reports whether a began before b. No two transactions have the same age.
func (a Attempt) older(b Attempt) bool {
	return a.Stamp.Before(b.Stamp) || a.Stamp == b.Stamp && byIdentity(a, b) < 0
}

// stamp returns the age of an attempt, as a reason shows it.
func (a Attempt) stamp() algorithm.Stamp {
	return algorithm.Stamp{Time: a.Stamp, ID: algorithm.ID(a.Tx)}
}

// A Mode is how much of a lock a request is for: all of it, a share in it, or, as a
// positive number, so many units of a semaphore.
type Mode int

// The modes of locks that are not semaphores.
const (
	Exclusive Mode = 0  // no other hold; of a semaphore, all units
	Shared    Mode = -1 // any number of shared holds, but no exclusive one
)

// String returns the mode in words.
func (m Mode) String() string {
	switch {
	case m == Exclusive:
		return "exclusive"
	case m == 1:
		return "1 unit"
	case m > 1:
		return fmt.Sprintf("%d units", int(m))
	}
	return "shared"
}

// Check returns an error that says why a lock with so many units cannot be requested in
// this mode, or nil. A lock that is not a semaphore has 0 or 1 units.
func (m Mode) Check(units int) error {
	switch {
	case m < Shared:
		return fmt.Errorf("mode %d: want exclusive, shared, or a number of units", int(m))
	case m == Shared && units > 1:
		return fmt.Errorf("a semaphore of %d units cannot be shared: request a number of units", units)
	case m > Exclusive && int(m) > max(1, units):
		return fmt.Errorf("%v of %d: there will never be so many", m, max(1, units))
	}
	return nil
}

// Of returns how much of a lock with so many units a mode is, and how much there is in
// all: holds are compatible if together they are not more. There are more shares in a lock
// than transactions.
func (m Mode) Of(units int) (amount, whole int) {
	if whole = units; units < 2 {
		whole = maxHolds
	}
	switch {
	case m == Shared && units < 2:
		return 1, whole
	case m > Exclusive && units >= 2:
		return min(int(m), whole), whole
	}
	return whole, whole
}

// maxHolds is greater than the number of shared holds may be.
const maxHolds = 1 << 30

// A Request is one request for a lock.
type Request struct {
	Attempt
	Mode Mode
	Ext  bool // whether the transaction holds locks of other keepers: EXT waits for it
}

// A Hold is a request that was granted.
type Hold struct {
	Request
	Epoch, Count uint64 // fencing token; higher than those of all grants before
	Wounded      bool   // whether the transaction has been ordered to abort
	Elsewhere    bool   // whether suspects may have the same hold: then it says nothing about them
}

// An Arc is an edge of a local wait-for graph: From waits for To, either because To holds
// the lock or because To waits before it. To has no Seq in the first case, since it holds
// the lock until its attempt ends; in the second it has that of its request. With units,
// From waits until all To together hold at most Spare units; without, Units is 1 and Spare
// is 0, so From waits for each of them.
type Arc struct {
	From, To     Attempt
	Lock         int // number of the lock, where there are several
	Units, Spare int
}

// An Effect is something that a Keeper wants done.
type Effect struct {
	Kind EffectKind
	Hold         // the request that it is about; with its fencing token if Kind is Grant
	By   Attempt // Wound: the waiting request that needs it; Die: the holder for which it must not wait
}

// An EffectKind is the kind of an Effect.
type EffectKind uint8

// The kinds of effects.
const (
	Grant EffectKind = iota // the request is granted
	Wound                   // the holder must abort; it holds the lock until it releases it
	Die                     // the waiting transaction must abort; its request is dropped
)

// A policy is what a method makes of waiting transactions at a keeper.
type policy struct {
	first  func(a, b Attempt) bool // whether a is served before b; nil for order of arrival
	dies   func(w, h Attempt) bool // whether w must die rather than wait for h; nil for never
	wounds func(w, h Attempt) bool // whether w wounds h; nil for never
}

// A Keeper keeps one lock, or semaphore: it knows the holds and the requests that wait,
// grants in order, and applies a method to those that wait. It is the part of a site that
// a lock service needs too, and is pure: calls are its inputs, and the effects that they
// return are its outputs. The host sends them, in order, to where the transactions are:
//
//	k := method.Keeper(KeeperConfig{Epoch: view.Epoch, Units: 1, Suspects: suspects})
//	for in := range inputs {
//		var effects []Effect
//		switch in.Kind {
//		case request:
//			effects, _ = k.Request(in.Request)
//		case release: // commit, abort, or cancel of one request
//			effects = k.Release(in.Attempt)
//		case report: // of a member that was in the view before
//			effects = k.Report(in.Member, in.Holds, in.Waits)
//		case claim: // of a holder that has moved from one member to another
//			effects, _ = k.Claim(in.Hold, in.Member)
//		case over: // the lease of an evicted member
//			effects = k.Over(in.Member)
//		}
//		for _, e := range effects {
//			switch e.Kind {
//			case Grant:
//				send(e.Tx, granted{e.Attempt, e.Epoch, e.Count})
//			case Wound, Die:
//				send(e.Tx, mustAbort{e.Attempt})
//			}
//		}
//	}
//
// A Keeper lives as long as a view, and begins with an empty book. What it does not know
// is what the suspects hold: members of the earlier view that have not reported yet, and
// evicted members whose lease may still run. Report and Over clear them.
//
// A hold is identified by its token. A holder that has moved from one member to another may
// have it through both for a while: each of the two releases it, and it ends with the last.
type Keeper struct {
	policy
	epoch    uint64
	units    int // of a semaphore; otherwise 0
	count    uint64
	holds    []Hold
	owners   []owner   // of holds that several members have, those that do not name them
	queue    []Request // in order of arrival
	suspects []uint64
	most     int  // units that the suspects hold at most, together
	readers  bool // whether a report has shown that the suspects hold nothing exclusively
}

// An owner is an attempt by which a member has a hold that another member has too.
type owner struct {
	Attempt
	epoch, count uint64 // token of the hold
}

// A KeeperConfig says how a keeper begins.
type KeeperConfig struct {
	Epoch    uint64   // epoch of the view, the first part of fencing tokens
	Count    uint64   // the second part of those granted before in this epoch, at most
	Units    int      // units of a semaphore; 0 or 1 for a lock
	Suspects []uint64 // members that may hold the lock: survivors yet to report, and ghosts
}

// Fits reports why the method has no keeper for a lock of so many units.
func (m Method) Fits(units int) error {
	switch {
	case m.make == nil:
		return fmt.Errorf("method %q is not in Methods, so its rules are unknown", m.Name)
	case m.single && units > 1:
		return m.refuses()
	}
	return nil
}

// Keeper returns a keeper that applies the method.
func (m Method) Keeper(c KeeperConfig) (*Keeper, error) {
	if err := m.Fits(c.Units); err != nil {
		return nil, err
	}
	p := m.make("")(&Layout{}).policy()
	return newKeeper(p, c), nil
}

func newKeeper(p policy, c KeeperConfig) *Keeper {
	k := &Keeper{policy: p, epoch: c.Epoch, count: c.Count, suspects: slices.Clone(c.Suspects)}
	if c.Units > 1 {
		k.units = c.Units
	}
	k.most = k.capacity()
	return k
}

// capacity returns how much there is of the lock.
func (k *Keeper) capacity() int {
	_, whole := Exclusive.Of(k.units)
	return whole
}

// amount returns how much of the lock a mode is.
func (k *Keeper) amount(m Mode) int {
	n, _ := m.Of(k.units)
	return n
}

// held returns how much of the lock is held, as far as is known.
func (k *Keeper) held() int {
	n := 0
	for i := range k.holds {
		n += k.amount(k.holds[i].Mode)
	}
	return n
}

// fits reports whether a request is compatible with all holds that are known.
func (k *Keeper) fits(r *Request) bool { return k.held()+k.amount(r.Mode) <= k.capacity() }

// cleared reports whether a request is also compatible with whatever suspects may hold.
func (k *Keeper) cleared(r *Request) bool {
	switch {
	case len(k.suspects) == 0:
		return true
	case k.units > 0:
		return k.held()+k.most+k.amount(r.Mode) <= k.units
	}
	return k.readers && r.Mode == Shared
}

// Request handles a request, and reports whether it was taken. A transaction has one
// request for the lock at a time: a second one is ignored, and so is one that no lock of
// this kind can grant.
func (k *Keeper) Request(r Request) (effects []Effect, ok bool) {
	if !k.add(r) {
		return nil, false
	}
	return k.settle(), true
}

// Open reports whether a request would be granted at once.
func (k *Keeper) Open(r Request) bool {
	return r.Mode.Check(k.units) == nil && !k.knows(r.Attempt) && len(k.queue) == 0 && k.fits(&r) && k.cleared(&r)
}

// add puts a request into the queue, unless the transaction has or wants the lock already.
func (k *Keeper) add(r Request) bool {
	if r.Mode.Check(k.units) != nil || k.knows(r.Attempt) {
		return false
	}
	k.queue = append(k.queue, r)
	return true
}

// knows reports whether a transaction has or wants the lock.
func (k *Keeper) knows(who Attempt) bool {
	return slices.ContainsFunc(k.holds, func(h Hold) bool { return h.of(who) }) ||
		slices.ContainsFunc(k.queue, func(r Request) bool { return r.of(who) })
}

// Release ends what an attempt has or wants: with a Seq only that request, which is how a
// request is cancelled, and a lock released early; otherwise whatever there is. A request
// that was granted while its cancellation was in flight is released.
func (k *Keeper) Release(who Attempt) []Effect {
	k.end(func(a Attempt) bool { return a.same(who) && (who.Seq == 0 || who.Seq == a.Seq) })
	return k.settle()
}

// end removes requests and holds, and reports whether there were any. A hold that has
// another owner stays.
func (k *Keeper) end(gone func(a Attempt) bool) bool {
	n := len(k.holds) + len(k.queue)
	k.owners = slices.DeleteFunc(k.owners, func(o owner) bool { return gone(o.Attempt) })
	for i := range k.holds {
		if h := &k.holds[i]; gone(h.Attempt) {
			k.inherit(h)
		}
	}
	k.holds = slices.DeleteFunc(k.holds, func(h Hold) bool { return gone(h.Attempt) })
	k.queue = slices.DeleteFunc(k.queue, func(r Request) bool { return gone(r.Attempt) })
	return n > len(k.holds)+len(k.queue)
}

// Report handles the report of a member that was in the earlier view: what its
// transactions hold, including those that must abort, and the requests with which the
// others wait. Holds enter the book as they are. Beyond that a hold testifies about all
// suspects: beside an exclusive one they hold nothing, beside a shared one nothing
// exclusively, and beside units no more than the rest. The testimony stays valid
// after the hold is released, because it is about the earlier view. A hold that suspects
// may have too, because its holder has moved, does not testify.
func (k *Keeper) Report(member uint64, holds []Hold, waits []Request) []Effect {
	k.clear(member)
	for _, h := range holds {
		h.Wounded = false // the order to abort may be lost: it is sent again
		if known := k.enter(h); known || h.Elsewhere {
			continue
		}
		k.readers = true
		k.most -= k.amount(h.Mode)
	}
	if k.most <= 0 {
		k.suspects = nil
	}
	for _, r := range waits {
		k.add(r)
	}
	return k.settle()
}

// enter adds a hold to the book, and reports whether it was there already: then the attempt
// becomes the one that is known to have it, and the earlier one another owner.
func (k *Keeper) enter(h Hold) (known bool) {
	i := k.with(&h)
	if i < 0 {
		k.holds = append(k.holds, h)
		return false
	}
	was := &k.holds[i]
	k.owners = append(k.owners, owner{was.Attempt, was.Epoch, was.Count})
	was.Attempt, was.Wounded = h.Attempt, false
	return true
}

// with returns the index of the hold with the same token, or -1. Counts begin at 1.
func (k *Keeper) with(h *Hold) int {
	return slices.IndexFunc(k.holds, func(o Hold) bool { return o.Epoch == h.Epoch && o.Count == h.Count && o.Count > 0 })
}

// inherit gives a hold to the owner that was added last, if there is one.
func (k *Keeper) inherit(h *Hold) {
	for i, o := range slices.Backward(k.owners) {
		if o.epoch == h.Epoch && o.count == h.Count {
			h.Attempt, h.Wounded = o.Attempt, false
			k.owners = slices.Delete(k.owners, i, i+1)
			return
		}
	}
}

// Claim handles the claim of a holder that has moved to another member, and reports whether
// it is honoured. The attempt is the one at that member. Through is the member by which the
// hold was known before.
//
// If the hold is in the book, the claiming member has it too. If it is not, it can only be
// one that a suspect has not reported: as long as that is a suspect, nothing was granted
// that is incompatible with it. Otherwise the hold is over. A claim does not testify,
// because it may be late: its holder may have given up meanwhile, or be about to.
func (k *Keeper) Claim(h Hold, through uint64) (effects []Effect, ok bool) {
	if i := k.with(&h); i >= 0 {
		ok = k.holds[i].Mode == h.Mode
	} else {
		ok = slices.Contains(k.suspects, through) && h.Mode.Check(k.units) == nil && k.fits(&h.Request) && k.amount(h.Mode) <= k.most
	}
	if !ok {
		return nil, false
	}
	h.Wounded, h.Elsewhere = false, true
	k.enter(h)
	return k.settle(), true
}

// Has reports whether the hold with a token is in the book.
func (k *Keeper) Has(epoch, count uint64) bool { return k.with(&Hold{Epoch: epoch, Count: count}) >= 0 }

// Over handles the end of an evicted member's lease, after which it holds nothing.
func (k *Keeper) Over(member uint64) []Effect {
	k.clear(member)
	return k.settle()
}

func (k *Keeper) clear(member uint64) {
	k.suspects = slices.DeleteFunc(k.suspects, func(m uint64) bool { return m == member })
}

// Idle reports whether nothing is held, awaited or suspected. A host may drop an idle
// keeper, and give its Count to the next one for this lock in this epoch.
func (k *Keeper) Idle() bool { return len(k.holds)+len(k.queue)+len(k.suspects) == 0 }

// Count returns the second part of the last fencing token granted.
func (k *Keeper) Count() uint64 { return k.count }

// Holds returns the known holds.
func (k *Keeper) Holds() []Hold { return slices.Clone(k.holds) }

// Holders returns the attempts that have the known holds, several of one that has several
// owners.
func (k *Keeper) Holders() []Attempt {
	var all []Attempt
	for i := range k.holds {
		all = append(all, k.holds[i].Attempt)
	}
	for _, o := range k.owners {
		all = append(all, o.Attempt)
	}
	return all
}

// Owned returns the known holds, each with every attempt that has it.
func (k *Keeper) Owned() []Hold {
	all := k.Holds()
	for _, o := range k.owners {
		h := k.holds[k.with(&Hold{Epoch: o.epoch, Count: o.count})]
		h.Attempt = o.Attempt
		all = append(all, h)
	}
	return all
}

// Waits returns the requests that wait, in order of arrival.
func (k *Keeper) Waits() []Request { return slices.Clone(k.queue) }

// Suspects returns the members that may hold the lock without its being known.
func (k *Keeper) Suspects() []uint64 { return slices.Clone(k.suspects) }

// Units returns how many units a semaphore has; 1 for a lock.
func (k *Keeper) Units() int { return max(1, k.units) }

// settle makes one judgement: it grants what can be granted, and applies the method to
// every pair of a waiting request and an incompatible hold. Against what suspects may
// hold there is no judgement. Such a request waits until the hold is reported.
func (k *Keeper) settle() []Effect {
	effects := k.grants(nil)
	for i, by := k.dying(); i >= 0; i, by = k.dying() {
		effects = append(effects, Effect{Kind: Die, Hold: Hold{Request: k.queue[i]}, By: by})
		k.queue = slices.Delete(k.queue, i, i+1)
		effects = k.grants(effects) // the next request may be compatible
	}
	return k.preempt(effects)
}

// grants grants requests from the head of the queue on, until one has to wait.
func (k *Keeper) grants(effects []Effect) []Effect {
	for len(k.queue) > 0 {
		i := k.turn()
		if r := &k.queue[i]; !k.fits(r) || !k.cleared(r) {
			break
		}
		effects = append(effects, k.grant(i))
	}
	return effects
}

// turn returns the index of the request that is next.
func (k *Keeper) turn() int {
	best := 0
	for i := 1; k.first != nil && i < len(k.queue); i++ {
		if k.before(i, best) {
			best = i
		}
	}
	return best
}

// before reports whether one waiting request is served before another.
func (k *Keeper) before(i, j int) bool {
	if k.first == nil {
		return i < j
	}
	return k.first(k.queue[i].Attempt, k.queue[j].Attempt)
}

// grant grants a request in the queue.
func (k *Keeper) grant(i int) Effect {
	k.count++
	h := Hold{Request: k.queue[i], Epoch: k.epoch, Count: k.count}
	k.queue = slices.Delete(k.queue, i, i+1)
	k.holds = append(k.holds, h)
	return Effect{Kind: Grant, Hold: h}
}

// dying returns the index of a request that must not wait for a hold, and that hold; or -1.
func (k *Keeper) dying() (i int, by Attempt) {
	for i := range k.queue {
		r := &k.queue[i]
		if k.dies == nil || k.fits(r) {
			continue
		}
		if at := slices.IndexFunc(k.holds, func(h Hold) bool { return k.dies(r.Attempt, h.Attempt) }); at >= 0 {
			return i, k.holds[at].Attempt
		}
	}
	return -1, Attempt{}
}

// preempt wounds holders for which requests wait that must not.
func (k *Keeper) preempt(effects []Effect) []Effect {
	for i := 0; k.wounds != nil && i < len(k.holds); i++ {
		h := &k.holds[i]
		by := slices.IndexFunc(k.queue, func(r Request) bool { return !k.fits(&r) && k.wounds(r.Attempt, h.Attempt) })
		if h.Wounded || by < 0 {
			continue
		}
		h.Wounded = true
		effects = append(effects, Effect{Kind: Wound, Hold: *h, By: k.queue[by].Attempt})
	}
	return effects
}

// Arcs returns the local wait-for graph. A request waits for every incompatible hold, and
// for every incompatible request before it. Where it waits for holds, those requests wait
// for them too, and the arcs to them are left out: a cycle over them has a shorter one.
func (k *Keeper) Arcs() []Arc { return k.arcs(plainArcs) }

// plainArcs is how many requests in a queue have arcs to all those before them. The others
// have one, to the last: otherwise a graph would have as many arcs as pairs of requests. As
// requests are granted in order of arrival, one remains deadlocked if any before it does, and
// then that holds for the last one too. It waits until that has ended, however many units are
// free, and the holds tell the rest. So deadlocks are the same. After a victim has gone, others
// that lie behind it may be found only in the next round.
const plainArcs = 64

// arcs is Arcs where so many requests have arcs to all before them.
func (k *Keeper) arcs(plain int) []Arc {
	var all []Arc
	exclusive := -1 // the last one before a request
	for i := range k.queue {
		r := &k.queue[i]
		if i > 0 && k.queue[i-1].Mode != Shared {
			exclusive = i - 1
		}
		fits := k.fits(r)
		add := func(to *Request) {
			a := Arc{From: r.Attempt, To: to.Attempt, Units: 1}
			if k.units > 0 {
				a.Units, a.Spare = k.amount(to.Mode), k.units-k.amount(r.Mode)
			}
			all = append(all, a)
		}
		for j := range k.holds {
			if !fits || k.units > 0 {
				add(&k.holds[j].Request)
				all[len(all)-1].To.Seq = 0
			}
		}
		if k.units == 0 && !fits {
			continue
		}
		if k.first == nil && i >= plain {
			last := i - 1
			if k.units == 0 && r.Mode == Shared {
				last = exclusive
			}
			if last >= 0 {
				add(&k.queue[last])
				all[len(all)-1].Units = max(1, k.units)
			}
			continue
		}
		for j := range k.queue {
			if to := &k.queue[j]; i != j && k.before(j, i) && (k.units > 0 || r.Mode != Shared || to.Mode != Shared) {
				add(to)
			}
		}
	}
	return all
}
