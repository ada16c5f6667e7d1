package raft

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/stile-lock/stile/internal/views"
)

const (
	group     = 77
	election  = 10
	heartbeat = 2
	forever   = 1 << 30
	firstID   = 1
)

// A plan says what a run is like.
type plan struct {
	seed     uint64
	voters   int
	length   int // ticks until all is healed
	maxLog   int
	mild     bool // no faults
	fixed    bool // no voter is replaced
	restless bool // processes begin anew all the time
	chance   bool // Raft counts its own timeouts, and no two runs are the same
}

// A world is a few voters, their disks and the network between them.
type world struct {
	plan
	rng     *rand.Rand
	now     int
	procs   []*proc
	mail    []parcel
	sides   map[uint64]int // of a partition
	truth   map[uint64]uint64
	leaders map[uint64]uint64
	high    uint64   // applied by any voter
	given   uint64   // the last number given out
	want    []uint64 // who is to vote
	members []uint64 // who was ever a voter or a learner
	voted   map[uint64]bool
	lag     int               // ticks that a save takes
	idle    bool              // no requests
	latest  Electorate        // by the highest index that any voter has applied
	top     uint64            // that index
	confs   map[uint64]string // the electorate after an index
	trace   uint64
	wrong   error
	stats   stats
}

type stats struct {
	applied, reads, crashes, snapshots, voters, learners, elections, lost, unborn, healed int
}

type parcel struct {
	at       int
	from, to uint64
	bytes    []byte
}

// A proc is a voter and its machine, which keeps a sum of all that was applied.
type proc struct {
	w     *world
	id    uint64
	disk  *Disk
	node  *Node
	down  int // ticks until it starts again, if it has no node; forever if it is dead
	pause int
	slow  int // one of so many ticks is left out
	index uint64
	sum   uint64
	seen  uint64            // what its node had applied at the last flush
	saves []due             // that the disk has not made durable yet
	asked map[uint64]uint64 // reads under way, and what had been applied when they began
}

// A due is a save that the disk makes durable at a tick.
type due struct {
	at   int
	save views.Save
}

// bootstrap makes an empty storage that of the only voter of a group.
func bootstrap(s Storage, group, id uint64, machine []byte) error {
	record, err := Logs{}.Found(group, id, machine)
	if err != nil {
		return err
	}
	return Write(s, record)
}

// join makes an empty storage that of a voter which a group has taken in.
func join(s Storage, group, id uint64) error {
	record, err := Logs{}.Join(group, id)
	if err != nil {
		return err
	}
	return Write(s, record)
}

// open starts a voter from a storage.
func open(s Storage, c Config) (*Node, error) {
	b, err := Read(s)
	if err != nil {
		return nil, err
	}
	if c.State, err = ParseState(b); err != nil {
		return nil, err
	}
	return New(c)
}

func newWorld(p plan) *world {
	w := &world{plan: p, rng: rand.New(rand.NewPCG(p.seed, 1)), truth: map[uint64]uint64{}, leaders: map[uint64]uint64{}, sides: map[uint64]int{}, given: firstID, want: []uint64{firstID}, members: []uint64{firstID}, voted: map[uint64]bool{firstID: true}, confs: map[uint64]string{}}
	q := w.add(firstID)
	w.must(bootstrap(q.disk, group, firstID, q.Snapshot()))
	w.start(q)
	return w
}

// number gives out one that was never used.
func (w *world) number() uint64 {
	w.given++
	return w.given
}

func (w *world) add(id uint64) *proc {
	q := &proc{w: w, id: id, disk: &Disk{}, slow: 20 + w.rng.IntN(80)}
	w.procs = append(w.procs, q)
	return q
}

func (w *world) must(err error) {
	if err != nil {
		w.fail("%v", err)
	}
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf("tick %d: %s", w.now, fmt.Sprintf(format, args...))
	}
}

func (w *world) note(all ...[]byte) {
	h := fnv.New64a()
	h.Write(binary.BigEndian.AppendUint64(nil, w.trace))
	for _, b := range all {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	w.trace = h.Sum64()
}

// start begins a process anew.
func (w *world) start(q *proc) {
	q.index, q.sum, q.seen, q.asked, q.saves = 0, 0, 0, map[uint64]uint64{}, nil
	n, err := open(q.disk, Config{Machine: q, Seed: w.seed, Election: election, Heartbeat: heartbeat, MaxLog: w.maxLog})
	switch {
	case isTrouble(err):
		w.crash(q)
	case err != nil:
		w.fail("voter %d does not start: %v", q.id, err)
	default:
		q.node = n
		w.flush(q)
	}
}

// removed reports whether a voter has learned that it no longer votes.
func removed(n *Node) bool {
	c := n.log.conf
	return len(c.Voters) > 0 && !c.Has(n.id) && !slices.Contains(c.Learners, n.id)
}

func isTrouble(err error) bool {
	return errors.Is(err, ErrStopped) || errors.Is(err, ErrSync) || errors.Is(err, ErrFull)
}

// end lets a process never come back.
func (q *proc) end() { q.node, q.down = nil, forever }

func (q *proc) dead() bool { return q.node == nil && q.down > forever/2 }

// crash ends a process, with or without the power.
func (w *world) crash(q *proc) {
	w.stats.crashes++
	q.node, q.pause, q.down = nil, 0, 1+w.rng.IntN(40)
	ordered := w.rng.IntN(2) == 0
	last := false
	q.disk.Restart(w.rng.IntN(3) > 0, func() bool {
		last = last && ordered || w.rng.IntN(2) == 0
		return !last
	})
}

// numbers writes some, for sums.
func numbers(all ...uint64) (b []byte) {
	for _, n := range all {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// Apply, Snapshot and Restore make a proc a Machine.
func (q *proc) Apply(index, term uint64, entry []byte) {
	if index <= q.index || len(entry) == 0 {
		q.w.fail("voter %d applies %d bytes at %d after %d", q.id, len(entry), index, q.index)
	}
	h := fnv.New64a()
	h.Write(numbers(q.sum, index, term))
	h.Write(entry)
	q.index, q.sum = index, h.Sum64()
	q.w.agree(q)
	q.w.stats.applied++
}

func (q *proc) Snapshot() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, q.index), q.sum)
}

func (q *proc) Restore(index uint64, b []byte) error {
	if len(b) != 16 {
		return fmt.Errorf("a snapshot of %d bytes", len(b))
	}
	q.index, q.sum = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	q.w.stats.snapshots++
	q.w.agree(q)
	return nil
}

// agree: voters are equal at equal index, now and for all time.
func (w *world) agree(q *proc) {
	if was, ok := w.truth[q.index]; ok && was != q.sum {
		w.fail("voter %d has another log at index %d than others", q.id, q.index)
	}
	w.truth[q.index] = q.sum
	w.note(numbers(q.id, q.index, q.sum))
	w.high = max(w.high, q.index)
}

// flush lets a process do its work and takes what it sends.
func (w *world) flush(q *proc) {
	out, err := q.node.Flush()
	if err != nil {
		if !isTrouble(err) {
			w.fail("%v", err)
		}
		w.crash(q)
		return
	}
	if l := out.Lead; l.Leader == q.id {
		if was, ok := w.leaders[l.Term]; ok && was != q.id {
			w.fail("voters %d and %d both lead in term %d", was, q.id, l.Term)
		} else if !ok {
			w.stats.elections++
		}
		w.leaders[l.Term] = q.id
	}
	w.elect(q, out.Lead)
	w.send(q.id, out.Send)
	for _, r := range out.Reads {
		w.read(q, r)
	}
	at := w.now + w.lag
	if !w.mild && w.rng.IntN(12) == 0 {
		at += w.rng.IntN(2 * election)
	}
	for _, s := range out.Saves {
		q.saves = append(q.saves, due{at, s})
	}
	w.write(q)
}

// write makes durable what the disk has had the time for, one save after the other.
func (w *world) write(q *proc) {
	if len(q.saves) == 0 || q.saves[0].at > w.now {
		return
	}
	s := q.saves[0].save
	q.saves = q.saves[1:]
	if err := Write(q.disk, s.Record); err != nil {
		if !isTrouble(err) {
			w.fail("%v", err)
		}
		w.crash(q)
		return
	}
	w.allowed(q.node.Saved(s.Number))
	w.flush(q)
}

// elect: all agree on the voters, as on everything else.
func (w *world) elect(q *proc, l views.Lead) {
	at := q.node.log.applied
	if at == q.seen {
		return
	}
	q.seen = at
	c := q.node.log.conf
	now := fmt.Sprint(c)
	if was, ok := w.confs[at]; ok && was != now {
		w.fail("voter %d has the voters %s after index %d, others have %s", q.id, now, at, was)
	}
	w.confs[at] = now
	if at > w.top {
		w.top, w.latest = at, c
	}
	for _, id := range slices.Concat(l.Voters, l.Learners) {
		if !slices.Contains(w.members, id) {
			w.members = append(w.members, id)
			w.stats.learners++
		}
	}
	for _, id := range l.Voters {
		if !w.voted[id] {
			w.voted[id] = true
			w.stats.voters++
		}
	}
}

// read: a read sees everything that was applied by any voter when it began.
func (w *world) read(q *proc, number uint64) {
	w.stats.reads++
	if seen := q.node.log.applied; seen < q.asked[number] {
		w.fail("voter %d reads the state of index %d, but %d had been applied when the read began", q.id, seen, q.asked[number])
	}
	delete(q.asked, number)
}

func (w *world) send(from uint64, all []views.Post) {
	for _, l := range all {
		w.note(numbers(from, l.To), l.Bytes)
		times := 1
		if !w.mild && w.rng.IntN(20) == 0 {
			times = w.rng.IntN(3)
		}
		for range times {
			late := 1 + w.rng.IntN(2)
			if !w.mild && w.rng.IntN(30) == 0 {
				late += w.rng.IntN(60)
			}
			w.mail = append(w.mail, parcel{w.now + late, from, l.To, bytes.Clone(l.Bytes)})
		}
	}
}

func (w *world) deliver() {
	var due []parcel
	w.mail = slices.DeleteFunc(w.mail, func(p parcel) bool {
		if p.at <= w.now {
			due = append(due, p)
		}
		return p.at <= w.now
	})
	for _, p := range due {
		q := w.proc(p.to)
		if q == nil || q.node == nil || w.sides[p.from] != w.sides[p.to] {
			continue
		}
		if q.pause > 0 {
			p.at = w.now + q.pause
			w.mail = append(w.mail, p)
			continue
		}
		if err := q.node.Step(p.from, p.bytes); err != nil {
			w.fail("voter %d refuses: %v", q.id, err)
		}
		// Sometimes several messages share a batch.
		if w.rng.IntN(3) > 0 {
			w.flush(q)
		}
	}
}

func (w *world) proc(id uint64) *proc {
	for _, q := range w.procs {
		if q.id == id {
			return q
		}
	}
	return nil
}

// births starts the voters that a change has admitted. Some never start.
func (w *world) births() {
	for _, id := range w.members {
		if w.proc(id) != nil {
			continue
		}
		q := w.add(id)
		w.must(join(q.disk, group, id))
		if !w.mild && w.rng.IntN(8) == 0 {
			w.stats.unborn++
			q.end()
			continue
		}
		w.start(q)
	}
}

// leader returns one that believes to serve.
func (w *world) leader() *proc {
	for _, q := range w.procs {
		if q.node != nil && q.pause == 0 && q.node.Lead().Serves {
			return q
		}
	}
	return nil
}
