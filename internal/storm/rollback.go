package storm

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/internal/views"
)

// A process may start again from an older copy of its own disk.
//
// A voter whose disk is rolled back has forgotten votes and entries that others count on.
// That is harmless if the other voters still have what it has forgotten: a majority of all
// voters, without it, has its log, and can no longer vote in a term in which it has voted.
// Only then is a single disk rolled back. The voter must then catch up, or end with
// views.ErrRolledBack; its operator empties the disk in that case. Until then, no other
// voter loses its disk.
//
// If most voters go back at once, the cluster loses views. The next epoch must then be above
// all that the remaining voter knows of, which must be heard in time. No lease may run any
// longer: the members of the lost views are not known. See goBack.

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

// rollBack makes a process crash. It starts again from an older copy of its disk.
func (w *world) rollBack(s *Strike, q *proc) bool {
	if s.How%4 == 3 {
		return w.goBack(s)
	}
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

// goBack makes all processes crash, and stay away until no lease can run any longer. The
// disks of most voters are then replaced by older copies. There must be a voter that knows
// the last epoch, and nothing may keep it from speaking to the others when they start.
func (w *world) goBack(s *Strike) bool {
	rest := 2 * int64(w.Settings.Lease)
	if w.Shelter || !w.within() || w.disturbed() || w.severed || !w.sound() || w.Now()+rest+maxRest > w.times.heal {
		return false
	}
	voters := w.leader().voter().Lead().Voters
	var back, kept []*proc
	for i := range w.procs {
		q := w.procs[(s.Who+i)%len(w.procs)]
		d := &q.drive
		switch {
		case d.stalls > 0 || d.slow > 0 || q.isRelic() || d.next != nil:
			return false
		case !slices.Contains(voters, d.voter()):
		case q.state == dead || d.ill || d.rotten:
			return false
		case len(back) <= len(voters)/2 && q.copyOf(voters) != nil:
			back = append(back, q)
		default:
			kept = append(kept, q)
		}
	}
	if len(back) <= len(voters)/2 || !slices.ContainsFunc(kept, func(q *proc) bool { return pastOf(q.drive.past).Epoch >= w.oracle.epoch() }) {
		return false
	}
	for _, q := range w.procs {
		if q.state != dead {
			q.rest = rest + q.chance.Below(ms)
			q.die(false)
		}
	}
	for _, q := range back {
		q.drive.next, q.drive.goes = q.copyOf(voters), true
	}
	for _, q := range w.procs {
		q.drive.copies = nil // they may have what is lost now
	}
	w.kept, w.backups.by = kept, nil
	w.result.Setbacks++
	old := w.oracle.cluster
	w.succeed()
	w.oracle.former = &old
	return true
}

// copyOf returns the oldest copy of the disk of a process as one of these voters that lacks
// a view, or nil.
func (q *proc) copyOf(voters []uint64) *copied {
	for i := range q.drive.copies {
		if x := &q.drive.copies[i]; x.voter() == q.drive.voter() && slices.Equal(x.voters, voters) && pastOf(x.past).Epoch < q.w.oracle.epoch() {
			return x
		}
	}
	return nil
}

// goesBack reports whether the cluster has gone back, and has not made a view since that all
// voters know of, except those whose disks were emptied.
func (w *world) goesBack() bool {
	w.kept = slices.DeleteFunc(w.kept, func(q *proc) bool {
		v := q.voter()
		return q.drive.voter() == 0 || slices.Contains(w.lost, q.drive.voter()) ||
			len(w.oracle.agreed) > 0 && v != nil && v.Record().Epoch >= w.oracle.first
	})
	return len(w.kept) > 0
}

// replaceDisk puts the disk into a place that its process starts with, if it is not the one
// there.
func (q *proc) replaceDisk() {
	w, d := q.w, &q.drive
	x := d.next
	if d.next = nil; x == nil {
		return
	}
	all := d.goes
	d.goes = false
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
		if !all && !w.mayForget(q, x) {
			return
		}
		w.remark(q.id, "its disk is replaced by an older copy")
		w.result.Rollbacks++
		if x.voter() != 0 && !all {
			p := d.promise()
			d.lacks = &p
		}
	}
	d.contents = contents{disk, slices.Clone(x.past)}
}

// pastOf returns what a process remembers.
func pastOf(b []byte) views.Past {
	p, _ := views.ParsePast(b) // the process would not start if it were damaged
	return p
}

// obeys does what the error of a process that ends instructs its operator to do, and reports
// whether that explains the error.
func (q *proc) obeys(err error) bool {
	w, d := q.w, &q.drive
	var old *views.Recovered
	var other *views.OtherCluster
	switch {
	case d.behind() && errors.Is(err, views.ErrRolledBack):
		q.empties("it notices that its disk is an older copy")
	case q.isRelic() && (errors.As(err, &old) || errors.As(err, &other) && !slices.Contains(w.oracle.earlier, other.Own) ||
		errors.Is(err, views.ErrRolledBack)): // the last by a message of its own cluster that was late
		w.remark(q.id, "it is refused: %v", err)
		w.result.Returns++
		q.die(false)
	default:
		return false
	}
	return true
}

// empties ends a process and empties its disk, as its operator is told to.
func (q *proc) empties(why string) {
	w, id := q.w, q.drive.voter()
	w.remark(q.id, "%s, and its disk is emptied", why)
	w.result.Noticed++
	q.die(false)
	q.drive.lose()
	w.lost, w.wiped = append(w.lost, id), append(w.wiped, id)
}

// judgeDisks judges at the end what has become of disks that were replaced.
func (w *world) judgeDisks() {
	for _, q := range w.procs {
		switch {
		case q.isRelic() && !w.severed:
			w.broken(Views, "%s has a disk of a lost cluster, and has not been refused", w.Name(q.id))
		case w.goesBack() && slices.Contains(w.kept, q):
			w.broken(Voters, "the cluster has gone back, and %s has neither noticed it nor caught up", w.Name(q.id))
		case q.drive.behind():
			w.broken(Voters, "%s started from an older copy of its disk, and its voter has neither caught up nor ended", w.Name(q.id))
		}
	}
}
