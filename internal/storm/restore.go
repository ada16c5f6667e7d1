package storm

import (
	"fmt"

	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// A disaster ends all processes at once and destroys all disks. Nothing is left of the
// cluster but what operators have kept: some backups, each the record of a voter at some
// earlier time. One process restores a backup, and all others join it with empty disks.
// Clients continue, and may act on what they hold until their sessions expire.

// backups are what an operator can restore the cluster from.
type backups struct {
	chance kernel.Rand
	copies kernel.Rand // draws which disks are copied when
	kept   [][]byte    // the last ones, oldest first

	by    *proc  // process that restores or has restored; nil if none has
	from  []byte // the backup that it restores
	known bool   // its operator looks for epochs that were seen
	timed bool   // its operator gives the time
	noted uint64 // first epoch of the last restore, according to its log; 0 if there was none
}

// The number of backups, and the interval between them.
const (
	backupEvery = 24 // ticks, about
	maxBackups  = 4
)

// wallClock is the reading of the wall clock when a run begins, in milliseconds.
const wallClock = 1_800_000_000_000

func newBackups(c *Config) backups {
	return backups{chance: kernel.NewRand(c.Seed, 29), copies: kernel.NewRand(c.Seed, 31)}
}

// backUp stores the record of a serving voter now and then.
func (w *world) backUp(c *views.Replica) {
	b := &w.backups
	if !w.Faults.has(Restore) || b.chance.Below(backupEvery) > 0 {
		return
	}
	if len(b.kept) == maxBackups {
		b.kept = b.kept[1:]
	}
	b.kept = append(b.kept, c.Record().AppendTo(nil))
}

// disaster ends all processes, with their disks, and makes an operator restore a backup. It
// reports whether it could: there must be a backup, and a cluster to be lost. If one
// process is sheltered, or two of them are severed, the others could not do without one.
func (w *world) disaster(s *Strike) bool {
	b := &w.backups
	if len(b.kept) == 0 || len(w.oracle.agreed) == 0 || w.Shelter || w.severed {
		return false
	}
	b.by, b.from = w.procs[s.Who%w.Nodes], b.kept[s.How%len(b.kept)]
	again := b.noted > 0
	b.known, b.timed = again || s.Peer%3 > 0, s.Peer%3 < 2
	for _, c := range w.clients {
		if c.up && s.How%2 == 0 {
			c.linger()
		}
	}
	for _, q := range w.procs {
		w.ruin(q, int64(s.For))
	}
	w.kept = nil
	w.succeed()
	w.result.Restores++
	return true
}

// succeed makes the oracle expect another cluster, or the same after it has lost views.
func (w *world) succeed() {
	for _, c := range w.clients {
		c.curious.open = c.curious.open[:0] // an answer may be from the cluster that is lost
	}
	o := &w.oracle
	for i := range o.locks {
		o.locks[i].spared = spared{}
	}
	o.cluster = newCluster(len(w.names), o.epoch())
	w.orders, w.lost = orders{}, nil
}

// ruin ends the process in a place and destroys its disk. The place is filled again; soon,
// if its process restores.
func (w *world) ruin(q *proc, rest int64) {
	if q != w.backups.by {
		rest += q.chance.Below(rest + 1)
	}
	switch {
	case q.state != dead:
		q.rest = rest
		q.die(true)
	case q.place() < w.Nodes:
		w.again(q, rest)
	}
	q.drive.bury()
	id := q.drive.voter()
	if q.drive.lose(); id != 0 {
		w.wiped = append(w.wiped, id)
	}
}

// restoring returns how a process restores the cluster; nil if it does not. A process that
// ends before the restored cluster is durable does it again.
func (w *world) restoring(q *proc) *process.Restoring {
	b := &w.backups
	if q != b.by || len(w.oracle.agreed) > 0 {
		return nil
	}
	x := &process.Restoring{Backup: b.from}
	if b.timed {
		x.Clock = wallClock + uint64(w.Now()/ms)
	}
	if b.known {
		x.Seen = w.seen()
	}
	return x
}

// seen returns the highest epoch that an operator knows of: that of a fencing token at the
// resource, or the first epoch of the last restore.
func (w *world) seen() uint64 {
	highest := w.backups.noted
	for i := range w.store.cells {
		highest = max(highest, w.store.cells[i].seen.Epoch)
	}
	return highest
}

// tellDisaster describes a disaster.
func (w *world) tellDisaster(s *Strike) string {
	b := &w.backups
	epoch := uint64(0)
	if r, err := views.ParseRecord(b.from); err == nil {
		epoch = r.Epoch
	}
	return fmt.Sprintf("all processes stop, all disks are lost, and %s restores a backup of epoch %d %.1f ms later", w.Name(b.by.id), epoch, float64(s.For)/float64(ms))
}
