package views

import (
	"fmt"
	"slices"
)

// committed checks a view.
func (w *world) committed(old, r *Record) {
	who := ""
	for _, m := range r.Members {
		who += fmt.Sprintf(" %s/%d/%d", m.Name, m.Nonce, m.Inc)
	}
	w.note("epoch %d:%s, ghosts %v, voters %v", r.Epoch, who, r.Ghosts, r.staying())
	if w.views[r.Epoch] != nil {
		w.fail("epoch %d is committed twice", r.Epoch)
	}
	w.views[r.Epoch] = r.AppendTo(nil)
	for _, m := range r.Members {
		if at, out := w.outAt[m.Inc]; out {
			w.fail("%d is a member again, and is out since %d ms", m.Inc, at/ms)
		}
		if old.Rank(m.Inc) >= 0 {
			continue
		}
		i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.address == m.Address })
		// What it asked before it knew that it was a member may come late.
		if q := w.admitted[m.Nonce]; q != nil && q.since != 0 && w.now-q.since > 3*int64(w.settings.Lease) {
			w.fail("nonce %d is admitted again, and knows for long that it was a member", m.Nonce)
		}
		if q := w.nodes[i].proc; q.nonce == m.Nonce {
			w.admitted[m.Nonce] = q
		}
	}
	for _, m := range old.Members {
		if r.Rank(m.Inc) >= 0 {
			continue
		}
		w.outAt[m.Inc] = w.now
		if w.calm {
			w.fail("%d is out, and all is well", m.Inc)
		}
	}
	for inc := range w.outAt {
		bound := w.now
		if i := slices.IndexFunc(r.Ghosts, func(g Ghost) bool { return g.Inc == inc }); i >= 0 {
			bound += int64(r.Ghosts[i].Rest)
		}
		if b, had := w.bounds[inc]; !had || bound < b {
			w.bounds[inc] = bound
		}
		w.lease(inc)
	}
}

// lease checks that no member acts after its lease is taken to have expired.
func (w *world) lease(inc uint64) {
	if bound, out := w.bounds[inc]; out && w.ends[inc] > bound {
		w.fail("%d may act until %.1f ms, and is taken to be over at %.1f", inc, float64(w.ends[inc])/float64(ms), float64(bound)/float64(ms))
	}
}

// settled checks that all is well in the end.
func (w *world) settled(entries int) {
	r := w.last()
	if n := len(w.nodes) - len(w.severed)/2; len(r.Members) != n {
		w.fail("%d members of %d", len(r.Members), n)
	}
	for _, n := range w.nodes {
		inc := n.proc.p.Inc()
		switch {
		case slices.Contains(w.severed, n) && inc == 0: // one of the two
		case r.Rank(inc) < 0:
			w.fail("%s is no member", n.address)
		case n.proc.p.Record().Epoch != r.Epoch:
			w.fail("%s is in epoch %d of %d", n.address, n.proc.p.Record().Epoch, r.Epoch)
		case w.ends[inc] < w.now:
			w.fail("%s has no lease", n.address)
		}
	}
	if w.entries != entries {
		w.fail("%d entries while nothing happens", w.entries-entries)
	}
	if want := r.staying(); !slices.Equal(want, w.list) || len(want) < min(r.Wanted, fit(len(r.Members))) {
		w.fail("voters %v, and the record wants %v", w.list, want)
	}
}
