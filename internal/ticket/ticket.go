package ticket

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
)

// A Key is what the members of a cluster share to make tickets. It is made at its founding and
// replaced now and then; it lives with the record of the view, and travels only between members.
type Key struct {
	Epoch  uint64 // of the view that has it first
	Secret [32]byte
}

const (
	// MaxKeys is the number of keys that a cluster has at a time: the next one, which members
	// accept but do not use yet, the one that they use, and the one before. A member may be
	// behind the others by one change of keys, so that each knows the key that another one uses.
	MaxKeys = 3

	// MaxThrough is the number of incarnations in a ticket. A client that has held a lock
	// through more names the last ones.
	MaxThrough = 12

	// MaxBytes is the maximum length of a ticket.
	MaxBytes = 200

	domain = "stile ticket 1"
)

// Use returns the index of the key that members use; -1 if there is none.
func Use(keys []Key) int { return min(1, len(keys)-1) }

// A Ticket is what a cluster asserts about a client's hold.
type Ticket struct {
	Token   member.Token // the first one
	Last    uint64       // last count of the block; that of the token if the lock is not delegated
	Terms   member.Terms
	Through []uint64 // incarnations through which the client was told that it holds the lock; it rests on the last one
}

// fields codes a ticket without its code.
func (t *Ticket) fields(c *codec.Coder, key *uint64) {
	c.Number(key)
	c.Number(&t.Token.Epoch)
	c.Number(&t.Token.Count)
	more := t.Last - t.Token.Count
	c.Number(&more)
	t.Last = t.Token.Count + more
	t.Terms.Code(c)
	c.Numbers(&t.Through, MaxThrough)
}

// Errors of tickets. They are for the node's log: clients are not told why.
var (
	errBytes = errors.New("malformed ticket")
	errKey   = errors.New("a ticket under a key that this cluster does not have, or no longer has")
	errCode  = errors.New("a ticket that this cluster has not made, or not for this lock and this client")
)

// An Office makes and checks the tickets of a cluster.
type Office struct {
	cluster uint64
	keys    []Key
	macs    []cmac // of the keys
	about   []byte
}

// Set sets the cluster and its keys, the newest first, and reports whether the key that tickets
// are made with is another one now.
func (o *Office) Set(cluster uint64, keys []Key) (changed bool) {
	changed = o.cluster != cluster || Use(o.keys) < 0 || Use(keys) < 0 || o.keys[Use(o.keys)] != keys[Use(keys)]
	o.cluster, o.keys, o.macs = cluster, append(o.keys[:0:0], keys...), o.macs[:0:0]
	for i := range o.keys {
		o.macs = append(o.macs, newCMAC(o.keys[i].Secret))
	}
	return changed
}

// AppendTo appends the ticket of a client for a lock. Without a key it appends nothing.
func (o *Office) AppendTo(b []byte, t *Ticket, who, name string) []byte {
	i := Use(o.keys)
	if i < 0 {
		return b
	}
	from := len(b)
	c := codec.Coder{B: b}
	t.fields(&c, &o.keys[i].Epoch)
	return append(c.B, o.mac(i, c.B[from:], who, name)...)
}

// Check returns what a ticket of a client for a lock asserts.
func (o *Office) Check(b []byte, who, name string) (Ticket, error) {
	var t Ticket
	var key uint64
	if len(b) <= codeBytes || len(b) > MaxBytes {
		return t, fmt.Errorf("%w: %d bytes", errBytes, len(b))
	}
	fields, code := b[:len(b)-codeBytes], b[len(b)-codeBytes:]
	c := codec.Coder{B: fields, Bad: errBytes}
	t.fields(&c, &key)
	if err := c.End(); err != nil {
		return Ticket{}, err
	}
	for i := range o.keys {
		if o.keys[i].Epoch != key {
			continue
		}
		if subtle.ConstantTimeCompare(o.mac(i, fields, who, name), code) != 1 {
			return Ticket{}, errCode
		}
		if len(t.Through) == 0 {
			return Ticket{}, errBytes
		}
		return t, nil
	}
	return Ticket{}, errKey
}

// mac returns the code of a ticket, which is valid until the next call.
func (o *Office) mac(i int, fields []byte, who, name string) []byte {
	b := append(o.about[:0], domain...)
	b = binary.AppendUvarint(b, o.cluster)
	b = append(binary.AppendUvarint(b, uint64(len(who))), who...)
	b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	o.about = append(b, fields...)
	return o.macs[i].sum(o.about)
}

// Named returns incarnations with one more, which becomes the last.
func Named(all []uint64, inc uint64) []uint64 {
	named := make([]uint64, 0, len(all)+1)
	for _, i := range all {
		if i != inc {
			named = append(named, i)
		}
	}
	named = append(named, inc)
	return named[max(0, len(named)-MaxThrough):]
}
