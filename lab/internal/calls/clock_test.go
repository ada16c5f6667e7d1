package calls

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// rushing is a clock that goes by so much whenever somebody looks at it, while the
// timers of the machine see no time go by: as in a page, where none can run out.
func rushing(by time.Duration) func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(by)
		return now
	}
}

const long = `"algorithm token-ring\nprocesses 5\nat 0 P1 asks\nuntil 1000\n"`

// TestLimitsByTheClock: what takes too long ends by the clock alone, and says so.
func TestLimitsByTheClock(t *testing.T) {
	nightly.Only(t)
	for _, c := range []struct{ name, body, slow, fast string }{
		{"run", `{"text":` + long + `}`, `{"error":{"line":0,"col":0,"text":"the run takes too long here`, `"keys"`},
		{"act", `{"text":` + long + `,"event":900,"deed":{"verb":"ask","proc":2}}`, "the run takes too long to get there", "P3 asks"},
		{"check", `{"text":"algorithm lamport\nprocesses 3\n"}`, explore.Interrupted, `"verdict":"holds`},
		{"compare", `{"algorithms":["raymond","lamport"],"n":[9],"entries":500}`, `"stopped":true`, `"messages_per_entry"`},
	} {
		for want, by := range map[string]time.Duration{c.slow: 20 * time.Second, c.fast: time.Nanosecond} {
			lines := lines(t, &Calls{Workers: 1, Time: time.Minute, now: rushing(by)}, c.name, c.body)
			if last := string(lines[len(lines)-1]); !strings.Contains(last, want) {
				t.Errorf("%s: want %q, got %.300s", c.name, want, last)
			}
		}
	}
}

// TestSameRunEverywhere: a text leads to the same run on slow machines, where that takes two
// thirds of the time of a call, and on fast ones.
func TestSameRunEverywhere(t *testing.T) {
	looks := time.Duration(0)
	run := func(by time.Duration) string {
		clock := rushing(by)
		c := &Calls{now: func() time.Time { looks++; return clock() }}
		return string(lines(t, c, "run", `{"text":`+long+`}`)[0])
	}
	fast := run(1)
	if looks < 100 {
		t.Fatalf("the clock was read %d times", looks)
	}
	if slow := run(CallTime * 2 / 3 / looks); slow != fast {
		t.Errorf("%d bytes on a slow machine, want %d", len(slow), len(fast))
	}
}

// TestTimersAreNotEnough: with the context that package context makes, the same goes on.
func TestTimersAreNotEnough(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), CallTime)
	defer cancel()
	now := rushing(2 * time.Second)
	c := &clocked{ctx, now().Add(CallTime), now}
	over := false
	for range 20 {
		over = over || c.Err() != nil
	}
	if !over || ctx.Err() != nil {
		t.Errorf("after 40 s by the clock: %v, and without it %v", c.Err(), ctx.Err())
	}
	if stop, cancel := stoppable(c); stop.Err() == nil {
		t.Error("what is derived from it goes on")
	} else {
		cancel()
	}
}
