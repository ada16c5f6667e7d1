package raft

import (
	"errors"
	"math"

	"github.com/stile-lock/stile/internal/codec"
)

// errBatch is the error for bytes that AppendTo has not written.
var errBatch = errors.New("malformed batch")

// AppendTo appends the encoded batch.
func (b *Batch) AppendTo(dst []byte) []byte {
	c := codec.Coder{B: dst}
	b.fields(&c)
	return c.B
}

// ParseBatch reads what AppendTo has written. The memory it takes is bounded by the
// number of bytes, and it copies what it keeps.
func ParseBatch(b []byte) (Batch, error) {
	var batch Batch
	c := codec.Coder{B: b, Bad: errBatch}
	batch.fields(&c)
	if err := c.End(); err != nil {
		return Batch{}, err
	}
	return batch, nil
}

func (b *Batch) fields(c *codec.Coder) {
	for _, n := range [...]*uint64{&b.Group, &b.ID, &b.Hard.Term, &b.Hard.Vote, &b.Hard.Commit} {
		c.Number(n)
	}
	snapshot := b.Snapshot != nil
	if c.Flag(&snapshot); snapshot {
		if b.Snapshot == nil {
			b.Snapshot = &Snapshot{}
		}
		b.Snapshot.fields(c)
	}
	codec.List(c, &b.Entries, math.MaxInt32, func(e *Entry) {
		c.Number(&e.Index)
		c.Number(&e.Term)
		codec.Within(c, &e.Kind, 0, uint64(Change))
		data(c, &e.Data)
	})
}

func (s *Snapshot) fields(c *codec.Coder) {
	c.Number(&s.Index)
	c.Number(&s.Term)
	for _, ids := range [...]*[]uint64{&s.Electorate.Voters, &s.Electorate.Outgoing, &s.Electorate.Learners} {
		c.Numbers(ids, math.MaxInt32)
	}
	data(c, &s.Data)
}

// data codes bytes that the reader keeps.
func data(c *codec.Coder, p *[]byte) {
	if c.Bytes(p, math.MaxInt32); c.Reads() {
		*p = append([]byte(nil), *p...)
	}
}
