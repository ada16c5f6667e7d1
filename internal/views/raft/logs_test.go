package raft

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/views"
)

// A storage is empty, holds a voter, and is empty again.
func TestLogs(t *testing.T) {
	logs := Logs{Election: 10, Heartbeat: 1, MaxLog: 100}
	for _, s := range []Storage{&Memory{}, &Disk{}} {
		machine := &proc{w: &world{truth: map[uint64]uint64{}}}
		is := func(group, id uint64) []byte {
			t.Helper()
			state, err := Read(s)
			g, v, bad := logs.Voter(state)
			if g != group || v != id || err != nil || bad != nil {
				t.Errorf("%T is that of %d in %d, not %d in %d: %v %v", s, v, g, id, group, err, bad)
			}
			return state
		}
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		if log, err := logs.Start(is(0, 0), machine, 1); !errors.Is(err, ErrUnborn) || log != nil {
			t.Errorf("a voter starts without a state: %v", err)
		}
		ok(bootstrap(s, 7, 64, machine.Snapshot()))
		log, err := logs.Start(is(7, 64), machine, 1)
		ok(err)
		ok(log.Tick())
		out, err := log.Flush()
		ok(err)
		for len(out.Saves) > 0 {
			if out.Lead.Serves {
				t.Error("a voter serves before its vote is saved")
			}
			for _, save := range out.Saves {
				ok(Write(s, save.Record))
				ok(log.Saved(save.Number))
			}
			out, err = log.Flush()
			ok(err)
		}
		if !out.Lead.Settled || out.Lead.Leader != 64 || !slices.Equal(out.Lead.Voters, []uint64{64}) {
			t.Errorf("the only voter does not lead as soon as it can: %+v", out.Lead)
		}
		ok(s.Erase())
		is(0, 0)
		ok(join(s, 8, 128))
		is(8, 128)
	}
}

// A storage that is damaged is not read, and can be emptied.
func TestDamagedState(t *testing.T) {
	d := &Disk{}
	m := &Memory{state: State{Group: 1, ID: 1, Hard: Hard{Commit: 5}}}
	if err := bootstrap(d, 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	d.Rot(100)
	for _, s := range []Storage{d, m} {
		if _, err := Read(s); !errors.Is(err, ErrDamaged) {
			t.Errorf("%T is not damaged: %v", s, err)
		}
		if err := s.Erase(); err != nil {
			t.Error(err)
		}
		if b, err := Read(s); len(b) != 0 || err != nil {
			t.Errorf("%T is not empty: %x %v", s, b, err)
		}
	}
}

// look is Load without any trace.
func (d *Disk) look() (State, error) {
	c := &Disk{medium: medium{files: [2][]sector{slices.Clone(d.medium.read(0)), slices.Clone(d.medium.read(1))}}}
	return c.Load()
}

// Erasing a disk may stop at each of its operations. The disk then holds all that it
// held, damage included, or nothing.
func TestErase(t *testing.T) {
	kept, gone := 0, 0
	for seed := range uint64(600) {
		for at := 1; ; at++ {
			_, _, d := crashPoint(seed, 1+int(seed%90), Stop)
			if seed%5 == 0 {
				d.Rot(seed * 0x9e3779b97f4a7c15)
			}
			if seed%2 == 0 {
				_, _ = d.Load()
			}
			d.Restart(true, func() bool { return true })
			was, damage := d.look()
			left := at
			d.Meet(func() Trouble {
				if left--; left == 0 {
					return []Trouble{Stop, SyncError}[seed%2]
				}
				return Fine
			})
			done := d.Erase() == nil
			d.Meet(nil)
			coin := rand.New(rand.NewPCG(seed, uint64(at)))
			d.Restart(true, func() bool { return coin.IntN(2) == 0 })
			switch now, err := d.Load(); {
			case err == nil && now.ID == 0:
				gone++
			case done, (err == nil) != (damage == nil), err == nil && !same(now, was):
				t.Fatalf("seed %d, operation %d: neither all nor nothing: %v", seed, at, err)
			default:
				kept++
			}
			if done {
				break
			}
		}
	}
	if kept == 0 || gone == 0 {
		t.Errorf("%d kept, %d gone: both must occur", kept, gone)
	}
}

var _ views.Machine = (*proc)(nil)
