package raft

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/engine"
)

// A store is empty, somebody's, and empty again.
func TestKeeper(t *testing.T) {
	for _, s := range []Storage{&Memory{}, &Disk{}} {
		k := &Keeper{Storage: s, Election: 10, Heartbeat: 1, MaxLog: 100}
		machine := &proc{w: &world{truth: map[uint64]uint64{}}}
		is := func(group, id uint64) {
			t.Helper()
			if g, v, err := k.Identity(); g != group || v != id || err != nil {
				t.Errorf("%T is that of %d in %d, not %d in %d: %v", s, v, g, id, group, err)
			}
		}
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		is(0, 0)
		if log, err := k.Open(machine, 1); !errors.Is(err, ErrUnborn) || log != nil {
			t.Errorf("an empty store opens: %v", err)
		}
		ok(k.Found(7, 64, machine.Snapshot()))
		is(7, 64)
		if err := k.Join(7, 65); !errors.Is(err, ErrBorn) {
			t.Errorf("a store is born twice: %v", err)
		}
		log, err := k.Open(machine, 1)
		ok(err)
		ok(log.Tick())
		out, err := log.Flush()
		if ok(err); !out.Lead.Settled || out.Lead.Leader != 64 || !slices.Equal(out.Lead.Voters, []uint64{64}) {
			t.Errorf("one who votes alone does not lead at once: %+v", out.Lead)
		}
		ok(k.Erase())
		is(0, 0)
		ok(k.Join(8, 128))
		is(8, 128)
	}
}

// A store that is damaged is nobody's, and can be emptied.
func TestKeeperDamaged(t *testing.T) {
	d := &Disk{}
	m := &Memory{state: State{Group: 1, ID: 1, Hard: Hard{Commit: 5}}}
	if err := Bootstrap(d, 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	d.Rot(100)
	for _, s := range []Storage{d, m} {
		k := &Keeper{Storage: s}
		if _, _, err := k.Identity(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%T is not damaged: %v", s, err)
		}
		if err := k.Erase(); err != nil {
			t.Error(err)
		}
		if g, id, err := k.Identity(); g != 0 || id != 0 || err != nil {
			t.Errorf("%T is not empty: %d %d %v", s, g, id, err)
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

var _ engine.Machine = (*proc)(nil)
