package member

import (
	"fmt"

	"github.com/stile-lock/stile/internal/codec"
)

// Settings are the times and bounds that all members of a cluster agree on. Check has
// the conditions that they must meet; docs/guarantees.md has the reasons.
type Settings struct {
	Lease    Span  // how long a member may act after a confirmed renewal was sent
	Renew    Span  // interval between renewals
	Drift    int64 // maximum deviation of a clock's rate from true time, in millionths
	Act      int64 // per cent of the lease, at its end, in which nothing is begun and holds are given up
	Handover int   // number of local waiters that enter in a row while others wait
	ViewLife Span  // minimum life of a view, unless members die
	Replace  Span  // how long a voter may be absent before another member replaces it
}

// Usual returns the default settings.
func Usual() Settings {
	return Settings{Lease: 10 * Second, Renew: 2 * Second, Drift: 10_000, Act: 10, Handover: 16, ViewLife: Second, Replace: 600 * Second}
}

// Check reports why such settings cannot work.
func (s Settings) Check() error {
	switch {
	case s.Lease < 10*Millisecond || s.Lease > 3600*Second:
		return fmt.Errorf("lease of %v: want 10ms to 1h", s.Lease)
	case s.Renew < Millisecond || 3*s.Renew > s.Lease:
		return fmt.Errorf("renewal every %v with a lease of %v: want at least 1ms, and at most a third of the lease, so that one renewal may be lost", s.Renew, s.Lease)
	case s.Drift < 0 || s.Drift > 100_000:
		return fmt.Errorf("clock drift of %d millionths: want 0 to 100000", s.Drift)
	case s.Act < 1 || s.Act > 50:
		return fmt.Errorf("%d percent of a lease reserved to act: want 1 to 50", s.Act)
	case s.Renew > s.Lease-s.act()-s.Renew:
		return fmt.Errorf("renewal every %v, with a lease of %v and %d percent of it reserved to act: leases would expire before they are renewed", s.Renew, s.Lease, s.Act)
	case s.Handover < 1 || s.Handover > 1_000_000:
		return fmt.Errorf("%d local handovers in a row: want 1 to 1000000", s.Handover)
	case s.ViewLife < 0 || s.ViewLife > s.Lease:
		return fmt.Errorf("minimum view life of %v with a lease of %v: want 0 to the lease", s.ViewLife, s.Lease)
	case s.Replace < s.Lease || s.Replace > MaxSpan:
		return fmt.Errorf("replacement of absent voters after %v: want at least the lease, %v, and at most %v", s.Replace, s.Lease, MaxSpan)
	}
	return nil
}

// act is how long before its end a lease is no longer acted on.
func (s Settings) act() Span { return s.Lease / 100 * Span(s.Act) }

// Patience is how long a process that counts a member's lease must wait, by its own
// clock, from when the renewal arrived: longer than the member may act.
func (s Settings) Patience() Span { return s.stretch(s.Lease, s.Drift, -s.Drift) }

// outwait is the longest that a span of true time may take by the member's clock.
func (s Settings) outwait(rest Span) Span { return s.stretch(rest, s.Drift, 0) }

// within returns a span that ends by another clock before d ends by the member's.
func (s Settings) within(d Span) Span { return max(0, s.stretch(d, -s.Drift, s.Drift)-1) }

// stretch returns d * (1+up) / (1+down), rounded up, the rates in millionths.
func (s Settings) stretch(d Span, up, down int64) Span {
	const million = 1_000_000
	over := Span(million + down)
	whole, part := d/over, d%over // no product overflows for spans up to a day
	return whole*Span(million+up) + (part*Span(million+up)+over-1)/over
}

// Code writes or reads a span.
func (d *Span) Code(c *codec.Coder) { codec.Within(c, d, 0, uint64(MaxSpan)) }

// String formats a span.
func (d Span) String() string {
	switch {
	case d%Second == 0:
		return fmt.Sprintf("%ds", d/Second)
	case d%Millisecond == 0:
		return fmt.Sprintf("%dms", d/Millisecond)
	}
	return fmt.Sprintf("%dns", int64(d))
}
