package model

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/lab/internal/explore"
)

// Loops that have no end. A loop of canonical states is one of real states, too, unless
// wide gaps between times were made equal. Then a real run that follows the loop may take
// a little from a gap in each round, and end when the gap is used up. It has no end if
// the real states at two visits of where the loop begins are equal, apart from a shift of
// all times. It has no end either if at the later visit no gap is narrower than at the
// earlier one, and no step in between has put a time into a gap of exactly 2. For then
// the same steps are possible again, with gaps at least as wide: only a gap of 2 would
// become two that are 1, and where it is wider it would not. Other loops may have no end,
// but that is not known.

// maxRounds is how often a real run goes around a loop until it is known to have no end.
const maxRounds = 64

// A visit is one of the state that a loop begins with.
type visit struct {
	steps  int    // number of steps before it
	state  []byte // the real state, with times shifted
	times  uint64 // its times
	narrow bool   // since then, some step has put a time into a gap of exactly 2
	owed   []uint32
}

// repeat follows the loop at the end of the path until it is known to have no end. It
// returns the number of steps before it.
func (r *realRun) repeat() (begin int, err error) {
	first := len(r.path.States) - 1 - r.path.Loop
	var visits []visit
	for round := 0; ; round++ {
		if r.Form.Times != Spread && round > 0 {
			return first, nil
		}
		visits = append(visits, r.visit(visits, round > 0))
		for i := round - 1; i >= 0; i-- {
			if visits[i].endless(&visits[round]) {
				return visits[i].steps, nil
			}
		}
		if round == maxRounds {
			return 0, Spurious{fmt.Sprintf("it is not known whether its loop can be repeated without end: %d rounds did not show it", maxRounds)}
		}
		for i := range r.path.Loop {
			if err := r.step(first + i); errors.As(err, new(Spurious)) && round > 0 {
				return 0, Spurious{fmt.Sprintf("its loop can be repeated without end only in the approximation of logical times: a real run ends in round %d", round+1)}
			} else if err != nil {
				return 0, err
			}
			r.pay(visits)
		}
	}
}

// visit notes the present state. If it may be renumbered, its times are shifted, which
// changes nothing, so that they do not grow beyond what can be distinguished.
func (r *realRun) visit(before []visit, shift bool) visit {
	g := r.scratch
	r.unpack(r.at, g)
	r.know(g)
	rule := r.ruleOf(g)
	rule.whole = true
	m := r.mapping(rule)
	r.renumber(g, m)
	if shift {
		r.at = r.pack(nil, g)
		for i := range before {
			for k := range before[i].owed {
				before[i].owed[k] = r.Renamed(m.id+1, before[i].owed[k])
			}
		}
	}
	v := visit{steps: len(r.steps), times: r.timesOf(g)}
	if !r.ordered() {
		slices.SortFunc(g.messages, compareMessages)
	}
	v.state = r.pack(nil, g)
	if r.path.Fair {
		v.owed = r.possible()
	}
	return v
}

// possible returns the fair actions in the present state.
func (r *realRun) possible() (actions []uint32) {
	// What cannot be made here will not be made on the way either.
	_, _ = r.Next(r.at, func(s explore.Step, _ []byte) {
		if s.Fair {
			actions = append(actions, s.Class)
		}
	})
	return actions
}

// pay notes what the last step changes about former visits.
func (r *realRun) pay(visits []visit) {
	var now []uint32
	if r.path.Fair {
		now = r.possible()
	}
	for i := range visits {
		v := &visits[i]
		v.narrow = v.narrow || r.narrow
		v.owed = slices.DeleteFunc(v.owed, func(k uint32) bool { return k == r.taken || !slices.Contains(now, k) })
	}
	r.narrow = false
}

// endless reports whether a loop that leads from v to u has no end, and pays all that is
// owed at v.
func (v *visit) endless(u *visit) bool {
	return len(v.owed) == 0 && (bytes.Equal(v.state, u.state) || !v.narrow && noNarrower(u.times, v.times))
}

// noNarrower reports whether each gap in a set of times is at least as wide as in another
// one of the same size.
func noNarrower(times, than uint64) bool {
	for times != 0 && than != 0 {
		x, y := bits.TrailingZeros64(times), bits.TrailingZeros64(than)
		times, than = times&(times-1), than&(than-1)
		if times != 0 && than != 0 && bits.TrailingZeros64(times)-x < bits.TrailingZeros64(than)-y {
			return false
		}
	}
	return times == than
}
