package measure

import (
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
)

// slowest is the maximum latency of a message.
const slowest = 3 * T / 2

// tries is the number of elections that may be needed. An election fails if two begin at
// the same time, or if a voter has heard from the old leader just before.
const tries = 3

// election returns the maximum time until another leader serves, if this many tries are
// needed: followers wait for a silent leader for up to twice process.Election.
func (g *Group) election(tries int64) int64 {
	return tries*2*process.Election*int64(g.tick()) + 6*slowest
}

// finding returns the maximum time until a member has found the leader: it asks one process
// after another.
func (g *Group) finding() int64 { return int64(g.Members) * int64(g.Settings.Renew) / 4 }

// Keeps reports whether, by the bounds, no other member loses its lease if the leader
// crashes: members find the next leader before leases expire that were about to be renewed.
func (g *Group) Keeps(tries int64) bool {
	s := &g.Settings
	return int64(s.Renew)+g.election(tries)+g.finding()+int64(g.tick())+4*slowest < int64(s.Lease)*(100-s.Act)/100
}

// Bound returns the maximum times that an outage may cost, as they follow from the settings
// if messages are fast. A time of -1 means that the event must not occur.
func (o *Outage) Bound(g *Group) Outcome {
	s := &g.Settings
	tick, renew, patience := int64(g.tick()), int64(s.Renew), int64(s.Patience())
	b := Outcome{Next: -1, Serves: -1, Free: -1, Other: 10*T + 12*slowest, Renewal: tick + 4*slowest}
	if o.How == Leaving {
		b.View = int64(s.ViewLife) + 2*tick + 8*slowest
		b.Free = b.View + renew/4 + 2*slowest
		if o.held() {
			b.Next = 4 * slowest
		}
		if o.leads() || g.Voters == g.Members {
			b.Free += 4*renew + g.election(tries) // another voter takes its place first
		}
		if o.leads() {
			b.Serves = 4*renew + g.election(tries)
			b.Renewal += g.finding()
		}
		return b
	}
	late := int64(0) // how much later leases are counted from
	if o.leads() {
		late = g.election(tries)
		b.Serves = late
		b.Renewal += late + g.finding()
	}
	rest := patience / 2 // of the lease, when the process is evicted
	if o.leads() {       // its silence counts from before the election, its lease from after it
		rest = min(rest+late, patience-min(3*renew/2, rest))
	}
	rest += patience * s.Drift / 1_000_000
	b.Other += rest // if the lock is handed over when the view changes
	b.View = late + patience/2 + 2*tick + 8*slowest
	if o.held() {
		b.Next = b.View + rest + 12*slowest
	}
	return b
}

// within reports whether a bound allows a time.
func within(x, bound int64) bool { return x <= bound && (x < 0) == (bound < 0) }

// Within reports whether nothing took longer than a bound allows.
func (x *Outcome) Within(b *Outcome) bool {
	return within(x.Next, b.Next) && within(x.Other, b.Other) && within(x.Serves, b.Serves) && within(x.View, b.View) &&
		within(x.Renewal, b.Renewal) && within(x.Free, b.Free) && x.Lost <= b.Lost
}

// brief returns settings with a short lease.
func brief() member.Settings {
	s := member.Usual()
	s.Lease, s.Renew, s.ViewLife = s.Lease/10, s.Renew/10, s.ViewLife/10
	return s
}
