package process

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// start starts the voter if its state was saved, or founds or restores a cluster, and
// joins.
func (p *Process) start() {
	if p.phase != Idle {
		p.Out.Err = fmt.Errorf("start %s: already started", p.config.Name)
		return
	}
	p.phase = Joining
	switch f, x := p.config.Found, p.config.Restore; {
	case p.disk.held:
		p.open(p.config.State)
		p.join()
	case x != nil:
		p.restore(x)
	case f != nil:
		p.found(f)
	default:
		p.join()
	}
	p.config.State = nil
}

// found begins a cluster.
func (p *Process) found(f *Founding) {
	me := p.founder()
	s := views.Start{Cluster: f.Cluster, Epoch: f.Epoch, Settings: f.Settings, Secret: p.drawSecret()}
	if s.Cluster == 0 {
		s.Cluster = p.draw()
	}
	p.first(views.Record{}, views.Birth(s, f.Voters, f.Choices, me))
}

// restore begins a cluster from a backup.
func (p *Process) restore(x *Restoring) {
	me := p.founder()
	how := views.Restore{Cluster: x.Cluster, Seen: x.Seen, Clock: x.Clock, Secret: p.drawSecret()}
	if how.Cluster == 0 {
		how.Cluster = p.draw()
	}
	r, err := views.ParseRecord(x.Backup)
	if err == nil {
		var first views.Change
		if first, err = views.Restored(&r, how, me); err == nil {
			p.first(r, first)
			return
		}
	}
	p.broken(err)
}

// founder returns the process as the first member of a cluster.
func (p *Process) founder() views.Joiner {
	p.nonce = p.draw()
	return views.Joiner{Name: p.config.Name, Address: p.config.Address, Nonce: p.nonce}
}

// first begins a cluster with the first entry of its log. The process joins it when its
// first state is durable.
func (p *Process) first(old views.Record, entry views.Change) {
	_, state, err := views.Found(p.config.Logs, old, entry)
	if err != nil {
		p.broken(err)
		return
	}
	p.save(pending{what: firstState, state: state})
}

// join begins to ask for membership.
func (p *Process) join() {
	if p.err != nil {
		return
	}
	nonce := p.nonce
	if p.nonce = 0; nonce == 0 {
		nonce = p.draw()
	}
	c := views.MembershipConfig{Name: p.config.Name, Address: p.config.Address, Nonce: nonce, Voters: p.contacts(), Join: p.config.Join, Cluster: p.config.Cluster, Past: p.past, Retry: 4 * p.tick}
	if p.voter != nil {
		c.Voter, c.Cluster = p.voter.ID(), p.cluster
	}
	asks, err := views.NewMembership(c)
	if err != nil {
		p.broken(err)
		return
	}
	p.asks = asks
	p.asks.Join(p.clock)
}

// contacts returns the nodes that a process asks to join: its own voter, those of its
// config, and the nodes that it or its voter knew last. The config of a process that
// has founded its cluster names none.
func (p *Process) contacts() []string {
	all := slices.Clone(p.config.Contacts)
	others := p.known
	if p.voter != nil {
		all = append([]string{p.config.Address}, all...)
		others = slices.Concat(others, addresses(p.voter.Record()))
	}
	for _, a := range others {
		if a != p.config.Address && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// addresses returns the addresses of a record's members.
func addresses(r *views.Record) []string {
	all := make([]string, 0, len(r.Members))
	for _, m := range r.Members {
		all = append(all, m.Address)
	}
	return all
}

// drain begins to leave or to stop: nothing new is granted, waiting requests are refused,
// and clients are asked to use another node. A view of the same members carries over what
// is held. A process that stops can still be asked to leave instead.
func (p *Process) drain(stops bool) {
	if p.phase >= Draining {
		p.stops = p.stops && (stops || p.phase > Draining)
		return
	}
	p.phase, p.stops = Draining, stops
	if p.m != nil {
		p.clients.Drain(p.clock, p.m)
		p.m.Drain(p.clock)
		p.take()
		if p.held() {
			p.refresh()
		}
	}
}

// refresh asks for a view later than the installed one.
func (p *Process) refresh() {
	if p.asks != nil && p.view != 0 {
		p.asks.Refresh(p.clock, p.view)
	}
}

// held reports whether a lock is held through this process, or an application or a
// client can still act on one that was lost.
func (p *Process) held() bool {
	return p.m != nil && (p.m.Inside() > 0 || p.clients.Holds() > 0)
}

// leave continues leaving or stopping. When no lock is held, and no application can still
// act on one that was lost, the member promises never to enter again. The process
// remembers that, so that its lease is not waited for even if no other process hears of
// it, and reports it to the view service. One that stops reports it when it is durable: it may
// end as soon as the others know.
func (p *Process) leave() {
	if p.err != nil || p.held() {
		return
	}
	p.phase = Leaving
	if p.m != nil {
		p.m.Leave(p.clock)
		p.take()
		p.remember(promise, views.Past{Cluster: p.asks.Record().Cluster, Epoch: p.asks.Seen(), Stopped: p.asks.Nonce()})
	}
	switch {
	case p.asks == nil && p.stops: // its first state is not durable yet
		p.end(views.Stopped)
		return
	case p.asks == nil:
		p.end(views.Left)
		return
	case !p.stops:
		p.asks.Leave(p.clock)
	case p.m == nil:
		p.asks.Stop(p.clock)
	}
	p.settle()
}

// remember makes durable what the process must know when it starts again.
func (p *Process) remember(what what, past views.Past) {
	p.past = past
	p.save(pending{what: what, state: past.AppendTo(nil)})
}

// request handles the effects of the membership, and reports whether there were any.
func (p *Process) request() bool {
	if p.voter != nil {
		p.asks.Know(p.clock, p.voter.Record())
		if p.asks.Record().Cluster == p.cluster {
			p.voter.Raise(p.asks.Seen())
		}
	}
	out := &p.asks.Out
	for _, l := range out.Send {
		p.send(l.To, serviceMessage, l.Bytes)
	}
	view, renewed, ending := out.View, out.Renewed, out.Ending
	if out.Back != 0 {
		now := p.asks.Record().Clone()
		p.now(Effect{Kind: RolledBack, Number: out.Back, Record: &now})
	}
	busy := len(out.Send)+len(renewed) > 0 || view || ending != views.Running
	out.Reset()
	for _, number := range renewed {
		p.renewed(number)
	}
	switch {
	case p.err != nil:
	case ending == views.Refused:
		p.broken(p.asks.Err())
	case ending != views.Running:
		p.end(ending)
	case view:
		p.install()
	}
	return busy
}

// end ends the membership. Unless the process is leaving, it asks to join again.
func (p *Process) end(how views.Ending) {
	parts := how == views.Left || how == views.Stopped
	if p.m != nil && !parts {
		p.m.Gone(p.clock)
		p.take()
	}
	p.office() // while the record is still known
	if r := p.Record(); len(r.Members) > 0 {
		p.known = addresses(r)
	}
	why := session.Evicted
	if parts {
		why = session.Leaving
	}
	p.clients.End(why)
	p.m, p.links, p.asks, p.inc, p.view, p.flow = nil, nil, nil, 0, 0, member.Never
	p.others = p.others[:0]
	if how == views.Replaced {
		p.config.Cluster = 0
	}
	p.now(Effect{Kind: Ended, How: how})
	if p.phase >= Draining {
		p.phase = Over
		return
	}
	p.phase = Joining
	p.join()
}

// install begins a view. With the first one, the process becomes a member.
func (p *Process) install() {
	r := p.asks.Record()
	if p.m == nil {
		if err := p.become(r); err != nil {
			p.broken(err)
			return
		}
	}
	v := r.View()
	err := p.m.Install(p.clock, v)
	if err == nil {
		err = p.links.Install(p.clock, v)
	}
	if err != nil {
		p.broken(fmt.Errorf("begin epoch %d: %w", v.Epoch, err))
		return
	}
	p.view = v.Epoch
	past := views.Past{Cluster: r.Cluster, Epoch: p.asks.Seen()}
	if p.phase == Leaving {
		past.Stopped = p.asks.Nonce()
	}
	p.remember(memory, past)
	p.meet(r)
	now := r.Clone() // the process may learn of a newer record in this very step
	p.now(Effect{Kind: View, Record: &now})
	p.take()
	p.links.Early(p.clock, p.deliver)
}

// meet informs the links of the connections to members of a view. Former members have
// none, whatever runs at their addresses now.
func (p *Process) meet(r *views.Record) {
	for _, inc := range p.others {
		if r.Rank(inc) < 0 {
			p.links.Down(p.clock, inc)
		}
	}
	p.others = p.others[:0]
	for _, m := range r.Members {
		if m.Inc == p.inc {
			continue
		}
		p.others = append(p.others, m.Inc)
		if p.linked[m.Address] {
			p.links.Up(p.clock, m.Inc)
		}
	}
	p.clients.Nodes, p.clients.Cluster, p.clients.Earlier = addresses(r), r.Cluster, r.Earlier
	p.clients.Rekey(p.inc, r.Keys)
}

// become makes the member that a record has admitted.
func (p *Process) become(r *views.Record) error {
	p.inc = p.asks.Inc()
	p.tick = Tick(r.Settings)
	m, err := member.New(member.Config{Inc: p.inc, Settings: r.Settings, Limits: p.config.Limits, Spec: p.config.Spec})
	if err != nil {
		return err
	}
	p.m, p.links = m, member.NewLinks(p.inc, linkLimits(r.Settings, p.config.Links))
	if p.phase == Joining {
		p.phase = Member
	}
	return nil
}

// take handles the effects of the member, and reports whether they affect other
// processes. Notifications to applications come first.
func (p *Process) take() bool {
	out := &p.m.Out
	for i := range out.Events {
		if e := &out.Events[i]; !p.clients.Told(e) {
			p.notify(Notify, e)
		} else if p.config.Follow || p.config.Observe {
			p.notify(ClientEvent, e)
		}
	}
	for _, k := range out.Marks {
		p.now(Effect{Kind: Marked, Mark: k})
	}
	for i := range out.Frames {
		f := &out.Frames[i]
		count(&p.traffic.Sent, f.Bytes)
		p.observe(Effect{Kind: FrameSent, Peer: f.To, Bytes: f.Bytes})
		p.links.Send(f.To, f.Bytes)
	}
	renew, forget := out.Renew, out.Forget
	busy := len(out.Frames) > 0 || renew != 0
	out.Reset()
	if renew != 0 && p.asks != nil {
		p.observe(Effect{Kind: Renewing, Number: renew})
		p.asks.Renew(p.clock, renew, forget, p.links.Complaints(p.clock))
	}
	return busy
}

// renewed notifies the member that a renewal is confirmed.
func (p *Process) renewed(number uint64) {
	if p.m == nil {
		return
	}
	p.observe(Effect{Kind: Confirming, Number: number})
	p.m.Renewed(p.clock, number)
	p.take()
	p.observe(Effect{Kind: Confirmed, Number: number})
}

// use calls f with the member, if there is one, and reports whether the call affects
// other processes.
func (p *Process) use(f func(m *member.Member)) bool {
	if p.m == nil {
		return false
	}
	f(p.m)
	return p.take()
}

// lock requests a lock for an application of this process.
func (p *Process) lock(in *Input) bool {
	switch {
	case p.phase >= Draining:
		p.Out.Err = ErrLeaving
		return false
	case p.m == nil:
		p.Out.Err = member.ErrGone
		return false
	}
	late := in.Late
	if late == 0 {
		late = member.Never
	}
	p.Out.Ticket, p.Out.Err = p.m.Lock(p.clock, in.Text, member.Ask{Deadline: late, Try: in.Try, Terms: in.Terms})
	return p.take()
}

// unlock releases a lock of an application of this process.
func (p *Process) unlock(in *Input) bool {
	if p.m == nil {
		p.Out.Err = member.ErrNotHeld
		return false
	}
	p.Out.Err = p.m.Unlock(p.clock, in.Text, in.Token)
	return p.take()
}

// trail follows a lock for a while.
func (p *Process) trail(in *Input) {
	if p.m == nil {
		p.Out.Err = member.ErrGone
		return
	}
	p.Out.Err = p.m.Trail(p.clock, in.Text, in.Late)
	p.take()
}

// release takes a lock from its holder.
func (p *Process) release(in *Input) {
	if p.m == nil {
		p.Out.Err = member.ErrGone
		return
	}
	p.Out.Err = p.m.Release(p.clock, in.Text, in.Token)
	p.take()
}
