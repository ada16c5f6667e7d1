package check

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
)

// A teller explores the states of an electorate.
type teller struct {
	*electorate
	machines []core.Machine
	out      core.Output
	twin     core.Twin
	steps    map[uint64]turn
	from, to *vote
	key      []byte
	buf      []byte
	emit     func(explore.Step, []byte)
	gone     uint64 // the ballots that were lost before a process came back
	err      error
}

// A turn is what a machine did.
type turn struct {
	state uint32
	sends []sent
	leads []core.ID
	set   bool  // the timer was set anew, or stopped
	timer uint8 // 1 + its units, or 0

	entered, denied bool
}

// Worker implements explore.Model.
func (e *electorate) Worker() explore.Worker {
	t := &teller{
		electorate: e, steps: map[uint64]turn{},
		from: &vote{voters: make([]voter, e.Nodes)}, to: &vote{voters: make([]voter, e.Nodes)},
	}
	for p := range core.ID(e.Nodes) {
		t.machines = append(t.machines, e.birth(p, core.View{N: e.Nodes}))
	}
	return t
}

// blob numbers a state (of seat) or a message (seat None).
func (t *teller) blob(seat core.ID, bytes []byte) (uint32, error) {
	t.key = key(t.key, seat, bytes)
	b, err := t.blobs.number(t.key, func(*blob) error { return nil })
	if err != nil {
		return 0, err
	}
	return b.id, nil
}

// Init implements Worker.
func (t *teller) Init(emit func(state []byte) bool) error {
	if t.lock {
		return t.initLock(emit)
	}
	top := core.ID(t.Nodes - 1)
	v := t.to
	*v = vote{
		voters: v.voters, ballots: v.ballots[:0], winner: top,
		crashes: uint8(t.Crashes), returns: uint8(t.Returns),
	}
	if t.Wrong {
		v.errors = 1
	}
	for p := range v.voters {
		m := t.birth(core.ID(p), core.View{N: t.Nodes, Holder: top, Busy: true})
		b, err := t.blob(core.ID(p), m.AppendState(nil))
		if err != nil {
			return err
		}
		v.voters[p] = voter{blob: b, leader: top}
	}
	emit(t.pack(nil, v))
	return nil
}

// turn returns what the machine of p in a state does with an input.
func (t *teller) turn(p core.ID, state uint32, kind core.InputKind, from core.ID, msg uint32) (turn, error) {
	k := stepKey(state, kind, from, msg)
	if done, ok := t.steps[k]; ok {
		return done, nil
	}
	m := t.machines[p]
	if err := m.LoadState(t.blobs.get(state).bytes); err != nil {
		return turn{}, err
	}
	in := core.Input{Kind: kind, From: from}
	if kind == core.Receive {
		in.Bytes = t.blobs.get(msg).bytes
	}
	if err := t.twin.Before(m, t.birth(p, core.View{N: t.Nodes})); err != nil {
		return turn{}, err
	}
	if err := m.Step(in, &t.out); err != nil {
		return turn{}, err
	}
	if err := t.twin.After(p, in, m, &t.out); err != nil {
		return turn{}, err
	}
	done := turn{entered: t.out.Entered}
	for _, n := range t.out.Notices {
		switch {
		case n.Kind == core.Denied:
			done.denied = true
		case n.Kind == core.Leader:
			done.leads = append(done.leads, n.Who)
		case n.Kind == core.SetTimer && n.Timer == 0:
			done.set, done.timer = true, uint8(min(n.After+1, 255))
			if n.After == 0 {
				done.timer = 0
			}
		default:
			return turn{}, fmt.Errorf("%v sets timer %d: the checker knows only timer 0 of an election", p, n.Timer)
		}
	}
	var err error
	for i, s := range t.out.Sends {
		one := sent{link: uint8(int(p)*t.Nodes + int(s.To))}
		if one.blob, err = t.blob(core.None, t.out.Bytes(i)); err != nil {
			return turn{}, err
		}
		done.sends = append(done.sends, one)
	}
	if done.state, err = t.blob(p, m.AppendState(nil)); err != nil {
		return turn{}, err
	}
	t.steps[k] = done
	return done, nil
}

// idle reports whether the turn changes nothing.
func (d turn) idle(state uint32) bool {
	return d.state == state && len(d.sends) == 0 && len(d.leads) == 0 && !d.set
}

// The kinds of steps of an election, as labels number them.
const (
	voteNotice = iota
	voteDeliver
	voteExpire
	voteSuspect
	voteTrust
	voteCrash
	voteReturn
	voteTick
	voteLeave
)

// Next implements Worker.
func (t *teller) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	t.emit, t.err = emit, nil
	v := t.from
	t.unpack(state, v)
	for p := range core.ID(t.Nodes) {
		me := &v.voters[p]
		if me.dead {
			t.comeBack(p)
			continue
		}
		t.crash(p)
		if t.lock {
			t.use(p)
		} else if me.leader == core.None || v.voters[me.leader].dead {
			t.act(p, core.Request, core.None, true, explore.Step{Label: label(voteNotice, p, 0, 0), Fair: true})
		}
		if me.timer > 0 {
			t.expire(p)
		}
		t.detect(p)
	}
	t.deliverAll()
	if !t.due(v) {
		t.tick()
	}
	return 0, t.err
}

// act lets p's machine take a step, if it does anything at all.
func (t *teller) act(p core.ID, kind core.InputKind, from core.ID, fresh bool, s explore.Step) {
	me := &t.from.voters[p]
	done, err := t.turn(p, me.blob, kind, from, 0)
	if err != nil {
		t.err = err
		return
	}
	if done.idle(me.blob) {
		return
	}
	t.to.copyFrom(t.from)
	t.apply(p, done, fresh, s)
}

// apply does what p's machine wants done in the state t.to, and emits it.
func (t *teller) apply(p core.ID, done turn, fresh bool, s explore.Step) {
	s.Broken |= t.do(p, done, fresh)
	s.Class = s.Label
	t.give(s)
}

// do does what p's machine wants done, and returns what that breaks.
func (t *teller) do(p core.ID, done turn, fresh bool) (broken explore.Broken) {
	v := t.to
	me := &v.voters[p]
	me.blob = done.state
	if done.set {
		me.timer, me.fresh = done.timer, done.timer > 0 && fresh
	}
	for _, m := range done.sends {
		v.add(ballot{blob: m.blob, link: m.link, fresh: fresh})
	}
	if t.lock {
		return t.enter(me, done)
	}
	for _, leader := range done.leads {
		me.leader = leader
		if leader == p && fresh {
			if v.winner != core.None && v.winner != p {
				broken |= brokenRound
			}
			v.winner = p
		}
	}
	return broken
}

func (t *teller) crash(p core.ID) {
	if t.from.crashes == 0 {
		return
	}
	v := t.to
	v.copyFrom(t.from)
	v.crashes--
	v.voters[p] = voter{leader: core.None, dead: true}
	v.round()
	t.give(explore.Step{Label: label(voteCrash, p, 0, 0)})
}

// comeBack lets p come back, remembering nothing. Everybody sees it at once:
// a perfect failure detector never holds a live process for dead.
func (t *teller) comeBack(p core.ID) {
	if t.from.returns == 0 {
		return
	}
	t.losses(p, func(set uint64) {
		t.gone = set
		t.rise(p)
	})
}

// rise lets p come back after the ballots t.gone were lost.
func (t *teller) rise(p core.ID) {
	v := t.to
	v.copyFrom(t.from)
	v.ballots = v.ballots[:0]
	for i := range t.from.ballots {
		if t.gone>>i&1 == 0 {
			v.ballots = append(v.ballots, t.from.ballots[i])
		}
	}
	v.returns--
	b, err := t.blob(p, t.birth(p, core.View{N: t.Nodes}).AppendState(nil))
	v.voters[p] = voter{blob: b, leader: core.None}
	v.round()
	for q := range core.ID(t.Nodes) {
		if me := &v.voters[q]; !me.dead && q != p && err == nil {
			var done turn
			done, err = t.turn(q, me.blob, core.Trust, p, 0)
			t.do(q, done, false)
		}
	}
	var done turn
	if err == nil {
		done, err = t.turn(p, b, core.Start, core.None, 0)
	}
	if err != nil {
		t.err = err
		return
	}
	t.apply(p, done, true, explore.Step{Label: label(voteReturn, p, 0, 0)})
}

// right reports whether it is time for p's timer to run out.
func (t *teller) right(p core.ID) bool { return t.from.voters[p].timer == 1 && !t.due(t.from) }

// expire lets p's timer run out, in time or by error too early.
func (t *teller) expire(p core.ID) {
	me, right := &t.from.voters[p], t.right(p)
	if !right && t.from.errors == 0 {
		return
	}
	done, err := t.turn(p, me.blob, core.Expire, core.None, 0)
	if err != nil {
		t.err = err
		return
	}
	t.to.copyFrom(t.from)
	t.to.voters[p].timer = 0
	if right {
		t.lose(t.to, true)
	} else {
		t.to.errors--
	}
	t.apply(p, done, me.fresh, explore.Step{Label: label(voteExpire, p, 0, 0), Fair: right})
}

// detect lets the failure detector tell p the truth, or once an error.
func (t *teller) detect(p core.ID) {
	v := t.from
	for q := range core.ID(t.Nodes) {
		switch {
		case q == p:
		case v.voters[q].dead:
			t.act(p, core.Suspect, q, false, explore.Step{Label: label(voteSuspect, p, q, 0), Fair: true})
		default:
			t.trust(p, q)
			if v.errors > 0 {
				v.errors--
				t.act(p, core.Suspect, q, false, explore.Step{Label: label(voteSuspect, p, q, 0)})
				v.errors++
			}
		}
	}
}

// trust tells p that q is alive after all. That begins a round.
func (t *teller) trust(p, q core.ID) {
	me := &t.from.voters[p]
	done, err := t.turn(p, me.blob, core.Trust, q, 0)
	if err != nil {
		t.err = err
		return
	}
	if !done.idle(me.blob) {
		t.to.copyFrom(t.from)
		t.to.round()
		t.apply(p, done, false, explore.Step{Label: label(voteTrust, p, q, 0), Fair: true})
	}
}

func (t *teller) deliverAll() {
	list := t.from.ballots
	first := 0 // of the link
	for i := range list {
		if list[i].link != list[first].link {
			first = i
		}
		if t.Slow && !list[i].old || !t.counts(t.from, &list[i]) {
			continue
		}
		if i != first && t.Network == core.FIFO || slices.Contains(list[first:i], list[i]) {
			continue
		}
		t.deliver(i, i-first)
	}
}

// deliver hands over a ballot, the nth of its link.
func (t *teller) deliver(i, nth int) {
	b := t.from.ballots[i]
	from, to := core.ID(int(b.link)/t.Nodes), core.ID(int(b.link)%t.Nodes)
	s := explore.Step{Label: label(voteDeliver, to, from, nth), Fair: true}
	v := t.to
	v.copyFrom(t.from)
	v.ballots = slices.Delete(v.ballots, i, i+1)
	if v.voters[to].dead {
		t.apply(to, turn{}, false, s)
		return
	}
	done, err := t.turn(to, v.voters[to].blob, core.Receive, from, b.blob)
	if err != nil {
		t.err = err
		return
	}
	t.apply(to, done, b.fresh, s)
}

// tick lets a unit of time pass, if anything waits for that.
func (t *teller) tick() {
	v := t.to
	v.copyFrom(t.from)
	if t.Quick && t.busy(v) {
		return
	}
	t.lose(v, !t.Quick)
	least := uint8(255)
	for i := range v.voters {
		if me := &v.voters[i]; me.timer > 0 {
			least = min(least, me.timer)
		}
	}
	if least == 1 {
		return // it runs out first
	}
	units := uint8(1)
	if t.Quick {
		units = least - 1 // nothing happens until then
	}
	// Ballots only get older for the sake of timers: without one, nothing can
	// happen afterwards that could not happen now. TestIdleTime sees to that.
	waits := least < 255 || (t.Slow || t.hasty) && t.busy(v)
	for i := range v.voters {
		if me := &v.voters[i]; me.timer > 0 {
			me.timer -= units
		}
	}
	for i := range v.ballots {
		v.ballots[i].old = true
	}
	if waits {
		s := explore.Step{Label: label(voteTick, 0, 0, 0), Fair: true}
		s.Class = s.Label
		t.give(s)
	}
}

// Waiting implements Waits. Bit 0: they do not agree. Bit 1 is always set.
func (t *teller) Waiting(state []byte) (waiting, calm uint32) {
	t.unpack(state, t.from)
	if t.lock {
		return t.from.waiting(), 0
	}
	if t.from.agreed() {
		return 2, 0
	}
	return 3, 0
}
