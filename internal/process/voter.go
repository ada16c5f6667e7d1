package process

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

// A disk is what the process knows of its host's disk.
type disk struct {
	held  bool // it holds the state of a voter, or will when the pending saves are done
	saves uint64
	queue []pending // not acknowledged by the host yet
}

// A pending is a save that is not acknowledged yet.
type pending struct {
	number uint64
	what   what
	of     *views.Replica // voter whose log it belongs to
	log    uint64         // that voter's number for it
	state  []byte         // of a voter that starts when it is durable
}

// A what says what is saved.
type what uint8

const (
	logRecord  what = iota // a record of the voter's log
	firstState             // the state that a new voter begins with
	nothing                // the disk is erased
	memory                 // what the process remembers
	promise                // the same, with the promise never to enter again
)

// save emits a save.
func (p *Process) save(s pending) {
	p.disk.saves++
	s.number = p.disk.saves
	p.disk.queue = append(p.disk.queue, s)
	e := Effect{Kind: Save, Number: s.number, Bytes: s.state}
	switch s.what {
	case nothing:
		e.Kind, p.disk.held = Erase, false
	case memory, promise:
		e.Kind = Remember
	default:
		p.disk.held = true
	}
	p.do(e)
}

// saved handles the acknowledgement of a save.
func (p *Process) saved(number uint64, failure string) {
	if failure != "" {
		p.broken(errors.New(failure))
		return
	}
	if len(p.disk.queue) == 0 || p.disk.queue[0].number != number {
		p.broken(errors.New("a save was acknowledged out of order: this is a bug in stile"))
		return
	}
	s := p.disk.queue[0]
	p.disk.queue = slices.Delete(p.disk.queue, 0, 1)
	switch {
	case s.what == logRecord && s.of == p.voter:
		p.voter.Saved(p.clock, s.log)
	case s.what == firstState:
		p.open(s.state)
		if p.asks == nil && p.phase < Leaving { // it has founded a cluster
			p.join()
		}
	case s.what == promise && p.stops && p.asks != nil:
		p.asks.Stop(p.clock)
	}
}

// open starts the voter.
func (p *Process) open(state []byte) {
	if p.err != nil {
		return
	}
	c := views.ReplicaConfig{Logs: p.config.Logs, State: state, Seed: p.rng.Uint64(), Draw: p.drawSecret}
	if p.config.Observe {
		c.Seen = func(index uint64, r *views.Record) {
			now := r.Clone()
			p.now(Effect{Kind: Applied, Number: index, Record: &now})
		}
	}
	v, err := views.OpenReplica(c)
	if err == nil {
		p.cluster, _, err = p.config.Logs.Voter(state)
	}
	if err != nil {
		p.broken(err)
		return
	}
	p.voter = v
	if p.past.Cluster == p.cluster {
		v.Raise(p.past.Epoch)
	}
	if r := v.Record(); r.Cluster != 0 {
		p.tick = Tick(r.Settings)
	}
	p.ticks = p.clock + member.Instant(p.tick)
	p.rest()
}

// rest sets when the voter must be woken: it sleeps through ticks without effect.
func (p *Process) rest() {
	if p.voter != nil {
		p.alarm = p.ticks + member.Instant(max(p.voter.Rest()-1, 0))*member.Instant(p.tick)
	}
}

// vote handles the effects of the voter, and reports whether there were any.
func (p *Process) vote() bool {
	v := p.voter
	if v == nil {
		return false
	}
	if v.Err != nil {
		p.broken(v.Err)
		return false
	}
	for _, s := range v.Out.Saves {
		p.save(pending{what: logRecord, of: v, log: s.Number, state: s.Record})
	}
	for _, l := range v.Out.Post {
		p.send(l.To, voterMessage, l.Bytes)
	}
	for _, l := range v.Out.Send {
		p.send(l.To, serviceMessage, l.Bytes)
	}
	busy := len(v.Out.Post)+len(v.Out.Send) > 0
	v.Out.Reset()
	return busy
}

// wanted returns the number of the voter that a record wants in this process, or 0.
func (p *Process) wanted(r *views.Record) uint64 {
	if i := r.Rank(p.inc); p.inc != 0 && i >= 0 {
		return r.Members[i].Voter
	}
	return 0
}

// office begins or ends being a voter, as the newest record says.
func (p *Process) office() {
	if p.err != nil {
		return
	}
	r := p.Record()
	if p.voter != nil && r.Cluster == p.cluster && r.Over(p.voter.ID()) {
		p.voter = nil
		p.save(pending{what: nothing})
	}
	id := p.wanted(r)
	if p.disk.held || id == 0 || slices.ContainsFunc(r.Voters, func(v views.Voter) bool { return v.ID == id && v.Leaves }) {
		return
	}
	state, err := p.config.Logs.Join(r.Cluster, id)
	if err != nil {
		p.broken(err)
		return
	}
	p.save(pending{what: firstState, state: state})
}

// order passes an operator's request to the view service.
func (p *Process) order(in *Input) {
	if p.voter == nil {
		p.Out.Err = views.ErrNotLeader
		return
	}
	w := p.voter.Leader()
	switch in.Kind {
	case Evict:
		p.Out.Err = w.Evict(in.Number)
	case Choose:
		if p.Out.Err = p.config.runs(in.Choice); p.Out.Err == nil {
			p.Out.Err = w.Choose(slices.Clone(in.Choice))
		}
	case Refresh:
		p.Out.Err = w.Forget()
	case Resize:
		p.Out.Err = w.Want(int(in.Number))
	}
}
