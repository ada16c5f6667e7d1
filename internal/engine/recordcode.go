package engine

import (
	"fmt"

	"github.com/stile-lock/stile/internal/member"
)

// recordForm is the first byte of a record: how the rest is to be read.
const recordForm = 1

// AppendTo appends the bytes of a record: its canonical form.
func (r *Record) AppendTo(b []byte) []byte {
	c := coder{b: append(b, recordForm)}
	r.fields(&c)
	return c.b
}

// ParseRecord reads a record. No bytes but those of AppendTo are read.
func ParseRecord(b []byte) (Record, error) {
	if len(b) == 0 || b[0] != recordForm {
		return Record{}, fmt.Errorf("%w: not a record of the form %d: it is of another version of stile", errBytes, recordForm)
	}
	var r Record
	c := coder{b: b[1:], reads: true}
	r.fields(&c)
	if err := c.end(); err != nil {
		return Record{}, err
	}
	if err := r.Check(); err != nil {
		return Record{}, fmt.Errorf("%w: %w", errBytes, err)
	}
	return r, nil
}

func (r *Record) fields(c *coder) {
	c.number(&r.Cluster)
	c.number(&r.Epoch)
	c.number(&r.Before)
	settings(c, &r.Settings)
	upTo(c, &r.Wanted, MaxVoters)
	list(c, &r.Members, member.MaxMembers, func(m *Member) {
		c.text(&m.Name, maxName)
		c.text(&m.Address, maxAddress)
		c.number(&m.Nonce)
		c.number(&m.Inc)
		c.number(&m.Voter)
	})
	c.numbers(&r.Formers, member.MaxMembers)
	ghosts(c, &r.Ghosts)
	choices(c, &r.Choices)
	list(c, &r.Voters, maxLeaving, func(v *Voter) {
		c.number(&v.ID)
		c.text(&v.Name, maxName)
		c.text(&v.Address, maxAddress)
		c.flag(&v.Leaves)
	})
}

func settings(c *coder, s *member.Settings) {
	c.span(&s.Lease)
	c.span(&s.Renew)
	upTo(c, &s.Drift, 1_000_000)
	upTo(c, &s.Act, 100)
	upTo(c, &s.Handover, 1_000_000)
	c.span(&s.ViewLife)
}

func ghosts(c *coder, all *[]Ghost) {
	list(c, all, member.MaxGhosts, func(g *Ghost) {
		c.number(&g.Inc)
		c.number(&g.Nonce)
		c.span(&g.Rest)
	})
}

func choices(c *coder, all *[]member.Choice) {
	list(c, all, maxChoices, func(x *member.Choice) {
		c.text(&x.Prefix, member.MaxName)
		c.text(&x.Algorithm, maxName)
		upTo(c, &x.Version, 1<<30)
	})
}
