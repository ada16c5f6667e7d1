package process

import "github.com/stile-lock/stile/internal/member"

// Times of the voters of a live cluster, in ticks: a leader sends a heartbeat every
// Heartbeat ticks, and is doubted after a silence of Election ticks, or up to twice as
// many.
const (
	Election  = 10
	Heartbeat = 3
)

// ticksPerRenewal is the number of a voter's ticks for each renewal of a member.
const ticksPerRenewal = 20

// Tick returns the length of a voter's tick in a cluster with these settings. Long
// leases do not make elections long.
func Tick(s member.Settings) member.Span {
	return min(s.Renew/ticksPerRenewal, 100*member.Millisecond)
}

// linkLimits returns the limits of links, with the times that follow from these
// settings.
func linkLimits(s member.Settings, l member.LinkLimits) member.LinkLimits {
	l.Patience, l.Complain = min(s.Renew/4, 200*member.Millisecond), s.Lease/4
	return l
}
