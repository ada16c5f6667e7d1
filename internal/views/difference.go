package views

import "slices"

// A Difference is how the members of a view differ from those of an earlier one.
type Difference struct {
	Joined   []Member
	Evicted  []Member // their leases may still run
	Left     []Member // or they have stopped, or their leases have expired since they were evicted
	Promoted []Member // they vote, and did not before
	Retired  []Member // they no longer vote
}

// Since returns how the members differ from those of an earlier view.
func (r *Record) Since(old []Member) (d Difference) {
	for _, m := range r.Members {
		i := slices.IndexFunc(old, func(o Member) bool { return o.Inc == m.Inc })
		switch {
		case i < 0:
			d.Joined = append(d.Joined, m)
		case old[i].Voter == 0 && m.Voter != 0:
			d.Promoted = append(d.Promoted, m)
		case old[i].Voter != 0 && m.Voter == 0:
			d.Retired = append(d.Retired, m)
		}
	}
	for _, o := range old {
		switch {
		case r.Rank(o.Inc) >= 0:
		case slices.ContainsFunc(r.Ghosts, func(g Ghost) bool { return g.Inc == o.Inc }):
			d.Evicted = append(d.Evicted, o)
		default:
			d.Left = append(d.Left, o)
		}
	}
	return d
}
