package process

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

// drowsy logs promise more rest than there is.
type drowsy struct {
	views.Logs
	more int
}

type drowsyLog struct {
	views.Log
	more int
}

func (l drowsy) Start(state []byte, m views.Machine, seed uint64) (views.Log, error) {
	log, err := l.Logs.Start(state, m, seed)
	return drowsyLog{log, l.more}, err
}

func (l drowsyLog) Rest() int { return l.Log.Rest() + l.more }

// history returns all messages of a cluster that forms, works and loses its leader, and how
// often followers were woken in a quiet lease. If always is set, all nodes are woken all
// the time.
func history(t *testing.T, always bool, more int) (sent []string, woken int) {
	c := newCluster(t, 3, "a", "b", "c")
	c.logs = drowsy{c.logs, more}
	c.sent = func(m *message) { sent = append(sent, fmt.Sprintf("%d %s %s %x", c.now, m.from, m.to, m.bytes)) }
	if always {
		var wake func()
		wake = func() {
			for _, n := range c.nodes {
				if !n.down {
					n.step(Input{Kind: Wake})
				}
			}
			c.after(ms/2, wake)
		}
		c.after(ms/4, wake) // never at the same instant as something else: the order would be another one
	}
	for i, n := range c.nodes {
		n.boot(i == 0)
	}
	c.pass(3 * lease)
	followers := func() (n int) {
		for _, o := range c.nodes {
			if o != c.leader() {
				n += o.woken
			}
		}
		return n
	}
	before := followers()
	c.pass(lease)
	woken = followers() - before
	for _, n := range c.nodes {
		n.ask("x")
		n.ask("y")
	}
	c.pass(20 * ms)
	c.leader().crash()
	c.pass(2 * lease)
	return sent, woken
}

// A process sleeps through ticks that nothing comes of, and sends the same at the same
// time as one that is woken for each of them.
func TestRest(t *testing.T) {
	awake, _ := history(t, true, 0)
	asleep, woken := history(t, false, 0)
	if !slices.Equal(awake, asleep) {
		t.Errorf("processes that sleep send %d messages, others %d:\n%s", len(asleep), len(awake), firstOther(asleep, awake))
	}
	if len(asleep) < 500 {
		t.Errorf("only %d messages: nothing was tried", len(asleep))
	}
	ticks := int(lease / member.Instant(Tick(settings())))
	t.Logf("%d messages; two nodes were woken %d times in %d ticks", len(asleep), woken, ticks)
	if woken > ticks {
		t.Errorf("two nodes were woken %d times in %d ticks, as if they slept through none", woken, ticks)
	}
	if late, _ := history(t, false, 3); slices.Equal(awake, late) {
		t.Error("a voter that sleeps for three ticks too long is not noticed")
	}
}

func firstOther(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\n" + b[i]
		}
	}
	return "one has more at its end"
}

// A process that was suspended takes what has come for it before it doubts its leader.
func TestSuspended(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	lead, n := c.leader(), c.follower()
	sent := 0
	c.sent = func(m *message) {
		if m.from == n.name && m.bytes[0] == voterMessage {
			sent++
		}
	}
	c.queue = nil // what was in flight is lost with the connections
	c.now += 5 * lease
	n.step(Input{Kind: Wake})
	if sent > 0 || n.Out.Wake <= c.now {
		t.Errorf("it sends %d messages to voters before it has taken any, and wants to be woken %d later", sent, n.Out.Wake-c.now)
	}
	c.until("it hears its leader", func() bool { return n.Voter().Lead().Leader == lead.Voter().ID() })
	if n.Voter().Lead().Term != lead.Voter().Lead().Term {
		t.Error("the term has changed")
	}
}

// An input that nothing comes of leaves the time of the next wake as it is, however
// many ticks have passed: a process never sleeps forever.
func TestWakeStays(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.follower()
	for range 200 {
		c.pass(ms)
		wake := n.Out.Wake
		n.step(Input{Kind: Closed, Number: 1 << 40})
		if n.Out.Wake != wake {
			t.Fatalf("it was to be woken at %d, and now at %d", wake, n.Out.Wake)
		}
		n.step(Input{Kind: Cancel, Number: 1 << 40})
		n.step(Input{Kind: Unlock, Text: "nothing"})
		if n.Out.Wake > wake+member.Instant(settings().Renew) {
			t.Fatalf("it was to be woken at %d, and now at %d", wake, n.Out.Wake)
		}
	}
}
