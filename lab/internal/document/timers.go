package document

import (
	"slices"

	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// ticking notes which timers run after a step, if they have changed.
func (r *recorder) ticking(s *sim.Step) {
	died := r.spec.Upset != nil && slices.ContainsFunc(s.Events, func(e trace.Event) bool { return e.Kind == trace.Crash || e.Kind == trace.Restart })
	if !s.Ticks && !died {
		return
	}
	for i, now := range r.timers(s) {
		if l := &r.lanes[i]; !slices.Equal(l.timers, now) {
			l.timers = now
			r.bytes += 16 * len(now)
			r.delta(Delta{Event: r.seen, Proc: i, Timers: &now})
		}
	}
}

// timers returns the timers of each lane that can expire now. If an algorithm stabilizes by
// itself, timer 0 of every live lane always can.
func (r *recorder) timers(s *sim.Step) [][]Timer {
	all := make([][]Timer, len(r.lanes))
	for i := range all {
		all[i] = []Timer{}
		if r.spec.Upset != nil && r.lanes[i].status != Crashed {
			all[i] = append(all[i], Timer{})
		}
	}
	for _, a := range s.Timers() {
		if t := (Timer{a.Timer, a.Section}); !slices.Contains(all[a.Proc], t) {
			all[a.Proc] = append(all[a.Proc], t)
		}
	}
	return all
}

// tick puts the timers of a lane into a key frame.
func (k *Key) tick(i int, timers []Timer) {
	if k.Timers == nil && len(timers) > 0 {
		k.Timers = make([][]Timer, len(k.States))
		for j := range k.Timers {
			k.Timers[j] = []Timer{}
		}
	}
	if k.Timers != nil {
		k.Timers[i] = slices.Clone(timers)
	}
}
