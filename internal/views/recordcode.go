package views

import (
	"fmt"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/ticket"
)

// recordForm is the first byte of a record: the format of the rest.
const recordForm = 1

// AppendTo appends the encoded record: its canonical form.
func (r *Record) AppendTo(b []byte) []byte {
	c := codec.Coder{B: append(b, recordForm)}
	r.fields(&c)
	return c.B
}

// ParseRecord reads a record. It accepts only what AppendTo writes.
func ParseRecord(b []byte) (Record, error) {
	if len(b) == 0 || b[0] != recordForm {
		return Record{}, fmt.Errorf("%w: not a record in format %d: another version of stile wrote it", errBytes, recordForm)
	}
	var r Record
	c := codec.Coder{B: b[1:], Bad: errBytes}
	r.fields(&c)
	if err := c.End(); err != nil {
		return Record{}, err
	}
	if err := r.Check(); err != nil {
		return Record{}, fmt.Errorf("%w: %w", errBytes, err)
	}
	return r, nil
}

func (r *Record) fields(c *codec.Coder) {
	c.Number(&r.Cluster)
	c.Number(&r.Epoch)
	c.Number(&r.Before)
	CodeSettings(c, &r.Settings)
	codec.Within(c, &r.Wanted, 0, MaxVoters)
	codec.List(c, &r.Members, member.MaxMembers, func(m *Member) {
		c.Text(&m.Name, maxName)
		c.Text(&m.Address, member.MaxAddress)
		c.Number(&m.Nonce)
		c.Number(&m.Inc)
		c.Number(&m.Voter)
	})
	c.Numbers(&r.Formers, member.MaxMembers)
	ghosts(c, &r.Ghosts)
	choices(c, &r.Choices)
	codec.List(c, &r.Voters, maxLeaving, func(v *Voter) {
		c.Number(&v.ID)
		c.Text(&v.Name, maxName)
		c.Text(&v.Address, member.MaxAddress)
		c.Flag(&v.Leaves)
	})
	c.Numbers(&r.Earlier, maxEarlier)
	codec.List(c, &r.Keys, ticket.MaxKeys, func(k *ticket.Key) {
		c.Number(&k.Epoch)
		c.Fixed(k.Secret[:])
	})
	c.Number(&r.Parted)
}

// CodeSettings codes the settings of a cluster.
func CodeSettings(c *codec.Coder, s *member.Settings) {
	s.Lease.Code(c)
	s.Renew.Code(c)
	codec.Within(c, &s.Drift, 0, 1_000_000)
	codec.Within(c, &s.Act, 0, 100)
	codec.Within(c, &s.Handover, 0, 1_000_000)
	s.ViewLife.Code(c)
	s.Replace.Code(c)
}

func ghosts(c *codec.Coder, all *[]Ghost) {
	codec.List(c, all, member.MaxGhosts, func(g *Ghost) {
		c.Number(&g.Inc)
		c.Number(&g.Nonce)
		g.Rest.Code(c)
	})
}

func choices(c *codec.Coder, all *[]member.Choice) {
	codec.List(c, all, maxChoices, func(x *member.Choice) {
		c.Text(&x.Prefix, member.MaxName)
		c.Text(&x.Algorithm, maxName)
		codec.Within(c, &x.Version, 0, 1<<30)
	})
}
