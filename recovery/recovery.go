package recovery

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
)

// A Lock makes an algorithm for mutual exclusion, whose coordinator, if it has
// one, is this seat of its view.
type Lock func(coordinator core.ID) core.Spec

// With makes a lock that survives deaths: after each one the highest process
// alive is elected and makes a new view of those who are alive.
//
// The idea of views is that of K. P. Birman, T. A. Joseph: Exploiting Virtual
// Synchrony in Distributed Systems. Proceedings of the 11th ACM Symposium on
// Operating Systems Principles, 1987, pages 123-138.
func With(lock Lock, elect core.Spec) core.Spec {
	spec := lock(0)
	spec.Name += "+" + elect.Name
	spec.Title += ", recovered by " + elect.Title
	spec.Network = core.FIFO
	spec.Spreads = false
	spec.Detects = true
	spec.Upset = nil
	spec.Theory.ME3, spec.Theory.Bypass = false, nil
	spec.Theory.Order += "; anew in each view"
	f := &family{lock: lock, locks: len(spec.Kinds), all: len(spec.Kinds) + len(elect.Kinds)}
	spec.Kinds = slices.Concat(spec.Kinds, elect.Kinds, []string{"REPORT", "VIEW"})
	spec.Plan = func(n int) (core.Birth, error) {
		for size := 1; size <= n; size++ {
			if err := lock(0).Accepts(size); err != nil {
				return nil, fmt.Errorf("when some have died: %w", err)
			}
		}
		vote, err := elect.Birth(n)
		if err != nil {
			return nil, err
		}
		return func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, newProcess(f, vote, self, v))
		}, nil
	}
	return spec
}

// A family is what all processes of one composition have in common.
type family struct {
	lock  Lock
	locks int // how many kinds of messages the lock has; those of the election come behind
	all   int // how many both have; then come REPORT and VIEW
}

// machine makes the lock of one seat. A view of any size up to the whole group
// has been tried by Plan.
func (f *family) machine(seat, coordinator core.ID, v core.View) core.Machine {
	m, err := f.lock(coordinator).New(seat, v)
	if err != nil {
		panic(fmt.Sprintf("recovery: a view of %d processes, which Plan has tried: %v", v.N, err))
	}
	return m
}

// A frame is a message: one of the lock, one of the election, REPORT or VIEW.
type frame struct {
	Kind    uint8
	Epoch   int       // all but the election's: the sender's epoch; VIEW: that of the view
	Bytes   []byte    // the lock's and the election's: the message
	Inside  bool      // REPORT: the sender is inside. VIEW: the holder is.
	Holder  core.ID   // VIEW
	Members []core.ID // VIEW
}

// maxEpoch is far above what a group can die.
const maxEpoch = 1 << 40

const (
	report = iota // kinds above those of the lock and the election
	view
)

func (m *frame) Fields(c *core.Coder) {
	c.Kind(&m.Kind, uint8(c.Kinds()-1))
	c.Int("epoch", &m.Epoch, maxEpoch)
	c.Bytes("message", &m.Bytes)
	c.Bool("inside", &m.Inside)
	c.Seat("holder", &m.Holder)
	c.Seats("members", &m.Members)
}
