package model

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// Two different steps never have one number: what does not fit is not ok.
func TestStepKeys(t *testing.T) {
	type step struct {
		state uint32
		kind  host.InputKind
		from  algorithm.ID
		x     int // what it is about
	}
	var all []step
	for _, state := range []uint32{0, 1, maxBlobs - 1} {
		for _, from := range []algorithm.ID{algorithm.None, 0, maxSeats - 1, 253, 254, 255, 1 << 16} {
			for _, x := range []int{0, 1, 1 << 8, host.MaxTimer, 1<<24 - 1, 1 << 24, -1, 1 << 32, 1 << 60} {
				for _, kind := range []host.InputKind{host.Expire, host.Request, host.Hear, host.Receive} {
					all = append(all, step{state, kind, from, x})
				}
			}
		}
	}
	seen := map[uint64]step{}
	fit := 0
	for _, s := range all {
		in, msg := host.Input{Kind: s.kind, From: s.from}, uint32(0)
		switch s.kind {
		case host.Expire:
			in.Timer = s.x
		case host.Request:
			in.Arg = s.x
		case host.Hear:
			in.Time = uint64(s.x)
		case host.Receive:
			if s.x < 0 || s.x >= maxBlobs {
				continue
			}
			msg = uint32(s.x)
		}
		k, ok := stepKey(s.state, &in, msg)
		if !ok {
			continue
		}
		fit++
		if s.kind == host.Receive && receiveKey(s.state, s.from, msg) != k {
			t.Errorf("%+v has two numbers", s)
		}
		if other, taken := seen[k]; taken {
			t.Errorf("%+v and %+v have one number", s, other)
		}
		seen[k] = s
	}
	if fit == 0 || fit == len(all) {
		t.Errorf("%d of %d fit: this shows nothing", fit, len(all))
	}
}
