package storm

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// After a backup was restored, a process may start with the disk that it had in the lost
// cluster.
//
// A process with a disk of a lost cluster must end with views.Recovered when it hears of
// the restored one, and must not become a member before. If a backup from before that
// cluster was restored, the restored one does not know it; its operator names nodes to join,
// and it must end with views.OtherCluster. The operator then puts the right disk back. Only
// one such process runs at a time, and only if its voter is not a majority of the lost
// cluster by itself: otherwise that cluster would be back.

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

// putBack makes a process crash. It starts again with the disk that it had in a lost
// cluster.
func (w *world) putBack(s *Strike, q *proc) bool {
	d := &q.drive
	if d.relic == nil || d.ill || d.rotten || d.behind() || d.next != nil || len(w.oracle.agreed) == 0 ||
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

// putAway replaces a disk of a lost cluster by that of the present one.
func (d *drive) putAway() {
	if d.aside != nil {
		d.contents, d.aside = *d.aside, nil
	}
}

// isRelic reports whether the process has a disk of a lost cluster.
func (q *proc) isRelic() bool { return q.drive.aside != nil }

// judgeRelic judges a process with a disk of a lost cluster: it is not a member, and its
// voter does not lead.
func (q *proc) judgeRelic() {
	if v := q.p.Voter(); q.p.Inc() != 0 || v != nil && v.Lead().Serves {
		q.w.broken(Views, "%s serves with a disk of a lost cluster", q.w.Name(q.id))
	}
}
