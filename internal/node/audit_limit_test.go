package node

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/transport"
)

// audited returns an audit that writes to a buffer.
func audited() (*audit, *bytes.Buffer) {
	var b bytes.Buffer
	return &audit{log: slog.New(slog.NewTextHandler(&b, nil))}, &b
}

// What a caller is denied is in the log, whatever others do: callers without an identity from
// many addresses, identities from many addresses, and many other requests of its own.
func TestNoiseHidesNothing(t *testing.T) {
	a, b := audited()
	web := cert.Identity{Kind: cert.IsClient, Name: "web"}
	for i := range 3 * maxCallers {
		from := fmt.Sprintf("10.%d.%d.%d:99", i>>16, i>>8&255, i&255)
		a.denied(Caller{From: from}, "lock", "noise")
		a.denied(Caller{From: from}, "force-release", "noise")
		a.denied(Caller{From: from, Identity: cert.Identity{Kind: cert.IsClient, Name: "noisy"}}, "force-release", "noise")
		a.denied(Caller{From: "10.9.9.9:1", Identity: web}, "lock", "noise")
	}
	for what, who := range map[string]Caller{
		"client": {From: "10.9.9.9:1", Identity: web},
		"token":  {From: "10.9.9.9:1", Identity: cert.Identity{Kind: cert.IsClient, Name: "ci", Token: true}},
		"admin":  {From: "10.9.9.9:1", Identity: cert.Identity{Kind: cert.IsAdmin, Name: "alice"}},
	} {
		a.denied(who, "force-release", "signal of "+what)
		if !strings.Contains(b.String(), "signal of "+what) {
			t.Errorf("a denied force-release of a %s is not in the log", what)
		}
	}
	// There are not more lines than a disk can take, nor more callers than memory.
	if lines := strings.Count(b.String(), "\n"); lines > 4*1000 {
		t.Errorf("%d lines", lines)
	}
	for key, table := range a.limits.tables {
		if len(table.callers) > maxCallers || table.order.Len() != len(table.callers) {
			t.Errorf("%v: %d callers are remembered", key, len(table.callers))
		}
	}
	// What was carried out is never left out.
	for i := range 3 * maxCallers {
		a.done(Caller{Identity: cert.Identity{Kind: cert.IsAdmin, Name: "alice"}}, "evict", nil, "number", i)
	}
	if done := strings.Count(b.String(), "request carried out"); done != 3*maxCallers {
		t.Errorf("%d orders of %d are in the log", done, 3*maxCallers)
	}
}

// A flood is over when it is over: addresses that come later have lines of their own, and what
// was left out is counted.
func TestFloodsPass(t *testing.T) { synctest.Test(t, floodsPass) }

func floodsPass(t *testing.T) {
	a, b := audited()
	flood := func(from string) {
		for range 100 {
			a.denied(Caller{From: from}, "lock", "noise of "+from)
		}
	}
	flood("[2001:db8:1:1::1]:5")
	flood("[2001:db8:1:1:ffff::2]:6") // of the same network
	flood("[2001:db8:1:2::1]:5")
	flood("10.0.0.1:7")
	if text := b.String(); strings.Count(text, "2001:db8:1:1:") != 20 || strings.Count(text, "2001:db8:1:2:") != 20 || strings.Count(text, "10.0.0.1") != 20 {
		t.Errorf("%d, %d and %d mentions", strings.Count(text, "2001:db8:1:1:"), strings.Count(text, "2001:db8:1:2:"), strings.Count(text, "10.0.0.1"))
	}
	b.Reset()
	for i := range 2 * maxCallers { // they replace those that have been silent for longest
		a.denied(Caller{From: fmt.Sprintf("10.1.%d.%d:99", i>>8, i&255)}, "lock", "noise")
	}
	time.Sleep(2 * transport.RefrainPeriod)
	a.denied(Caller{From: "10.2.0.0:99"}, "lock", "later")
	left := 2*maxCallers + 1 // these, apart from the lines of
	for line := range strings.Lines(b.String()) {
		left--
		for _, key := range []string{" suppressed=", " suppressed_of_others="} {
			var n int
			if _, count, ok := strings.Cut(line, key); ok {
				fmt.Sscan(count, &n)
			}
			left -= n
		}
	}
	if left += 4*100 - 3*10; left != 0 {
		t.Errorf("%d denied requests are neither in the log nor counted", left)
	}
}
