package check

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stile-lock/stile/core"
)

// A blob is the state of one machine or the content of one message. There are
// few different ones, so a global state names them by number, and what a
// machine does with an input is found out once, by running it.

// blobs numbers all blobs of a model, for all its workers.
type blobs struct {
	mu      sync.Mutex
	ids     map[string]uint32
	infos   []*blob
	content int64 // bytes of them

	anchors atomic.Bool // some blob has anchors
}

type blob struct {
	id     uint32
	seat   core.ID // whose state it is; None for a message
	bytes  []byte
	kind   uint8  // of a message
	times  uint64 // which logical times occur in it, one bit for each
	ticket bool   // it has tickets, for which 0 is a live value
	seqs   bool   // it has counters
	anchor []uint64
	tokens int
	idem   bool
	clock  uint64 // of a machine
	alibis uint32 // whom it gives an alibi, one bit for each seat
}

// maxTime is the highest logical time that a canonical state can have.
const maxTime = 63

// tooManyTimes means that a state has more different logical times than the
// checker can keep apart.
type tooManyTimes struct {
	t       uint64
	spreads bool // the Spec says that they drift apart
}

func (e tooManyTimes) Error() string {
	s := fmt.Sprintf("a logical time reached %d, above %d: too many different times at once", e.t, maxTime)
	if !e.spreads {
		s += "; if its times can drift apart without bound, set Spec.Spreads"
	}
	return s
}

// tooManyBlobs means that there are more different machine states and messages
// than the checker can number.
type tooManyBlobs struct{}

func (tooManyBlobs) Error() string {
	return fmt.Sprintf("there are more than %d different machine states and messages", maxBlobs)
}

// A lister makes a blob of what it visits.
type lister struct {
	b       *blob
	n       int
	spreads bool
	err     error
}

func (l *lister) Time(t *uint64) {
	if *t == 0 {
		return
	}
	l.mark(*t)
}

func (l *lister) Ticket(t *uint64) {
	l.b.ticket = true
	l.mark(*t)
}

func (l *lister) mark(t uint64) {
	if t > maxTime {
		l.err = tooManyTimes{t, l.spreads}
		return
	}
	l.b.times |= 1 << t
}

func (l *lister) Seq(core.ID, *uint64) { l.b.seqs = true }

func (l *lister) Anchor(column core.ID, v *uint64) {
	if l.b.anchor == nil {
		l.b.anchor = make([]uint64, l.n)
	}
	l.b.anchor[column] = *v
	l.b.seqs = true
}

// A mapper rewrites the times and counters of what it visits.
type mapper struct {
	times  [maxTime + 1]uint64 // what each time becomes
	anchor []uint64            // what each column is measured from
}

func (m *mapper) Time(t *uint64) {
	if *t != 0 {
		*t = m.times[*t]
	}
}

func (m *mapper) Ticket(t *uint64) { *t = m.times[*t] }

func (m *mapper) Seq(column core.ID, v *uint64) {
	if m.anchor != nil {
		*v = max(*v, m.anchor[column]) - m.anchor[column]
	}
}

func (m *mapper) Anchor(column core.ID, v *uint64) { m.Seq(column, v) }

// key is how a blob is found again.
func key(buf []byte, seat core.ID, b []byte) []byte {
	buf = append(buf[:0], byte(seat+1))
	return append(buf, b...)
}

// number returns the blob of these bytes, made by describe if it is new.
func (t *blobs) number(k []byte, describe func(b *blob) error) (*blob, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[string(k)]; ok {
		return t.infos[id], nil
	}
	if len(t.infos) == maxBlobs {
		return nil, tooManyBlobs{}
	}
	b := &blob{id: uint32(len(t.infos)), seat: core.ID(k[0]) - 1, bytes: append([]byte(nil), k[1:]...)}
	if err := describe(b); err != nil {
		return nil, err
	}
	if b.anchor != nil {
		t.anchors.Store(true)
	}
	t.infos = append(t.infos, b)
	t.ids[string(k)] = b.id
	t.content += int64(len(k))
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
