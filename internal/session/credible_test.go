package session

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A step is a token that arrives some time after the one before.
type step struct {
	after   member.Span
	cluster uint64
	epoch   uint64
	refused bool
}

// A client believes no token of an epoch that its cluster cannot have reached.
func TestEpochsAreCredible(t *testing.T) {
	start := member.Instant(5 * member.Second)
	for name, x := range map[string]struct {
		newest uint64
		steps  []step
	}{
		"one after the other": {0, []step{{0, 1, 1, false}, {0, 1, 1 << 62, true}, {0, 1, 2 + viewSlack, true}, {0, 1, 1 + viewSlack, false}, {0, 1, 2 + 2*viewSlack, true}, {0, 1, 1, false}}},
		"after a while":       {0, []step{{0, 1, 1, false}, {20 * viewPace, 1, 22 + viewSlack, true}, {0, 1, 21 + viewSlack, false}}},
		"recovered":           {0, []step{{0, 1, 1, false}, {0, 2, 1 << 40, false}, {0, 2, 1 << 62, true}}},
		"late of the lost":    {0, []step{{0, 1, 1, false}, {0, 2, 1 << 40, false}, {0, 1, 7, false}, {0, 2, 1<<40 + 1, false}}},
		"first of the lost":   {0, []step{{0, 2, 1 << 40, false}, {0, 3, 1 << 50, false}, {0, 2, 1 << 41, false}, {0, 3, 1<<50 + 1, false}}},
		"by the clock":        {1_000_000, []step{{0, 1, 1 << 62, true}, {0, 1, 1_000_001, true}, {10 * ms, 1, 1_000_011, true}, {0, 1, 1_000_010, false}}},
		"recovered, clock":    {1_000_000, []step{{0, 1, 1, false}, {0, 2, 1 << 40, true}, {0, 2, 999_999, false}}},
		"nothing is known":    {0, []step{{0, 1, 1 << 62, false}}},
	} {
		g, err := NewClient(start, ClientConfig{Nodes: []string{"a"}, Newest: x.newest})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range x.steps {
			g.cluster, g.now = max(g.cluster, s.cluster), g.now+member.Instant(s.after)
			for _, kind := range []Kind{Held, Delegated} {
				err := g.believe(&attachment{cluster: s.cluster}, &Frame{Kind: kind, Token: member.Token{Epoch: s.epoch, Count: 1}})
				if errors.As(err, new(*EpochError)) != s.refused || (err != nil) != s.refused {
					t.Errorf("%s: epoch %d: %v", name, s.epoch, err)
				}
			}
		}
	}
}

// A node that grants such a token is left, and the lock is not acquired.
func TestIncredibleGrant(t *testing.T) {
	p := newPair(t, ClientConfig{})
	p.connect()
	p.told(p.lock("a", Opts{}))
	number, err := p.g.Lock(p.now, "b", Opts{})
	if err != nil {
		t.Fatal(err)
	}
	lie := (&Frame{Kind: Held, Number: number, Token: member.Token{Epoch: 1 << 62, Count: 1}}).AppendTo(nil)
	if err := p.g.Receive(p.now, p.g.cur.conn, lie); !errors.As(err, new(*EpochError)) || p.g.find(number).state != wanted {
		t.Errorf("%v; the request is in state %v", err, p.g.find(number).state)
	}
}
