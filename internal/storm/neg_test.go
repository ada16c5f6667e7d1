package storm

import (
	"fmt"
	"os"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

func TestNeg(t *testing.T) {
	if os.Getenv("NEG") == "" {
		t.Skip()
	}
	names := []string{"NoTouch", "Reborn", "StaleReport", "NoReports", "MostReports", "NotOnBehalf", "NoGhosts", "NoLendee", "CountClears", "AnyWitness", "UntouchedProves", "NoReleased", "NoOrder", "LeftInOrder", "NoDone", "KeepsLost", "Unleased", "ReportsPending", "FromReceipt", "NoDrift", "LeaverEnters", "CountStays", "HandoverSame", "UnlockAny", "AskOnce", "CancelLeaks", "TriesStay", "NoBound", "NotNested"}
	for i, name := range names {
		fmt.Println(name, hits(300, func(c *Config) {
			c.Made = func(m *member.Member, _ *member.Sessions) { member.Misread(m, 1<<i) }
		}))
	}
	for i, name := range []string{"LinkNoResend", "LinkNoDedupe", "LinkNewerConfirmed", "LinkOlderAccepted"} {
		fmt.Println(name, hits(300, func(c *Config) {
			c.Made = func(_ *member.Member, s *member.Sessions) { member.MisreadLinks(s, 1<<i) }
		}))
	}
	for i, name := range []string{"LastGhosts", "RenewEvicted", "ReadmitGhosts", "ShortLease", "EarlyRest", "KeepHolds", "SameInc", "LateClient", "NoComplaint", "NoFence"} {
		fmt.Println(name, hits(300, func(c *Config) { Misread(c, 1<<i) }))
	}
}

func hits(n int, f func(c *Config)) string {
	sum := map[Invariant]int{}
	for seed := range n {
		c := pick(uint64(seed))
		f(&c)
		r, err := Run(c)
		if err != nil {
			return err.Error()
		}
		if r.Violation != nil {
			sum[r.Violation.Invariant]++
		}
	}
	return fmt.Sprint(sum)
}
