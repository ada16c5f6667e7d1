package peer

import "github.com/stile-lock/stile/internal/member"

// How voters of a live cluster count, in ticks: a leader is heard every Heartbeat
// of them, and doubted when it was silent for Election, or up to twice as many.
const (
	Election  = 10
	Heartbeat = 3
)

// ticksPerRenewal is how often a voter looks around while a member renews once.
const ticksPerRenewal = 20

// Fit returns how often a voter looks around and how patient links are, for the
// settings of a cluster. Long leases do not make elections long.
func Fit(s member.Settings) (tick member.Span, links member.SessionLimits) {
	return min(s.Renew/ticksPerRenewal, 100*member.Millisecond),
		member.SessionLimits{Patience: min(s.Renew/4, 200*member.Millisecond), Complain: s.Lease / 4}
}
