package storm

import (
	"encoding/binary"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
)

// maxRest is the maximum time that a place stays empty, once all faults are healed.
const maxRest = 40 * ms

// boot starts another process, with the disk of the place.
func (q *proc) boot() error {
	w := q.w
	if w.Crashed(q.id) {
		w.Restart(q.id)
	}
	q.boots++
	w.booted = w.Now()
	q.chance = kernel.NewRand(w.Seed, uint64(1000+1000*q.place()+q.boots))
	q.clock = clock{base: w.Now(), read: member.Instant(1 + q.chance.Below(1000*ms)), rate: w.rate(&q.chance)}
	q.state, q.view, q.draining, q.halts = joining, nil, false, false
	q.lease, q.sent, q.counted = 0, q.sent[:0], counted{}
	q.wakeAt, q.wakeNo = 0, q.wakeNo+1
	if err := q.open(); err != nil {
		return err
	}
	q.begin()
	q.step(process.Input{Kind: process.Start})
	for _, o := range w.procs {
		if o != q && q.state != dead {
			q.linked(o, true)
		}
	}
	return nil
}

// open creates the process. If its disk has rotted, the operator replaces it.
func (q *proc) open() (err error) {
	w, d := q.w, &q.drive
	q.replaceDisk()
	if d.disk == nil {
		d.disk = w.Disk()
	}
	c := process.Config{
		Begin: process.Begin{
			Name: w.Name(q.id), Address: w.Name(q.id), Contacts: w.contacts(q), Seed: q.seed(),
			Past: d.past, Settings: w.Settings, Limits: w.Limits, Links: w.Links,
		},
		Logs: w.Logs, Spec: w.spec, Observe: true,
	}
	if w.oracle.epoch() == 0 && q.place() == 0 && q.boots == 1 {
		c.Found = &process.Founding{Cluster: 1, Epoch: 1, Settings: w.Settings, Voters: w.Voters, Choices: w.choices(0, w.keptChoice(0))}
	}
	if c.Restore = w.restoring(q); q.isRelic() {
		if c.Cluster = pastOf(d.past).Cluster; !slices.Contains(w.oracle.earlier, c.Cluster) {
			c.Join = c.Contacts
		}
	}
	id := d.disk.Voter()
	if c.State, err = d.disk.Read(); err == nil {
		q.p, err = process.New(c)
	}
	if err != nil && d.rotten {
		w.wiped = append(w.wiped, id)
		w.remark(q.id, "its disk is damaged and is replaced")
		d.lose()
		d.disk, c.State, c.Past = w.Disk(), nil, nil
		q.p, err = process.New(c)
	}
	d.ill, d.rotten = false, false
	return err
}

// seed returns the seed of all random choices of a process.
func (q *proc) seed() (seed [32]byte) {
	r := kernel.NewRand(q.w.Seed, uint64(100_000+1000*q.place()+q.boots))
	for i := 0; i < len(seed); i += 8 {
		binary.LittleEndian.PutUint64(seed[i:], r.Uint64())
	}
	return seed
}

// contacts returns the addresses where a process may ask for the cluster.
func (w *world) contacts(q *proc) []string {
	var all []string
	for _, o := range w.procs {
		if o != q {
			all = append(all, w.Name(o.id))
		}
	}
	return all
}

// again fills a place some time later, if it must be filled.
func (w *world) again(q *proc, rest int64) {
	if q.place() < w.Nodes || w.phase <= stormy || q.votes() {
		w.At(w.Now()+rest, boot, algorithm.None, q.place())
	}
}

// votes reports whether the disk of a place has the log of a voter.
func (q *proc) votes() bool { return q.drive.voter() != 0 }

// again starts a process in an empty place.
func (q *proc) again() {
	if q.w.phase >= draining || q.state != dead {
		return
	}
	if err := q.boot(); err != nil {
		q.w.broken(Errors, "%s cannot start: %v", q.w.Name(q.id), err)
	}
}

// rate draws the rate of a clock.
func (w *world) rate(r *kernel.Rand) int64 {
	most := w.Settings.Drift
	switch {
	case w.Faults.has(Beyond):
		most = min(20*most, 300_000)
	case !w.Faults.has(Drift):
		return 0
	}
	switch r.Below(4) {
	case 0:
		return -most
	case 1:
		return most
	}
	return r.Below(2*most+1) - most
}

// departs makes the process leave gracefully, as soon as it runs.
func (q *proc) departs() {
	q.halts = false
	q.w.At(q.w.Now(), depart, q.id, q.boots)
}

// exit ends a process that has finished. Its disk completes what it has begun.
func (q *proc) exit() {
	q.w.oracle.died(q)
	q.drive.finish()
	q.copyDisk()
	q.vacate()
}

// vacate empties the place, and fills it again some time later.
func (q *proc) vacate() {
	q.drive.putAway()
	q.state, q.view = dead, nil
	rest := ms + q.chance.Below(maxRest-ms)
	if q.rest > 0 && q.w.phase == stormy {
		rest = q.rest
	}
	q.rest = 0
	q.w.again(q, rest)
}

// crash ends the process at once. If its disk is ill, the power may fail too.
func (q *proc) crash() { q.die(q.drive.ill && q.chance.Below(2) == 0) }

// die ends the process at once; the power of its machine may fail too.
func (q *proc) die(power bool) {
	q.w.oracle.died(q)
	q.w.Crash(q.id)
	q.drive.crash(power)
	q.vacate()
}
