package process

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// Ticks of voters and the patience of links follow the renewals, up to a bound, and
// complaints the lease.
func TestTimes(t *testing.T) {
	const ms = member.Millisecond
	for _, x := range []struct {
		lease, renew, tick, patience, complain member.Span
	}{
		{10_000 * ms, 2000 * ms, 100 * ms, 200 * ms, 2500 * ms},
		{60_000 * ms, 9000 * ms, 100 * ms, 200 * ms, 15_000 * ms},
		{1000 * ms, 200 * ms, 10 * ms, 50 * ms, 250 * ms},
	} {
		s := member.Usual()
		s.Lease, s.Renew = x.lease, x.renew
		limits := linkLimits(s, member.LinkLimits{Bytes: 7})
		if Tick(s) != x.tick || limits.Patience != x.patience || limits.Complain != x.complain || limits.Bytes != 7 {
			t.Errorf("lease %v: a tick of %v, limits %+v", x.lease, Tick(s), limits)
		}
	}
}
