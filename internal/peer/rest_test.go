package peer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
)

// A drowsy store opens a log that promises more rest than there is.
type drowsy struct {
	engine.Store
	more int
}

type drowsyLog struct {
	engine.Log
	more int
}

func (s drowsy) Open(m engine.Machine, seed uint64) (engine.Log, error) {
	l, err := s.Store.Open(m, seed)
	return drowsyLog{l, s.more}, err
}

func (l drowsyLog) Rest() int { return l.Log.Rest() + l.more }

// A chronicle is all that is sent in a village that loses its leader, and how often
// those who follow are woken in quiet times.
func chronicle(t *testing.T, all bool, more int) (sent []string, woken int) {
	w := village(t, 3, "a", "b", "c")
	for _, h := range w.houses {
		h.restart(t, more)
	}
	w.until("somebody leads", func() bool { return w.leader() != nil })
	w.seen = func(p parcel) {
		if p.bytes[0] == Post {
			sent = append(sent, fmt.Sprintf("%d %s %s %x", w.now, p.from, p.to, p.bytes))
		}
	}
	pass := func(ticks int) {
		for range ticks * 5 {
			for _, h := range w.houses {
				if all && !h.down {
					h.Wake(w.now)
				}
				if h != w.leader() && !h.down && h.Due() <= w.now+ms {
					woken++
				}
			}
			w.step()
		}
	}
	pass(100)
	quiet := woken
	w.leader().down = true
	pass(60)
	return sent, quiet
}

// restart opens a process anew, with a log that promises more rest.
func (h *house) restart(t *testing.T, more int) {
	h.Peer.config.Store = drowsy{h.disk, more}
	p, err := New(h.w.now, h.Peer.config)
	if err != nil {
		t.Fatal(err)
	}
	h.Peer = p
	h.must(h.Join(h.w.now, uint64(h.w.now)))
}

// A voter sleeps through the ticks that nothing comes of, and says the same at the same
// time as one that is woken for each.
func TestRest(t *testing.T) {
	awake, _ := chronicle(t, true, 0)
	asleep, woken := chronicle(t, false, 0)
	if !slices.Equal(awake, asleep) {
		t.Errorf("who sleeps says %d things, who does not %d:\n%s", len(asleep), len(awake), firstOther(asleep, awake))
	}
	if len(asleep) < 100 {
		t.Errorf("only %d messages of voters: nothing was tried", len(asleep))
	}
	t.Logf("%d messages; two followers were woken %d times in 100 ticks", len(asleep), woken)
	if woken > 100 {
		t.Errorf("two followers were woken %d times in 100 ticks, as if they slept through none", woken)
	}
	if late, _ := chronicle(t, false, 3); slices.Equal(awake, late) {
		t.Error("a voter that sleeps for three ticks too long is not found out")
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

// A process that stood still hears what has come for it before it doubts its leader.
func TestStoodStill(t *testing.T) {
	w := village(t, 3, "a", "b", "c")
	lead := w.leader()
	var h *house
	for _, o := range w.houses {
		if o != lead {
			h = o
		}
	}
	var posts int
	w.seen = func(p parcel) {
		if p.from == h.name && p.bytes[0] == Post {
			posts++
		}
	}
	w.now += member.Instant(member.Second) // nobody runs: the machine is suspended
	h.Wake(w.now)
	if posts > 0 || h.Due() <= w.now {
		t.Errorf("it says %d things to other voters before it has heard anything, and wants to be woken %d later", posts, h.Due()-w.now)
	}
	if w.until("it hears its leader", func() bool { return h.Clerk().Lead().Leader == lead.Clerk().ID() }); h.Clerk().Lead().Term != lead.Clerk().Lead().Term {
		t.Error("the term has changed")
	}
}
