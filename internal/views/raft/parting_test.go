package raft

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/views"
)

// pump delivers all that is on its way to some, once; the rest is lost.
func (w *world) pump(to ...uint64) {
	mail := w.mail
	w.mail = nil
	for _, p := range mail {
		if q := w.proc(p.to); slices.Contains(to, p.to) {
			w.must(q.node.Step(p.from, p.bytes))
			w.flush(q)
		}
	}
}

// While voters are removed, nothing is proposed. Otherwise the removed voters could have
// entries that the others lack, and know that they are removed, so that no voter ever
// leads: here 3, while it leads, ends its own vote and that of 4, and 1 and 2 do not hear
// of it.
func TestParting(t *testing.T) {
	w := grown(t, 1, 1000)
	w.revote(t, 1, 2, 3, 4)
	w.mail = nil
	one, three := w.proc(1), w.proc(3)
	w.must(one.node.Revote([]uint64{1, 2}))
	if err := one.node.Propose([]byte("x")); !errors.Is(err, ErrBusy) {
		t.Errorf("a proposal while voters go: %v", err)
	}
	w.flush(one)
	one.node.raw().TransferLeader(3)
	w.flush(one)
	for range 50 {
		if three.node.leads() && three.node.log.conf.Joint() && three.node.serves() == nil {
			break
		}
		w.pump(1, 2, 3, 4)
	}
	c := three.node.log.conf
	if !three.node.leads() || !slices.Equal(c.Voters, []uint64{1, 2}) || !slices.Equal(c.Outgoing, []uint64{1, 2, 3, 4}) {
		t.Fatalf("3 does not lead while it goes: %+v, %+v", three.node.Lead(), c)
	}
	w.pump(1, 2, 4) // the end of the change
	answers := w.mail
	w.mail = nil
	if err := three.node.Propose([]byte("x")); !errors.Is(err, ErrBusy) {
		t.Errorf("a proposal of one who goes: %v", err)
	}
	w.flush(three)
	w.pump(4)
	w.mail = answers
	w.pump(3)
	w.pump(4)
	if !removed(three.node) || !removed(w.proc(4).node) || removed(one.node) {
		t.Fatalf("3 and 4 alone should know that they have gone: %+v", three.node.log.conf)
	}
	w.mail = nil
	w.rest(t, bound)
	if w.leader() == nil {
		t.Error("no voter leads any more")
	}
}

// A change of voters ends even if the leader was handing over when it could have been
// ended, and no other voter takes over.
func TestEndOfChange(t *testing.T) {
	w := grown(t, 1, 1000)
	w.revote(t, 1, 2, 3, 4)
	w.mail = nil
	one := w.proc(1)
	w.must(one.node.Revote([]uint64{1, 2}))
	w.flush(one)
	one.node.raw().TransferLeader(3)
	w.proc(3).end()
	w.flush(one)
	for range 5 {
		w.pump(1, 2, 4)
	}
	if c := one.node.log.conf; !c.Joint() || one.node.log.applied != one.node.last {
		t.Fatalf("the change should be in force and not ended: %+v", c)
	}
	w.rest(t, bound)
	if c := one.node.log.conf; c.Joint() {
		t.Errorf("the change never ends: %+v", c)
	}
}

// A leader sends a voter that is being removed nothing that its own disk does not have.
// Otherwise it could crash; that voter would have entries that all others lack, and know
// that it no longer votes, and no voter would get the votes to lead.
func TestWithheld(t *testing.T) {
	w := grown(t, 1, 1000)
	w.revote(t, 1, 2, 3, 4)
	one := w.proc(1)
	w.must(one.node.Revote([]uint64{1, 2}))
	out, err := one.node.Flush()
	if err != nil {
		t.Fatal(err)
	}
	entries := func(out views.LogOut) (to []uint64) {
		for _, p := range out.Send {
			if m, err := unpack(group, 1, p.To, p.Bytes); err == nil && len(m.GetEntries()) > 0 {
				to = append(to, p.To)
			}
		}
		slices.Sort(to)
		return to
	}
	if to := entries(out); !slices.Equal(to, []uint64{2}) || len(out.Saves) != 1 {
		t.Errorf("before the save entries go to %d: want them to go to 2, which stays", to)
	}
	w.must(Write(one.disk, out.Saves[0].Record))
	w.must(one.node.Saved(out.Saves[0].Number))
	if out, err = one.node.Flush(); err != nil {
		t.Fatal(err)
	}
	if to := entries(out); !slices.Equal(to, []uint64{3, 4}) {
		t.Errorf("after the save entries go to %d: want 3 and 4", to)
	}
}
