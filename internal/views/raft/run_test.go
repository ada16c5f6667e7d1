package raft

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/internal/views"
)

// bound is by when, in ticks, a healed group has applied something new.
const bound = 40 * election

// run carries out a plan: faults, and then none.
func run(p plan) *world {
	w := newWorld(p)
	for w.now < p.length && w.wrong == nil {
		w.tick()
		if !p.mild {
			w.strike()
		}
	}
	w.heal()
	return w
}

func (w *world) tick() {
	w.now++
	w.deliver()
	w.births()
	for _, q := range w.procs {
		switch {
		case q.node == nil:
			if q.down--; q.down == 0 {
				w.start(q)
			}
		case q.pause > 0:
			q.pause--
		case w.rng.IntN(q.slow) > 0:
			if w.chance {
				q.node.raw().Tick()
			} else {
				w.allowed(q.node.Tick())
			}
			w.flush(q)
		}
		if q.node != nil && q.pause == 0 {
			w.write(q)
		}
	}
	for _, q := range w.procs {
		if q.node != nil && q.pause == 0 && !w.idle && q.node.Lead().Serves {
			w.use(q)
		}
	}
}

// use makes a voter that believes it leads serve a request.
func (w *world) use(q *proc) {
	if w.rng.IntN(2) == 0 {
		w.allowed(q.node.Propose([]byte{byte(w.now), byte(w.now >> 8), byte(q.id)}))
	}
	if w.rng.IntN(3) == 0 {
		n := uint64(w.now)
		q.asked[n] = w.high
		w.allowed(q.node.Read(n))
	}
	if !w.mild && w.rng.IntN(150) == 0 {
		w.handOver(q, q.node.log.conf.Voters)
	}
	if w.flush(q); q.node != nil && w.rng.IntN(4) == 0 {
		w.change(q)
		w.flush(q)
	}
}

// handOver lets another of some lead.
func (w *world) handOver(q *proc, to []uint64) {
	if id := to[w.rng.IntN(len(to))]; id != q.id && q.node.log.conf.Has(id) {
		w.allowed(q.node.HandOver(id))
	}
}

// change brings the voters nearer to the wanted ones, and stops some that no longer vote.
func (w *world) change(q *proc) {
	w.wish()
	w.allowed(q.node.Revote(w.want))
	l := q.node.Lead()
	if l.Settled && !slices.Contains(w.want, q.id) && w.rng.IntN(4) == 0 {
		w.handOver(q, w.want)
	}
	w.bury(l)
}

// wish changes who is wanted: always instead of the dead, and sometimes so.
func (w *world) wish() {
	n := len(w.want)
	if w.fixed {
		n = w.voters
	} else if w.rng.IntN(30) == 0 {
		n = 1 + w.rng.IntN(w.voters)
		w.want = nil
		for _, id := range w.latest.Voters {
			if w.rng.IntN(3) > 0 {
				w.want = append(w.want, id)
			}
		}
	}
	w.want = slices.DeleteFunc(w.want, w.lost)
	for len(w.want) < n {
		w.want = append(w.want, w.number())
	}
	w.want = w.want[:n]
}

func (w *world) lost(id uint64) bool {
	q := w.proc(id)
	return q != nil && q.dead()
}

// lose ends a voter or a learner and its disk for good, if a majority stays now
// and after what is under way.
func (w *world) lose(q *proc) {
	c, l := w.latest, w.leader()
	all := slices.Concat(c.Voters, c.Learners)
	if l == nil || !l.node.Lead().Settled || w.proposed() || !slices.Contains(all, q.id) || slices.ContainsFunc(all, w.lost) {
		return
	}
	if c.Has(q.id) && len(c.Voters) >= 3 || !c.Has(q.id) && len(w.want) >= 3 {
		w.stats.lost++
		q.end()
	}
}

// proposed reports whether any voter knows of a change that none has applied.
func (w *world) proposed() bool {
	return w.latest.Joint() || slices.ContainsFunc(w.procs, func(q *proc) bool {
		return q.node != nil && q.node.leads() && q.node.changing() || slices.ContainsFunc(q.disk.state.Entries, func(e Entry) bool {
			return e.Kind == Change && e.Index > w.top
		})
	})
}

// other returns a voter that does not lead.
func (w *world) other(q *proc) uint64 {
	for _, id := range q.node.log.conf.Voters {
		if id != q.id {
			return id
		}
	}
	return 0
}

// bury stops some voters that are older than the members and no longer among them: voters
// when that is settled, and those that were only learners at once.
func (w *world) bury(l views.Lead) {
	all := slices.Concat(l.Voters, l.Learners)
	for _, q := range w.procs {
		if !slices.Contains(all, q.id) && q.id < slices.Max(all) && (l.Settled || l.Serves && !w.voted[q.id]) && w.rng.IntN(2) == 0 {
			q.end()
		}
	}
}

func (w *world) allowed(err error) {
	for _, ok := range [...]error{ErrBusy, ErrBehind, ErrDropped, views.ErrNotLeader, ErrNotReady, ErrStopped, ErrFull, ErrSync} {
		if errors.Is(err, ok) {
			return
		}
	}
	w.must(err)
}

// strike makes a fault happen to a voter.
func (w *world) strike() {
	q := w.procs[w.rng.IntN(len(w.procs))]
	if w.restless && q.node != nil && w.rng.IntN(4) == 0 {
		w.crash(q)
		q.down = 1
	}
	switch w.rng.IntN(60) {
	case 0:
		if q.node != nil {
			w.crash(q)
		}
	case 1, 2:
		q.pause = w.rng.IntN(5 * election)
	case 3:
		for _, q := range w.procs {
			w.sides[q.id] = w.rng.IntN(2)
		}
	case 4, 5:
		clear(w.sides)
	case 6, 7:
		w.trouble(q)
	case 8:
		w.lose(q)
	case 9:
		if l := w.leader(); l != nil {
			l.pause = w.rng.IntN(5 * election)
		}
	}
}

// trouble comes to a disk within its next operations.
func (w *world) trouble(q *proc) {
	left := w.rng.IntN(12)
	what := []Trouble{Stop, Stop, Full, SyncError}[w.rng.IntN(4)]
	q.disk.Meet(func() Trouble {
		if left--; left < 0 {
			q.disk.Meet(nil)
			return what
		}
		return Fine
	})
}

// heal ends all faults, and checks whether the group continues.
func (w *world) heal() {
	clear(w.sides)
	w.mild, w.fixed = true, true
	for _, q := range w.procs {
		q.disk.Meet(nil)
		q.pause = 0
		if !q.dead() {
			q.down = min(q.down, 1)
		}
	}
	from, high := w.now, w.high
	for w.wrong == nil && !w.well(high) {
		if w.tick(); w.now-from > bound {
			w.fail("no progress since %d ticks", bound)
		}
	}
	w.stats.healed = w.now - from
}

// well: as many voters as wanted have all applied something new, and the same.
func (w *world) well(high uint64) bool {
	l := w.leader()
	if l == nil {
		return false
	}
	c := l.node.log.conf
	return len(c.Voters) == w.voters && !c.Joint() && !slices.ContainsFunc(c.Voters, func(id uint64) bool {
		q := w.proc(id)
		return q == nil || q.node == nil || q.index <= high
	})
}
