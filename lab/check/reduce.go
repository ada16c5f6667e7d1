package check

import (
	"slices"

	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// reduce proves properties without spent messages, if the Config asks for that and the
// model allows it, and returns those that remain to be checked with all messages: whether
// they accumulate, and everything if something is violated, because the shortest run to a
// violation may deliver spent messages.
func (r *run) reduce(watch string, list []family.Property) ([]family.Property, error) {
	here := slices.DeleteFunc(slices.Clone(list), func(p family.Property) bool { return p.Name == Channels })
	if !r.Reduce || len(here) == 0 {
		return list, nil
	}
	m, err := r.model(watch, false)
	if err != nil || !m.Reducible() {
		return list, err
	}
	l := r.remaining(passName(here) + " without spent messages")
	l.Stop = ^explore.Broken(0)
	m, e, err := m.ExploreUnspent(l)
	if err != nil || len(e.Broken) > 0 {
		return list, nil // it is found again
	}
	if e.Unfinished == "" && r.validate(m) != nil {
		return list, nil // and so is this
	}
	r.report.Reduced = true
	r.report.count(e.States)
	r.report.counted(e)
	r.hides(m)
	for _, p := range here {
		if err := r.judge(m, e, p); err != nil {
			return nil, err
		}
	}
	r.enters(m, e)
	return slices.DeleteFunc(slices.Clone(list), func(p family.Property) bool { return p.Name != Channels }), nil
}
