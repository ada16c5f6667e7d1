package raft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// AppendTo appends the bytes of a batch.
func (b *Batch) AppendTo(dst []byte) []byte {
	dst = numbers(dst, b.Group, b.ID, b.Hard.Term, b.Hard.Vote, b.Hard.Commit)
	if s := b.Snapshot; s == nil {
		dst = append(dst, 0)
	} else {
		dst = numbers(append(dst, 1), s.Index, s.Term)
		for _, ids := range [...][]uint64{s.Electorate.Voters, s.Electorate.Outgoing, s.Electorate.Learners} {
			dst = numbers(numbers(dst, uint64(len(ids))), ids...)
		}
		dst = text(dst, s.Data)
	}
	dst = numbers(dst, uint64(len(b.Entries)))
	for _, e := range b.Entries {
		dst = text(append(numbers(dst, e.Index, e.Term), byte(e.Kind)), e.Data)
	}
	return dst
}

func numbers(dst []byte, all ...uint64) []byte {
	for _, n := range all {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

func text(dst, b []byte) []byte { return append(numbers(dst, uint64(len(b))), b...) }

// ParseBatch reads what AppendTo has written. It takes no more memory than the
// bytes deserve, and copies what it keeps.
func ParseBatch(b []byte) (Batch, error) {
	r := &reader{rest: b}
	batch := Batch{Group: r.number(), ID: r.number(), Hard: Hard{r.number(), r.number(), r.number()}}
	switch r.octet() {
	case 0:
	case 1:
		s := &Snapshot{Index: r.number(), Term: r.number()}
		s.Electorate = Electorate{Voters: r.list(), Outgoing: r.list(), Learners: r.list()}
		s.Data = r.text()
		batch.Snapshot = s
	default:
		r.bad = true
	}
	for range r.count() {
		batch.Entries = append(batch.Entries, Entry{Index: r.number(), Term: r.number(), Kind: Kind(r.octet()), Data: r.text()})
		if r.bad {
			break
		}
	}
	if r.bad {
		return Batch{}, errors.New("a batch that ends too early")
	}
	if len(r.rest) > 0 {
		return Batch{}, fmt.Errorf("a batch with %d bytes too many", len(r.rest))
	}
	return batch, nil
}

// A reader reads, until something is not there.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) octet() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// count reads how many things follow, each of which has at least a byte.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) || n > math.MaxInt32 {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) list() []uint64 {
	var all []uint64
	for range r.count() {
		all = append(all, r.number())
	}
	return all
}

func (r *reader) text() []byte {
	n := r.count()
	if n == 0 {
		return nil
	}
	b := append([]byte(nil), r.rest[:n]...)
	r.rest = r.rest[n:]
	return b
}
