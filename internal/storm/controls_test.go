package storm

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// Each rule that hosts and the view service have to keep is found broken by the
// storm when it is: within so many seeds.
func TestControls(t *testing.T) {
	for _, x := range []struct {
		name  string
		wrong Misreading
		link  member.LinkMisreading
		seeds uint64
	}{
		{name: "a view names only the last ghosts", wrong: LastGhosts, seeds: 100},
		{name: "the evicted are renewed", wrong: RenewEvicted, seeds: 100},
		{name: "the evicted join again", wrong: ReadmitGhosts, seeds: 100},
		{name: "the service counts leases too short", wrong: ShortLease, seeds: 100},
		{name: "the service counts leases without a margin", wrong: NoMargin, seeds: 1000},
		{name: "a ghost's rest is too short", wrong: EarlyRest, seeds: 100},
		{name: "holds are kept over a new start", wrong: KeepHolds, seeds: 100},
		{name: "an incarnation is used again", wrong: SameInc, seeds: 100},
		{name: "a client counts from the answer", wrong: LateClient, seeds: 1000},
		{name: "nobody complains", wrong: NoComplaint, seeds: 400},
		{name: "the resource has no fence", wrong: NoFence, seeds: 100},
		{name: "nothing is sent again", link: member.LinkNoResend, seeds: 200},
		{name: "what comes twice is taken twice", link: member.LinkNoDedupe, seeds: 100},
		{name: "what comes early is confirmed and dropped", link: member.LinkNewerConfirmed, seeds: 100},
		{name: "what comes late is taken", link: member.LinkOlderAccepted, seeds: 100},
	} {
		found := false
		for seed := range x.seeds {
			c := pick(seed)
			Misread(&c, x.wrong)
			if x.link != 0 {
				c.Made = func(_ *member.Member, s *member.Sessions) { member.MisreadLinks(s, x.link) }
			}
			r, err := Run(c)
			if err != nil {
				t.Fatal(err)
			}
			if found = r.Violation != nil; found {
				t.Logf("%s: seed %d, %s: %v", x.name, seed, c.Algorithms[0].Algorithm, r.Violation)
				break
			}
		}
		if !found {
			t.Errorf("%s: not found in %d seeds", x.name, x.seeds)
		}
	}
}
