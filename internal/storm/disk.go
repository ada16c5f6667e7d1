package storm

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/process"
)

// A Disk is a disk that can fail. Its operations, which are counted, are writes and syncs.
type Disk interface {
	Read() ([]byte, error)     // what was written, as one record; empty if nothing was
	Write(record []byte) error // makes a record durable
	Erase() error
	StopAfter(n int)      // the machine stops before the operation after n others
	FullAfter(n int)      // every write after n operations fails
	SyncErrorAfter(n int) // every sync after n operations fails
	Heal()                // it no longer fails
	// Restart is what happens to the disk when the process ends. If the power fails, chance
	// decides what survives of what was not synced.
	Restart(power bool, chance func() bool)
	Rot(bit uint64)
	Voter() uint64 // the voter whose state is on it; 0 if there is none
	Saves() int    // number of writes
	Copy() []byte  // what was written, as one record; unlike Read, it leaves the disk alone
	// Promised returns what the voter has acknowledged: its term and vote, and the index and
	// term of its last entry.
	Promised() (term, vote, last, of uint64)
	Has(index, term uint64) bool // it has the log up to this entry, or a later snapshot
}

// The latency of a healthy disk.
const (
	fastestDisk = 100 * us
	slowestDisk = 1000 * us
)

// A drive is the disk of a place, and what it still has to write. It does one save after
// another, whether or not the process is paused: a save is written when its time has come,
// and acknowledged in the same instant.
type drive struct {
	q *proc
	contents
	ill    bool  // it will fail soon, or has failed
	rotten bool  // its contents are not what was written
	stalls int   // number of faults that keep it from writing
	slow   int64 // maximum additional time of each save
	saves  []save
	acks   []ack // not yet taken by the process
	number int   // of the save in progress; others are void

	copies []copied  // made earlier in the present cluster, oldest first
	relic  *copied   // made in the last one
	next   *copied   // what the process starts with next
	goes   bool      // whatever the others have, because the cluster goes back
	lacks  *promise  // what the voter had promised before its disk was replaced by an older copy
	aside  *contents // the disk of the present cluster, while one of a lost cluster is in its place
}

// A save is what the process wants to be durable.
type save struct {
	number uint64
	kind   process.EffectKind
	bytes  []byte
}

// An ack acknowledges a save.
type ack struct {
	number uint64
	failed string
}

// add queues a save.
func (d *drive) add(e *process.Effect) {
	d.saves = append(d.saves, save{e.Number, e.Kind, slices.Clone(e.Bytes)})
	if len(d.saves) == 1 {
		d.begin()
	}
}

// begin starts the first save that is left.
func (d *drive) begin() {
	d.number++
	latency := fastestDisk + d.q.chance.Below(slowestDisk-fastestDisk)
	if d.slow > 0 {
		latency += d.q.chance.Below(d.slow)
	}
	d.q.w.At(d.q.w.Now()+latency, written, algorithm.None, d.number<<placeBits|d.q.place())
}

// stall stops or slows the disk; or ends that.
func (d *drive) stall(s *Strike, on bool) {
	switch {
	case s.How%3 == 0 && on:
		d.slow = int64(d.q.w.Settings.Lease) / 4
	case s.How%3 == 0:
		d.slow = 0
	case on:
		d.stalls++
	default:
		if d.stalls--; d.stalls == 0 && len(d.saves) > 0 {
			d.begin()
		}
	}
}

// placeBits is the number of bits of a place's number.
const placeBits = 5

// written ends a save.
func (d *drive) written(number int) {
	if number != d.number || len(d.saves) == 0 || d.stalls > 0 {
		return // its process has ended, or the save starts again when the disk continues
	}
	s := d.saves[0]
	d.saves = slices.Delete(d.saves, 0, 1)
	a := ack{number: s.number}
	if err := d.do(&s); err != nil {
		a.failed = err.Error()
	}
	d.acks = append(d.acks, a)
	d.q.w.At(d.q.w.Now(), saved, d.q.id, d.q.boots)
	if len(d.saves) > 0 {
		d.begin()
	}
}

// do makes a save durable.
func (d *drive) do(s *save) error {
	switch s.kind {
	case process.Erase:
		return d.disk.Erase()
	case process.Remember:
		d.past = s.bytes
		return nil
	}
	return d.disk.Write(s.bytes)
}

// lose empties the drive: its disk is lost.
func (d *drive) lose() { d.contents, d.next, d.goes, d.lacks = contents{}, nil, false, nil }

// saved hands an acknowledgement to the process.
func (q *proc) saved(boots int) {
	if d := &q.drive; boots == q.boots && len(d.acks) > 0 {
		a := d.acks[0]
		d.acks = slices.Delete(d.acks, 0, 1)
		d.ill = d.ill || a.failed != "" // it may have healed since
		q.step(process.Input{Kind: process.Saved, Number: a.number, Text: a.failed})
	}
}

// finish writes everything that is left, for a process that exits.
func (d *drive) finish() {
	for i := range d.saves {
		_ = d.do(&d.saves[i]) // there is no longer a process that could fail
	}
	d.empty()
	d.disk.Restart(false, nil)
}

// crash decides about saves in flight when the process ends: the first of them may be
// durable or torn, and all others are lost.
func (d *drive) crash(power bool) {
	r := &d.q.chance
	if len(d.saves) > 0 {
		switch r.Below(4) {
		case 0:
			_ = d.do(&d.saves[0])
		case 1:
			d.disk.StopAfter(int(r.Below(4)))
			_ = d.do(&d.saves[0])
		}
	}
	d.empty()
	d.disk.Restart(power, func() bool { return r.Below(2) == 0 })
	_, _ = d.disk.Read() // so that it knows whose it is
}

func (d *drive) empty() { d.saves, d.acks, d.number = d.saves[:0], d.acks[:0], d.number+1 }
