package storm

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/live/views"
)

// Disks that are not what they should be: a process starts again from an older copy of its
// own disk, or, after a backup was restored, with one of the lost cluster.
//
// A voter whose disk is rolled back has forgotten votes and entries that others count on.
// That is harmless if the other voters still have what it has forgotten: a majority of all
// voters, without it, has its log, and can no longer vote in a term in which it has voted.
// Only then is a disk rolled back. The voter must then catch up, or end with
// views.ErrRolledBack; its operator empties the disk in that case. Until then, no other
// voter loses its disk.
//
// A process with a disk of a lost cluster must end with views.Recovered when it hears of
// the restored one, and must not become a member before. If a backup from before that
// cluster was restored, the restored one does not know it; its operator names nodes to join,
// and it must end with views.OtherCluster. The operator then puts the right disk back. Only one such process runs at a time, and only if its voter is not a majority
// of the lost cluster by itself: otherwise that cluster would be back.

// A copied is a copy of the disk of a place.
type copied struct {
	contents
	voters []uint64 // voters of the log, according to the process; nil if it had no voter
}

// contents are what is on a disk.
type contents struct {
	disk Disk   // nil if it was lost
	past []byte // what the process remembers, beside the voter's state
}

// A promise is what a voter has acknowledged.
type promise struct {
	voter      uint64
	term, vote uint64
	last, of   uint64 // index and term of its last entry
}

// The number of copies of a disk, and the interval between copies of any disk.
const (
	copyEvery = 4 // ticks, about
	maxCopies = 4
)

// voter returns the voter whose state is on a disk, or 0.
func (c *contents) voter() uint64 {
	if c.disk == nil {
		return 0
	}
	return c.disk.Voter()
}

func (c *contents) promise() promise {
	p := promise{voter: c.voter()}
	p.term, p.vote, p.last, p.of = c.disk.Promised()
	return p
}

// keeps reports whether another voter may forget what it has promised, as far as this one is
// concerned: this one has the entries and, if a vote is forgotten too, can no longer vote in
// that term.
func (d *drive) keeps(p promise, vote bool) bool {
	if d.ill || d.rotten || d.voter() == 0 {
		return false
	}
	own := d.promise()
	return d.disk.Has(p.last, p.of) && (!vote || own.term > p.term || own.term == p.term && own.vote != 0)
}

// behind reports whether the disk still lacks what its voter had promised.
func (d *drive) behind() bool {
	return d.lacks != nil && d.voter() == d.lacks.voter && !d.disk.Has(d.lacks.last, d.lacks.of)
}

// copyDisks copies a disk now and then.
func (w *world) copyDisks() {
	if r := &w.backups.copies; w.Faults.has(Rollback|Return) && w.phase == stormy && r.Below(copyEvery) == 0 {
		w.procs[r.Below(int64(len(w.procs)))].copyDisk()
	}
}

// copyDisk copies the disk of a process that runs, or has just stopped.
func (q *proc) copyDisk() {
	d := &q.drive
	if !q.w.Faults.has(Rollback|Return) || q.state == dead || q.isRelic() || d.ill || d.rotten || d.disk == nil {
		return
	}
	x := copied{contents: contents{q.w.Disk(), slices.Clone(d.past)}}
	if d.voter() != 0 && x.disk.Write(d.disk.Copy()) != nil {
		return
	}
	if v := q.p.Voter(); v != nil {
		x.voters = slices.Clone(v.Lead().Voters)
	}
	if len(d.copies) == maxCopies {
		d.copies = d.copies[1:]
	}
	d.copies = append(d.copies, x)
}

// bury keeps the last copy of a disk that is about to be lost with its cluster.
func (d *drive) bury() {
	d.putAway()
	for i := range d.copies {
		if x := &d.copies[i]; len(x.past) > 0 && (x.voter() == 0 || len(x.voters) > 1) {
			d.relic = x
		}
	}
	d.copies = nil
}

// rollBack makes a process crash. It starts again from an older copy of its disk.
func (w *world) rollBack(s *Strike, q *proc) bool {
	d := &q.drive
	if q.state == dead || q.isRelic() || len(d.copies) == 0 {
		return false
	}
	x := &d.copies[s.How%len(d.copies)]
	if !w.mayForget(q, x) {
		return false
	}
	q.rest = int64(s.For)
	q.die(false)
	d.next = x
	return true
}

// mayForget reports whether a disk may be replaced by a copy: the other voters have what
// the copy lacks.
func (w *world) mayForget(q *proc, x *copied) bool {
	d := &q.drive
	switch {
	case d.ill || d.rotten || d.disk == nil || d.voter() != x.voter() || w.restoring(q) != nil:
		return false
	case x.voter() == 0:
		return true
	case w.severed || !w.sound():
		return false
	}
	voters := w.leader().voter().Lead().Voters
	if !slices.Equal(x.voters, voters) || !slices.Contains(voters, x.voter()) {
		return false
	}
	keep, p, older := 0, d.promise(), x.promise()
	vote := p.term != older.term || p.vote != older.vote
	for _, o := range w.procs {
		if o != q && slices.Contains(voters, o.drive.voter()) && o.drive.keeps(p, vote) {
			keep++
		}
	}
	return 2*keep > len(voters)
}

// putBack makes a process crash. It starts again with the disk that it had in a lost
// cluster.
func (w *world) putBack(s *Strike, q *proc) bool {
	d := &q.drive
	if d.relic == nil || d.ill || d.rotten || d.next != nil || len(w.oracle.agreed) == 0 ||
		slices.ContainsFunc(w.procs, func(o *proc) bool { return o.isRelic() || o.drive.next != nil && o.drive.next == o.drive.relic }) {
		return false
	}
	if q.state == dead {
		w.At(w.Now()+int64(s.For)/8, boot, algorithm.None, q.place())
	} else {
		q.rest = 1 + int64(s.For)/8
		q.die(false)
	}
	d.next = d.relic
	return true
}

// replaceDisk puts the disk into a place that its process starts with, if it is not the one
// there.
func (q *proc) replaceDisk() {
	w, d := q.w, &q.drive
	x := d.next
	if d.next = nil; x == nil {
		return
	}
	disk := w.Disk()
	if x.voter() != 0 {
		if err := disk.Write(x.disk.Copy()); err != nil {
			return
		}
	}
	if x == d.relic {
		w.remark(q.id, "it starts with a disk of a lost cluster")
		own := d.contents
		d.aside = &own
	} else {
		if !w.mayForget(q, x) {
			return
		}
		w.remark(q.id, "its disk is replaced by an older copy")
		w.result.Rollbacks++
		if x.voter() != 0 {
			p := d.promise()
			d.lacks = &p
		}
	}
	d.contents = contents{disk, slices.Clone(x.past)}
}

// putAway replaces a disk of a lost cluster by that of the present one.
func (d *drive) putAway() {
	if d.aside != nil {
		d.contents, d.aside = *d.aside, nil
	}
}

// isRelic reports whether the process has a disk of a lost cluster.
func (q *proc) isRelic() bool { return q.drive.aside != nil }

// clusterOf returns the cluster that a process remembers.
func clusterOf(past []byte) uint64 {
	p, err := views.ParsePast(past)
	if err != nil {
		return 0
	}
	return p.Cluster
}

// judgeRelic judges a process with a disk of a lost cluster: it is not a member, and its
// voter does not lead.
func (q *proc) judgeRelic() {
	if v := q.p.Voter(); q.p.Inc() != 0 || v != nil && v.Lead().Serves {
		q.w.broken(Views, "%s serves with a disk of a lost cluster", q.w.Name(q.id))
	}
}

// obeys does what the error of a process that ends instructs its operator to do, and reports
// whether that explains the error.
func (q *proc) obeys(err error) bool {
	w, d := q.w, &q.drive
	var old *views.Recovered
	var other *views.OtherCluster
	switch {
	case d.behind() && errors.Is(err, views.ErrRolledBack):
		w.remark(q.id, "it notices that its disk is an older copy, and its disk is emptied")
		w.result.Noticed++
		id := d.voter()
		q.die(false)
		d.lose()
		w.lost, w.wiped = append(w.lost, id), append(w.wiped, id)
	case q.isRelic() && (errors.As(err, &old) || errors.As(err, &other) && !slices.Contains(w.oracle.earlier, other.Own)):
		w.remark(q.id, "it is refused: %v", err)
		w.result.Returns++
		q.die(false)
	default:
		return false
	}
	return true
}

// judgeDisks judges at the end what has become of disks that were replaced.
func (w *world) judgeDisks() {
	for _, q := range w.procs {
		switch {
		case q.isRelic():
			w.broken(Views, "%s has a disk of a lost cluster, and has not been refused", w.Name(q.id))
		case q.drive.behind():
			w.broken(Voters, "%s started from an older copy of its disk, and its voter has neither caught up nor ended", w.Name(q.id))
		}
	}
}
