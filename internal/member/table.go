package member

import "slices"

// A table is the locks that are known in one view. There may be a million of
// them, nearly all idle, so each takes little: a record of fixed size, its name
// in a common arena, and a place in an index.
type table struct {
	locks []lock
	names []byte
	index []uint32          // open addressing: 1 + the number of a lock, or 0
	long  map[uint32][]byte // states that do not fit into their records
}

// A lock is what is known of one lock. Who waits, and all else that only locks
// in use have, is kept apart; busy says where.
type lock struct {
	at    uint64 // where its name begins, times 1<<16, and how long it is
	count uint64 // of the last entry that is known of in this epoch
	busy  int32  // its place among those in use, or -1
	home  uint8  // the rank of its home
	alg   uint8  // which of the view's choices serves it
	flags flags
	size  uint8 // of its state, or long
	state [inline]byte
}

const (
	inline    = 24
	longState = 255
	nameBits  = 16
)

// MaxName is how many bytes a name may have.
const MaxName = 512

type flags uint8

const (
	touched flags = 1 << iota // the instance has left the state it was born in
	cleared                   // its home has let go of it in this epoch
)

func (l *lock) is(f flags) bool { return l.flags&f != 0 }

// find returns the number of a lock, or -1 if it is not known.
func (t *table) find(name string, hash uint64) int32 {
	if len(t.index) == 0 {
		return -1
	}
	last := uint64(len(t.index) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		n := t.index[i]
		if n == 0 {
			return -1
		}
		if string(t.name(int32(n-1))) == name {
			return int32(n - 1)
		}
	}
}

// add makes a lock known, which it is not. The pointer is valid until the next
// one is added.
func (t *table) add(name string, hash uint64) (int32, *lock) {
	if 4*(len(t.locks)+1) > 3*len(t.index) {
		t.grow()
	}
	n := int32(len(t.locks))
	t.locks = append(t.locks, lock{at: uint64(len(t.names))<<nameBits | uint64(len(name)), busy: -1})
	t.names = append(t.names, name...)
	t.put(n, hash)
	return n, &t.locks[n]
}

func (t *table) put(n int32, hash uint64) {
	last := uint64(len(t.index) - 1)
	i := hash & last
	for t.index[i] != 0 {
		i = (i + 1) & last
	}
	t.index[i] = uint32(n) + 1
}

// grow makes room in the index.
func (t *table) grow() {
	t.index = make([]uint32, max(16, 2*len(t.index)))
	for n := range t.locks {
		t.put(int32(n), hashName(string(t.name(int32(n)))))
	}
}

// name returns the name of a lock.
func (t *table) name(n int32) []byte {
	at := t.locks[n].at
	from := at >> nameBits
	return t.names[from : from+at&(1<<nameBits-1)]
}

// stateOf returns the state of a lock's instance.
func (t *table) stateOf(n int32) []byte {
	l := &t.locks[n]
	if l.size == longState {
		return t.long[uint32(n)]
	}
	return l.state[:l.size]
}

// setState keeps the state of a lock's instance.
func (t *table) setState(n int32, b []byte) {
	l := &t.locks[n]
	if len(b) > inline {
		if t.long == nil {
			t.long = map[uint32][]byte{}
		}
		t.long[uint32(n)] = append(t.long[uint32(n)][:0], b...)
		l.size = longState
		return
	}
	if l.size == longState {
		delete(t.long, uint32(n))
	}
	l.size = uint8(copy(l.state[:], b))
}

// bytes is about how much memory the table takes.
func (t *table) bytes() int {
	const record, entry = 48, 80
	return cap(t.locks)*record + cap(t.names) + 4*cap(t.index) + len(t.long)*entry
}

// A set is some of a view's universe.
type set [4]uint64

func (s *set) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s *set) drop(i int)     { s[i>>6] &^= 1 << (i & 63) }
func (s *set) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s set) empty() bool     { return s == set{} }
func (s set) and(o set) set   { return set{s[0] & o[0], s[1] & o[1], s[2] & o[2], s[3] & o[3]} }

// first returns a set of the first n.
func first(n int) set {
	var s set
	for i := range n {
		s.add(i)
	}
	return s
}

// list returns the places that are in the set.
func (s set) list() []int {
	var all []int
	for i := range 64 * len(s) {
		if s.has(i) {
			all = append(all, i)
		}
	}
	return slices.Clip(all)
}
