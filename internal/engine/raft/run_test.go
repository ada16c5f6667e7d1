package raft

import (
	"errors"
	"slices"
)

// bound is by when, in ticks, a healed group has applied something new.
const bound = 40 * election

// run lives a plan through: faults, and then none any more.
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
				q.node.raw.Tick()
			} else {
				w.allowed(q.node.Tick())
			}
			w.flush(q)
		}
	}
	for _, q := range w.procs {
		if q.node != nil && q.pause == 0 && !w.idle && q.node.Lead().Serves {
			w.use(q)
		}
	}
}

// use lets one who believes to lead serve somebody.
func (w *world) use(q *proc) {
	if w.rng.IntN(2) == 0 {
		w.allowed(q.node.Propose([]byte{byte(w.now), byte(w.now >> 8), byte(q.id)}))
	}
	if w.rng.IntN(3) == 0 {
		n := uint64(w.now)
		q.asked[n] = w.high
		if w.hasty {
			w.read(q, n)
		} else {
			w.allowed(q.node.ReadIndex(n))
		}
	}
	if !w.mild && w.rng.IntN(150) == 0 {
		all := q.node.Electorate().Voters
		if to := all[w.rng.IntN(len(all))]; to != q.id {
			w.allowed(q.node.TransferLeadership(to))
		}
	}
	if w.flush(q); q.node != nil && w.rng.IntN(10) == 0 {
		w.change(q)
		w.flush(q)
	}
}

// change brings the voters to the number wanted, or replaces one of them.
func (w *world) change(q *proc) {
	all := q.node.Electorate().Voters
	switch {
	case len(all) < w.voters:
		w.allowed(q.node.ChangeVoters(w.voters-len(all), nil, []byte("more")))
	case len(all) > w.voters:
		if out := w.other(q, all); out != 0 {
			w.allowed(q.node.ChangeVoters(0, []uint64{out}, []byte("fewer")))
		}
	case slices.ContainsFunc(all, w.lost):
		out := all[slices.IndexFunc(all, w.lost)]
		w.allowed(q.node.ChangeVoters(1, []uint64{out}, []byte("instead of one who is dead")))
	case !w.fixed && w.rng.IntN(8) == 0:
		if out := w.other(q, all); out == 0 {
			w.allowed(q.node.ChangeVoters(1, nil, []byte("a successor")))
		} else {
			w.allowed(q.node.ChangeVoters(1, []uint64{out}, []byte("another")))
		}
	}
	if q.node.Lead().Settled {
		w.bury(q.node.Electorate())
	}
}

func (w *world) lost(id uint64) bool {
	q := w.proc(id)
	return q != nil && q.dead()
}

// lose ends a voter and its disk for good, if a majority stays.
func (w *world) lose(q *proc) {
	c := w.latest
	if l := w.leader(); l != nil && l.node.Lead().Settled && len(c.Voters) >= 3 && !c.Joint() && c.Has(q.id) && !slices.ContainsFunc(c.Voters, w.lost) {
		w.stats.lost++
		q.end()
	}
}

// other returns a voter that does not lead.
func (w *world) other(q *proc, all []uint64) uint64 {
	all = slices.DeleteFunc(slices.Clone(all), func(id uint64) bool { return id == q.id })
	if len(all) == 0 {
		return 0
	}
	return all[w.rng.IntN(len(all))]
}

// bury ends some who are older than the voters and no longer among them.
func (w *world) bury(c Electorate) {
	for _, q := range w.procs {
		if !c.Has(q.id) && q.id < slices.Max(c.Voters) && w.rng.IntN(2) == 0 {
			q.end()
		}
	}
}

func (w *world) allowed(err error) {
	for _, ok := range [...]error{ErrBusy, ErrDropped, ErrNotLeader, ErrNotReady, ErrStopped, ErrFull, ErrSync} {
		if errors.Is(err, ok) {
			return
		}
	}
	w.must(err)
}

// strike lets something happen to somebody.
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

// heal ends all faults, and sees whether the group goes on.
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
	c := l.node.Electorate()
	return len(c.Voters) == w.voters && !c.Joint() && !slices.ContainsFunc(c.Voters, func(id uint64) bool {
		q := w.proc(id)
		return q == nil || q.node == nil || q.index <= high
	})
}
