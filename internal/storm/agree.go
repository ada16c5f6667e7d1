package storm

import (
	"slices"

	"github.com/stile-lock/stile/internal/views"
)

// What the oracle knows of the views, and how it judges the voters that make them.

// An agreed is a committed view.
type agreed struct {
	hash    uint64
	open    uint64 // of what others than members see
	members []uint64
}

// A settled is the state of a record after an entry.
type settled struct {
	index uint64
	hash  uint64
}

// applied judges the record of a voter after an entry: it is the same on all voters, and an
// epoch has one view.
func (o *oracle) applied(q *proc, index uint64, r *views.Record) {
	w := o.w
	o.buf = r.AppendTo(o.buf[:0])
	h := sum(o.buf)
	if o.was(r.Epoch, h) {
		return // it is applied again by a voter that has gone back
	}
	i, known := slices.BinarySearchFunc(o.log, index, func(s settled, index uint64) int { return int(int64(s.index - index)) })
	switch {
	case known && o.log[i].hash != h:
		w.broken(Voters, "%[2]s has a different record from other voters after entry %[1]d of the log", index, w.Name(q.id))
	case !known:
		o.log = slices.Insert(o.log, i, settled{index, h})
	}
	e := r.Epoch
	switch {
	case len(o.agreed) == 0:
		o.begins(q, r)
		o.commit(r, h)
	case e == o.epoch()+1:
		o.commit(r, h)
	case !o.isView(e, h):
		w.broken(Views, "%s applied a view of epoch %d that differs from the one that was committed", w.Name(q.id), e)
	}
}

// reigns records that a voter serves in a new term.
func (o *oracle) reigns(l views.Lead) {
	if l.Serves && l.Term > o.term {
		o.w.result.Terms++
		o.term, o.termAt = l.Term, o.w.Now()
	}
}

// commit records a view when the first voter has applied it.
func (o *oracle) commit(r *views.Record, h uint64) {
	w := o.w
	for _, m := range r.Members {
		if w.no(m.Inc) == 0 {
			i, _ := w.find(m.Inc)
			w.incarnations = slices.Insert(w.incarnations, i, incarnation{inc: m.Inc, q: w.addressed(m.Address)})
		}
	}
	evicts := false
	if n := len(o.agreed); n > 0 {
		for _, inc := range o.agreed[n-1].members {
			if r.Rank(inc) < 0 {
				evicts = o.dropped(inc) || evicts
			}
		}
	}
	o.judgeGhosts(r)
	if evicts {
		o.spares(r)
	}
	open := r.Open()
	a := agreed{hash: h, open: sum(open.AppendTo(nil))}
	for _, m := range r.Members {
		a.members = append(a.members, m.Inc)
	}
	var voters []uint64
	for _, v := range r.Voters {
		voters = append(voters, v.ID)
	}
	if !slices.Equal(voters, o.voters) {
		w.result.Revotes++
		o.voters = voters
	}
	o.agreed, o.since = append(o.agreed, a), w.Now()
	o.views++
	w.note(r.Epoch, h)
}

// dropped judges the end of a process's membership, and reports whether it was evicted.
func (o *oracle) dropped(inc uint64) (evicted bool) {
	if i, ok := o.w.find(inc); ok && o.w.incarnations[i].promised {
		return false
	}
	o.limits = append(o.limits, limit{inc: inc, until: 1 << 62})
	if o.w.calm() {
		o.w.broken(Calm, "m%d is evicted, although there is no fault", o.w.no(inc))
	}
	return true
}

// A limit is the true time until which an evicted member may act, as all processes with its
// views believe.
type limit struct {
	inc   uint64
	until int64
	rest  int64 // as the last view says
}

// judgeGhosts judges the ghosts of a view: no member evicted in this view or before can act for
// longer than the view says. No view begins a ghost anew, unless a process has started since
// the last one: its voter may lead, and does not know when that view began.
func (o *oracle) judgeGhosts(r *views.Record) {
	for i := range o.limits {
		l := &o.limits[i]
		rest := int64(0)
		if j := slices.IndexFunc(r.Ghosts, func(g views.Ghost) bool { return g.Inc == l.inc }); j >= 0 {
			rest = int64(r.Ghosts[j].Rest)
		}
		if l.rest > 0 && rest > l.rest && o.w.booted < o.since {
			o.w.broken(Ghosts, "epoch %d says that m%d may act for %d us, after a view that said %d us", r.Epoch, o.w.no(l.inc), rest/us, l.rest/us)
		}
		l.until, l.rest = min(l.until, o.w.Now()+rest), rest
		o.outlives(o.w.at(l.inc), l)
	}
}

// outlives judges the lease of an evicted member.
func (o *oracle) outlives(q *proc, l *limit) {
	if q.inc != l.inc || q.state < taking || !o.w.within() {
		return
	}
	if end := q.clock.when(q.lease); end > o.w.Now() && end > l.until {
		o.w.broken(Ghosts, "m%d is evicted and can act for another %d us, but the views allow %d us", q.no, (end-o.w.Now())/us, (l.until-o.w.Now())/us)
	}
}

// said judges what a process sends about views: a voter that no longer leads must not
// confirm a renewal that was sent after another one had begun to lead.
func (o *oracle) said(q *proc, b []byte) {
	if views.Kind(b[0]) != views.Renewed {
		return
	}
	m, err := views.ParseMessage(b)
	if err != nil {
		o.w.broken(Errors, "%s sends a malformed message: %v", o.w.Name(q.id), err)
		return
	}
	to := o.w.at(m.Inc)
	if to == nil || to.inc != m.Inc || q.voter() == nil {
		return
	}
	term := q.voter().Lead().Term
	for _, x := range to.sent {
		if x.number == m.Number && term < o.term && x.when > o.termAt {
			o.w.broken(Acks, "%s, which led in term %d, confirms a renewal of m%d that was sent after another voter became leader in term %d", o.w.Name(q.id), term, o.w.no(m.Inc), o.term)
		}
	}
}

// installing records that a process starts a view, and judges whether there is such a view.
func (o *oracle) installing(q *proc, r *views.Record) {
	q.reports = q.reports[:0]
	o.buf = r.AppendTo(o.buf[:0])
	if !o.isView(r.Epoch, sum(o.buf)) {
		o.w.broken(Views, "m%d installs a view of epoch %d that was not committed", q.no, r.Epoch)
	}
}

// writes judges what is written while the cluster is silent: nothing, unless the leader,
// the view or the voters change.
func (o *oracle) writes() {
	w := o.w
	now := stillness{epoch: o.epoch(), term: o.term}
	for _, q := range w.procs {
		now.boots += q.boots
		if d := q.drive.disk; d != nil {
			now.saves += d.Saves()
		}
	}
	if lead := w.leader(); lead != nil {
		l := lead.voter().Lead()
		if now.settled = l.Settled && len(l.Learners) == 0; len(l.Voters) > 0 {
			now.voters = uint64(len(l.Voters))<<32 + l.Voters[len(l.Voters)-1]
		}
	}
	was := o.still
	o.still = now
	saves := now.saves - was.saves
	if now.saves = was.saves; now != was || !now.settled || !w.calm() || w.Now()-o.since < 2*lookEvery {
		o.wrote = 0 // followers write a little later
		return
	}
	if o.wrote > 0 { // it was not a change that has taken effect since
		w.broken(Silence, "%d batches are written to disk, although nothing changes", o.wrote)
	}
	o.wrote = saves
}

// A stillness is what must not change while nothing happens.
type stillness struct {
	saves   int
	boots   int
	epoch   uint64
	term    uint64
	settled bool
	voters  uint64
}
