package check

import (
	"fmt"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// What is sent to the dead is lost when it arrives. Nobody sees when that is,
// unless the process comes back: then what has not arrived yet finds it alive.
// So losses are put off until it comes back, or until time goes on, or a timer
// runs out, which leaves no choice; and if nobody can come back any more, all
// is lost at once. Each run with losses at other times is one of these but for
// steps that nobody sees, and there are far fewer states.

// to returns who gets a ballot.
func (v *vote) to(b *ballot) *voter { return &v.voters[int(b.link)%len(v.voters)] }

// mourns reports whether anybody is dead.
func (v *vote) mourns() bool {
	for i := range v.voters {
		if v.voters[i].dead {
			return true
		}
	}
	return false
}

// counts reports whether a ballot is still to be reckoned with: not if it goes
// to the dead, unless each loss is a step of its own.
func (t *teller) counts(v *vote, b *ballot) bool { return t.eager || !v.to(b).dead }

// due reports whether a ballot must arrive before time goes on.
func (t *teller) due(v *vote) bool {
	for i := range v.ballots {
		if b := &v.ballots[i]; b.old && t.counts(v, b) {
			return true
		}
	}
	return false
}

// busy reports whether a ballot is under way that will arrive.
func (t *teller) busy(v *vote) bool {
	for i := range v.ballots {
		if t.counts(v, &v.ballots[i]) {
			return true
		}
	}
	return false
}

// lose takes away the ballots to the dead, or only those that are due.
func (t *teller) lose(v *vote, due bool) {
	kept := v.ballots[:0]
	for i := range v.ballots {
		if b := v.ballots[i]; t.counts(v, &v.ballots[i]) || due && !b.old {
			kept = append(kept, b)
		}
	}
	v.ballots = kept
}

// give emits the state t.to.
func (t *teller) give(s explore.Step) {
	if t.to.returns == 0 && t.to.mourns() {
		t.lose(t.to, false)
	}
	t.buf = t.pack(t.buf[:0], t.to)
	t.emit(s, t.buf)
}

// losses calls f with every set of ballots to p that may have been lost when it
// comes back, one bit for each ballot: on a FIFO link, the first ones.
func (t *teller) losses(p core.ID, f func(set uint64)) {
	list := t.from.ballots
	if len(list) > 64 {
		t.err = fmt.Errorf("%d messages are under way, more than 64: too many to say which of them are lost", len(list))
		return
	}
	var choose func(i int, set uint64, kept int)
	choose = func(i int, set uint64, kept int) {
		for i < len(list) && (int(list[i].link)%t.Nodes != int(p) || t.counts(t.from, &list[i])) {
			i++
		}
		if i == len(list) {
			f(set)
			return
		}
		if (kept != int(list[i].link) || t.Network != core.FIFO) && (list[i].old || !t.Slow) {
			choose(i+1, set|1<<i, kept)
		}
		choose(i+1, set, int(list[i].link))
	}
	choose(0, 0, -1)
}

// arrivals returns the losses of a step as lines of a scenario: for the
// simulator, who is dead gets nothing, too.
func (t *teller) arrivals(label uint32) []scenario.Action {
	list := t.from.ballots
	set := uint64(0)
	switch m := moveOf(label); {
	case m.kind == voteReturn:
		set = t.gone
	case m.kind == voteTick, m.kind == voteExpire && t.right(m.p):
		for i := range list {
			if !t.counts(t.from, &list[i]) && (list[i].old || t.Quick && m.kind == voteTick) {
				set |= 1 << i
			}
		}
	default:
		return nil
	}
	var all []scenario.Action
	nth := map[uint8]int{} // of those that are left on the link
	for i, b := range list {
		if set>>i&1 == 0 {
			nth[b.link]++
			continue
		}
		a := scenario.Action{Kind: scenario.Deliver, Proc: core.ID(int(b.link) / t.Nodes), Peer: core.ID(int(b.link) % t.Nodes)}
		if nth[b.link] > 0 {
			a.Nth = nth[b.link] + 1
		}
		all = append(all, a)
	}
	return all
}
