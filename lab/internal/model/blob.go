package model

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stile-lock/stile/algorithm"
)

// blobs numbers all blobs of a model, for all its workers.
type blobs struct {
	mu    sync.Mutex
	ids   map[string]uint32
	infos []*blob

	content int64 // their total size in bytes

	anchors atomic.Bool // some blob has anchors
}

// A blob is the state of one machine or the content of one message.
type blob struct {
	id       uint32
	seat     algorithm.ID // seat whose state it is; None for a message
	bytes    []byte
	times    uint64    // logical times that occur in it, one bit for each, if they are renumbered
	counters []counter // counters that occur in it, if they are renumbered by rank
	seqs     bool      // it has counters
	counts   bool      // one of them is not 0
	anchor   []uint64
	tokens   int
	idem     bool
	alibis   uint64 // seats it gives an alibi, one bit for each
}

// A counter is a value that occurs somewhere in a column.
type counter struct {
	column algorithm.ID
	value  uint64
}

// maxBlobs is the number of different blobs that a stepKey can distinguish.
const maxBlobs = 1 << 22

// maxTime is the highest logical time that a canonical state can have.
const maxTime = 63

// TooMuch means that a state has more of something than the checker can distinguish:
// nothing is known about what it has not seen.
type TooMuch struct{ what string }

func (e TooMuch) Error() string { return e.what }

// tooManyTimes says that a time is too late, and what may be the reason.
func tooManyTimes(t uint64, spreads bool) error {
	s := fmt.Sprintf("a logical time reached %d, above %d: too many different times at once", t, maxTime)
	if !spreads {
		s += "; if its times can drift apart without bound, set Spec.Spreads"
	}
	return TooMuch{s}
}

func tooManyBlobs() error {
	return TooMuch{fmt.Sprintf("more than %d different machine states and messages", maxBlobs)}
}

// key returns the key under which a blob is stored.
func key(buf []byte, seat algorithm.ID, b []byte) []byte {
	buf = append(buf[:0], byte(seat+1))
	return append(buf, b...)
}

// number returns the blob with these bytes, made by describe if it is new.
func (t *blobs) number(k []byte, describe func(b *blob) error) (*blob, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[string(k)]; ok {
		return t.infos[id], nil
	}
	if len(t.infos) == maxBlobs {
		return nil, tooManyBlobs()
	}
	b := &blob{id: uint32(len(t.infos)), seat: algorithm.ID(k[0]) - 1, bytes: append([]byte(nil), k[1:]...)}
	if err := describe(b); err != nil {
		return nil, err
	}
	if b.anchor != nil {
		t.anchors.Store(true)
	}
	t.infos = append(t.infos, b)
	t.content += int64(len(k))
	t.ids[string(k)] = b.id
	return b, nil
}

func (t *blobs) get(id uint32) *blob {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.infos[id]
}

// some reports whether there is a blob for which f holds.
func (t *blobs) some(f func(b *blob) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.infos, f)
}

// A lister notes the times and counters that it visits in a blob.
type lister struct {
	b    *blob
	n    int
	form Form
	err  error
}

// Time implements host.TimeVisitor.
func (l *lister) Time(t *uint64) {
	if *t != 0 {
		l.Ticket(t)
	}
}

// Ticket implements host.TimeVisitor.
func (l *lister) Ticket(t *uint64) {
	switch {
	case l.form.Times == Kept:
	case *t > maxTime:
		l.err = tooManyTimes(*t, l.form.Times == Spread)
	default:
		l.b.times |= 1 << *t
	}
}

// Seq implements host.TimeVisitor.
func (l *lister) Seq(column algorithm.ID, v *uint64) {
	l.b.seqs = l.form.Counters != Kept
	l.b.counts = l.b.counts || *v != 0
	if c := (counter{column, *v}); l.form.Counters == Ranked && *v != 0 && !slices.Contains(l.b.counters, c) {
		l.b.counters = append(l.b.counters, c)
	}
}

// Anchor implements host.TimeVisitor.
func (l *lister) Anchor(column algorithm.ID, v *uint64) {
	l.Seq(column, v)
	if l.form.Counters == Measured {
		if l.b.anchor == nil {
			l.b.anchor = make([]uint64, l.n)
		}
		l.b.anchor[column] = *v
	}
}
