package process

import "github.com/stile-lock/stile/internal/live/member"

// How voters of a live cluster count, in ticks: a leader sends a heartbeat every
// Heartbeat ticks, and is doubted when it was silent for Election of them, or up to
// twice as many.
const (
	Election  = 10
	Heartbeat = 3
)

// ticksPerRenewal is how many ticks of a voter there are for each renewal of a member.
const ticksPerRenewal = 20

// Tick returns how long a voter's tick is in a cluster with these settings. Long
// leases do not make elections long.
func Tick(s member.Settings) member.Span {
	return min(s.Renew/ticksPerRenewal, 100*member.Millisecond)
}

// linkLimits returns how patient links are in a cluster with these settings.
func linkLimits(s member.Settings, l member.LinkLimits) member.LinkLimits {
	l.Patience, l.Complain = min(s.Renew/4, 200*member.Millisecond), s.Lease/4
	return l
}
