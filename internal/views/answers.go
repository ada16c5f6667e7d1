package views

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// maxHops is how often a process follows a redirect before it waits for a while.
const maxHops = 4

// Receive handles a message from a voter, or from a process that wants to join.
func (p *Membership) Receive(now member.Instant, from string, b []byte) error {
	p.hear(now)
	m, err := ParseMessage(b)
	switch {
	case err == errOptional:
		return nil
	case err != nil:
		return err
	}
	if p.phase == ended {
		return nil
	}
	if known := p.cluster(); m.Kind == Other || known != 0 && m.Cluster != known {
		p.foreign(from, &m)
		return nil
	}
	switch m.Kind {
	case Probe:
		if p.inc != 0 {
			p.send(from, &Message{Kind: Probed, Inc: p.inc, Nonce: m.Nonce})
		}
		return nil
	case Probed:
		p.probed(&m)
		return nil
	case Call:
		if p.inc == m.Inc && p.inc != 0 {
			p.send(from, &Message{Kind: Here, Inc: p.inc, Number: m.Number})
		}
		return nil
	case Wait, Renewed, Gone, View, NotLeader:
		if p.proper = p.now; m.Kind != NotLeader {
			p.led = p.now
		}
		if m.Kind != NotLeader || from != p.config.Address {
			p.served = p.now
		}
		p.heard = p.heard || from == p.target
		return p.answer(&m)
	}
	return fmt.Errorf("%w: members do not receive %s: close the connection", errBytes, m.Kind)
}

// answer handles what a voter of the process's own cluster sends.
func (p *Membership) answer(m *Message) error {
	switch {
	case m.Kind == Wait && m.Nonce == p.config.Nonce && p.phase == joining:
		return p.wait(m)
	case m.Kind == Renewed && m.Inc == p.inc:
		p.renewed(m)
	case m.Kind == Gone && (p.inc != 0 && m.Inc == p.inc || p.inc == 0 && m.Nonce == p.config.Nonce):
		p.gone()
	case m.Kind == View:
		return p.adopt(m.Record)
	case m.Kind == NotLeader && m.Inc == p.inc:
		p.sentOn(m.Address)
	}
	return nil
}

// foreign handles a message from another cluster. A member whose own cluster has not
// answered for two leases believes that it no longer exists. A process that wants to
// join has nothing to lose, unless it knows its cluster: see refuse.go.
func (p *Membership) foreign(from string, m *Message) {
	long := 2 * member.Instant(p.record.Settings.Lease)
	switch {
	case m.Kind != Other || m.Inc != p.inc:
	case m.Former != p.cluster(): // late: it answers what was sent before the process knew its cluster
	case p.inc == 0 && p.config.Cluster == 0:
		p.record, p.reached = Record{}, nil
	case m.Newer && (p.inc == 0 || p.now-p.served > long):
		p.refuse(&Recovered{p.cluster(), m.Cluster, from})
	case p.inc == 0 && p.misled(from):
		p.refuse(&OtherCluster{p.cluster(), m.Cluster, from})
	case p.inc != 0 && p.now-p.proper > long:
		p.end(Replaced)
	}
}

// sentOn redirects to the voter that is said to lead.
func (p *Membership) sentOn(leader string) {
	if leader == "" || leader == p.target {
		p.heard = false // no help: try the next one when it is time
		return
	}
	if p.hops < maxHops {
		p.hops++
		p.target = leader
		p.ask()
	}
}

// wait handles the reason why the process is not admitted yet.
func (p *Membership) wait(m *Message) error {
	if len(m.Record) > 0 {
		if err := p.adopt(m.Record); err != nil || p.phase != joining {
			return err
		}
	}
	p.why, p.due = m.Reason, p.now+4*p.retry()
	if m.Reason == Reach {
		p.probe()
	}
	if o := p.bearer(); o != nil && o.Address != p.config.Address {
		p.send(o.Address, &Message{Kind: Probe, Nonce: p.config.Nonce})
	}
	p.Out.Wake = p.due
	return nil
}

// probe asks members whether they hear this process.
func (p *Membership) probe() {
	for _, o := range p.record.Members {
		p.send(o.Address, &Message{Kind: Probe, Nonce: p.config.Nonce})
	}
}

// probed handles a member's answer to a probe. With the last one the process asks again
// at once.
func (p *Membership) probed(m *Message) {
	if p.phase != joining || m.Nonce != p.config.Nonce || p.record.Rank(m.Inc) < 0 {
		return
	}
	if o := p.bearer(); o != nil && o.Inc == m.Inc && o.Address != p.config.Address {
		p.refuse(&InUse{p.config.Name, p.config.Voter != 0 && p.config.Voter == o.Voter, o.Name, o.Address})
		return
	}
	was := len(p.reaches())
	p.reached = slices.DeleteFunc(p.reached, func(t timed) bool { return t.id == m.Inc })
	p.reached = append(p.reached, timed{m.Inc, p.now})
	if now := len(p.reaches()); now > was && now == len(p.record.Members) {
		p.ask()
	}
}

// reaches returns the members that were reached recently.
func (p *Membership) reaches() []uint64 {
	old := p.now - 12*p.retry()
	var all []uint64
	for _, t := range p.reached {
		if t.at >= old && p.record.Rank(t.id) >= 0 {
			all = append(all, t.id)
		}
	}
	slices.Sort(all)
	return all
}

// renewed handles the confirmation of a renewal, which may announce a newer view.
func (p *Membership) renewed(m *Message) {
	if p.phase != taking {
		return
	}
	p.Out.Renewed = append(p.Out.Renewed, m.Number)
	if p.renewal != nil && p.renewal.Number <= m.Number {
		p.renewal = nil
	}
	if m.Epoch > max(p.newer, p.record.Epoch) {
		p.newer = m.Epoch
		p.ask()
	}
}

// gone handles the notice that the process is no longer a member.
func (p *Membership) gone() {
	if p.phase == leaving {
		p.end(p.parting())
	} else {
		p.end(Evicted)
	}
}

// adopt adopts a record, if it is newer than the known one.
func (p *Membership) adopt(b []byte) error {
	r, err := ParseRecord(b)
	if err != nil {
		return err
	}
	p.take(r)
	return nil
}

// Know passes a leaving process a record of the voter in its own process, because
// former members are sent none.
func (p *Membership) Know(now member.Instant, r *Record) {
	p.hear(now)
	if p.phase == leaving && r.Cluster == p.record.Cluster && r.Epoch > p.record.Epoch {
		p.take(r.Clone())
	}
}

// take adopts a record, if it is newer than the known one.
func (p *Membership) take(r Record) {
	if r.Epoch <= p.record.Epoch {
		return
	}
	old := p.record
	p.record = r
	if seen := max(old.Epoch, p.newer, p.past().Epoch); r.Before < seen && seen < r.Epoch {
		p.Out.Back = seen
	}
	if i := r.bearer(p.config.Nonce); p.inc == 0 && i >= 0 {
		p.inc, p.phase, p.reached = r.Members[i].Inc, taking, nil
	}
	switch i := r.Rank(p.inc); {
	case p.inc == 0:
		return
	case i >= 0:
		p.config.Voter = r.Members[i].Voter
		p.Out.View = true
	case p.phase == leaving && !p.stops && r.voter(p.config.Voter) >= 0:
		return // the voters cannot do without it yet
	default:
		p.gone()
		return
	}
	if p.newer <= r.Epoch && !p.wants() && p.renewal == nil && p.phase == taking {
		p.due, p.Out.Wake = member.Never, member.Never
	}
}
