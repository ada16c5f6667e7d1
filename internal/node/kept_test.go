package node

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
)

// An operator takes a kept lock from all its holders at the node.
func TestForceReleaseShared(t *testing.T) {
	n := start(t, 1, nil)[0]
	ctx, cancel := soon(t)
	defer cancel()
	var all []lock.Handle
	for range 3 {
		h, err := n.Lock(ctx, KeptPrefix+"x", lock.Options{Terms: member.Terms{Mode: deadlock.Shared}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	n.enter()
	r, err := n.forceRelease(KeptPrefix + "x")
	n.leave()
	if err != nil || r.Token != all[0].Token().String() {
		t.Errorf("%+v, %v", r, err)
	}
	for _, h := range all {
		if !errors.Is(h.Err(), lock.ErrLost) {
			t.Fatalf("still held: %v", h.Err())
		}
	}
	acquire(t, n, KeptPrefix+"x")
}

// What an ordinary lock cannot do, and what no lock can, is refused with a reason.
func TestKeptRefused(t *testing.T) {
	n := start(t, 1, nil)[0]
	ctx, cancel := soon(t)
	defer cancel()
	for name, x := range map[string]struct {
		terms member.Terms
		want  error
	}{
		"x":              {member.Terms{Mode: deadlock.Shared}, member.ErrOrdinary},
		"y":              {member.Terms{Tx: 1}, member.ErrOrdinary},
		KeptPrefix + "x": {member.Terms{Mode: 3, Units: 2}, member.ErrMode},
		KeptPrefix + "y": {member.Terms{Mode: 1, Units: member.MaxUnits + 1}, member.ErrMode},
	} {
		if _, err := n.Lock(ctx, name, lock.Options{Terms: x.terms}); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
