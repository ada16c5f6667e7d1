package recovery

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A Lock makes a mutual exclusion algorithm whose coordinator, if it has one, is the
// given seat of its view.
type Lock func(coordinator algorithm.ID) algorithm.Spec

// With returns a lock that survives deaths: after each one the highest live process is
// elected and makes a new view of the live processes.
//
// The idea of views is that of K. P. Birman, T. A. Joseph: Exploiting Virtual Synchrony
// in Distributed Systems. Proceedings of the 11th ACM Symposium on Operating Systems
// Principles, 1987, pages 123-138.
func With(lock Lock, elect algorithm.Spec) algorithm.Spec { return Patient(lock, elect, 0) }

// Patient returns a lock that also survives lost messages: a process that has waited for
// patience units of the longest latency doubts that it will ever enter, and if none is
// inside a new view is made. 0 means that processes wait forever.
func Patient(lock Lock, elect algorithm.Spec, patience int) algorithm.Spec {
	spec := lock(0)
	spec.Name += "+" + elect.Name
	spec.Title += ", recovered by " + elect.Title
	spec.Network = algorithm.FIFO
	spec.Spreads = false
	spec.Detects = true
	spec.Upset = nil
	spec.Shape = spec.Shape.Within("lock", "holder")
	spec.Shape.Members, spec.Shape.Stopped, spec.Shape.Maker, spec.Shape.Fresh = "members", "frozen", "told", "fresh"
	spec.Shape.Hub = func(n int) algorithm.ID { return algorithm.ID(n - 1) } // the process elected first
	spec.Theory.ME3, spec.Theory.Bypass = false, nil
	spec.Theory.Kinds = len(spec.Kinds) // electing and making a view costs more
	spec.Theory.Order += "; starts afresh in each view"
	f := &family{
		lock: lock, locks: len(spec.Kinds), all: len(spec.Kinds) + len(elect.Kinds), patience: patience,
		lockRules: len(spec.Rules), rules: len(spec.Rules) + len(elect.Rules),
	}
	spec.Rules = composed(spec.Rules, elect.Rules, patience)
	spec.Kinds = slices.Concat(spec.Kinds, elect.Kinds, []string{"REPORT", "VIEW", "JOIN", "STOP"})
	if patience > 0 {
		spec.Kinds = append(spec.Kinds, "DOUBT", "WHO", "HERE")
	}
	spec.Plan = func(n int) (algorithm.Birth, error) {
		if least := LeastPatience(n); patience != 0 && patience < least {
			return nil, fmt.Errorf("a patience of %d units among %d processes: want at least %d, because sound requests would be given up", patience, n, least)
		}
		for size := 1; size <= n; size++ {
			if err := lock(0).Accepts(size); err != nil {
				return nil, fmt.Errorf("after crashes: %w", err)
			}
		}
		vote, err := elect.Birth(n)
		if err != nil {
			return nil, err
		}
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newProcess(f, vote, self, v))
		}, nil
	}
	return spec
}

// LeastPatience returns the least patience allowed among n processes, in units of the
// longest latency. It is the longest time, from the start of a view in which no process
// is inside, until one is: a request and a token may have to travel through the whole
// group. With less, one view could follow another forever. The checker confirms it among
// two and three.
func LeastPatience(n int) int { return 2*n + 2 }

// A family is what all processes of one composition have in common.
type family struct {
	lock      Lock
	locks     int // number of message kinds of the lock; those of the election follow
	all       int // number of message kinds of both; those of the views follow
	lockRules int // number of rules of the lock; those of the election follow
	rules     int // number of rules of both; those of the views follow
	patience  int // how long a process waits before it doubts; 0 means forever
}

// machine makes the lock of one seat. Plan has tried a view of every size up to the whole
// group.
func (f *family) machine(seat, coordinator algorithm.ID, v algorithm.View) algorithm.Machine {
	m, err := f.lock(coordinator).New(seat, v)
	if err != nil {
		panic(fmt.Sprintf("recovery: a view of %d processes failed, though Plan accepted it: %v", v.N, err))
	}
	return m
}

// A frame is a message: one of the lock, one of the election, or one about views.
type frame struct {
	Kind    uint8
	Epoch   int            // all but the election's: the sender's epoch; VIEW: that of the view
	Bytes   []byte         // the lock's and the election's: the message
	Inside  bool           // REPORT, HERE: whether the sender is inside; VIEW: whether the holder is
	Holder  algorithm.ID   // VIEW
	Members []algorithm.ID // VIEW
	New     []algorithm.ID // VIEW: those that were in none before; REPORT: the sender, if it was in none
	Answers int            // REPORT: one more than the epoch of the STOP that it answers, or 0
}

// maxEpoch is far above the number of views that a group can have.
const maxEpoch = 1 << 40

// The kinds above those of the lock and the election.
const (
	report = iota // to the leader: whether the sender, which is frozen, is inside
	view          // from the leader: a view begins
	join          // to all: the sender is new
	stop          // from the leader: the view has ended
	doubt         // to the leader: the sender has waited for long
	who           // from the leader: is any process inside?
	here          // to the leader: whether the sender is inside
)

func (m *frame) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, uint8(c.Kinds()-1))
	c.Int("epoch", &m.Epoch, maxEpoch)
	c.Bytes("message", &m.Bytes)
	c.When(len(m.Bytes) == 0) // about views
	c.Bool("inside", &m.Inside)
	c.Seats("members", &m.Members)
	c.Seats("new", &m.New)
	c.Int("answers", &m.Answers, maxEpoch)
	c.Always()
	c.When(len(m.Members) > 0) // a view
	c.Seat("holder", &m.Holder)
	c.Always()
}
