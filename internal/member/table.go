package member

// A table holds the locks that are known in one view. There may be a million of them,
// nearly all idle, so each takes little: a record of fixed size, its name among the
// others' names, a place in an index, and, if the state of its instance is long, a
// place on a shelf. All of it but the index grows by pieces, so that growing copies
// nothing.
type table struct {
	records arena[lock]
	names   arena[byte]
	index   []uint32 // open addressing: 1 + the number of a lock, or 0
	shelves [shelves]shelf
	huge    map[int32][]byte // states that fit nowhere else
}

// A lock is the record of one lock. Its waiters, and everything else that only locks in
// use have, are kept separately; busy says where.
type lock struct {
	name  uint32 // where its name begins
	len   uint16 // length of the name
	home  uint8  // rank of its home
	alg   uint8  // which of the view's choices serves it
	count uint64 // of the last known entry in this epoch
	busy  int32  // its index among the uses, or -1
	flags flags
	size  uint8 // of its state, or hugeState
	state [inline]byte
}

const (
	inline    = 26 // bytes of a state that fit into the record, which has 48
	hugeState = 255
)

// MaxName is the maximum length of a name, in bytes.
const MaxName = 512

type flags uint8

const (
	touched  flags = 1 << iota // the instance has left the state that it was born in
	cleared                    // its home has released it in this epoch
	opened                     // at the home: it has entered or lent it in this epoch
	followed                   // marks show what happens to it: see Trail
	silent                     // no frame about it has come since it was last idle here
)

func (l *lock) is(f flags) bool { return l.flags&f != 0 }

// len returns the number of known locks.
func (t *table) len() int { return t.records.n }

// lock returns the record of a lock.
func (t *table) lock(n int32) *lock { return t.records.at(int(n)) }

// find returns the number of a lock, or -1 if it is not known.
func find[S ~string | ~[]byte](t *table, name S, hash uint64) int32 {
	if len(t.index) == 0 {
		return -1
	}
	last := uint64(len(t.index) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		n := t.index[i]
		if n == 0 {
			return -1
		}
		if string(t.name(int32(n-1))) == string(name) {
			return int32(n - 1)
		}
	}
}

// add adds a lock that is not known yet.
func add[S ~string | ~[]byte](t *table, name S, hash uint64) int32 {
	if 4*(t.len()+1) > 3*len(t.index) {
		t.grow()
	}
	l := lock{name: uint32(t.names.room(len(name))), len: uint16(len(name)), busy: -1}
	copy(t.names.piece(int(l.name), len(name)), name)
	n := t.records.room(1)
	*t.records.at(n) = l
	t.put(int32(n), hash)
	return int32(n)
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
	for n := range t.len() {
		t.put(int32(n), hashName(t.name(int32(n))))
	}
}

// name returns the name of a lock.
func (t *table) name(n int32) []byte {
	l := t.lock(n)
	return t.names.piece(int(l.name), int(l.len))
}

// state returns the state of a lock's instance.
func (t *table) state(n int32) []byte {
	switch l := t.lock(n); {
	case l.size <= inline:
		return l.state[:l.size]
	case l.size == hugeState:
		return t.huge[n]
	default:
		return t.shelves[class(int(l.size))].get(l.place(), int(l.size))
	}
}

// setState stores the state of a lock's instance.
func (t *table) setState(n int32, b []byte) {
	l := t.lock(n)
	was, is := class(int(l.size)), class(len(b))
	if was != is {
		t.drop(n)
	}
	switch {
	case is == 0:
		l.size = uint8(copy(l.state[:], b))
	case is == shelves:
		if t.huge == nil {
			t.huge = map[int32][]byte{}
		}
		t.huge[n] = append(t.huge[n][:0], b...)
		l.size = hugeState
	default:
		s := &t.shelves[is]
		if was != is {
			l.setPlace(s.take(is * step))
		}
		l.size = uint8(copy(s.get(l.place(), len(b)), b))
	}
}

// drop gives back the place of a state outside of its record.
func (t *table) drop(n int32) {
	switch l := t.lock(n); {
	case l.size <= inline:
	case l.size == hugeState:
		delete(t.huge, n)
	default:
		s := &t.shelves[class(int(l.size))]
		s.free = append(s.free, l.place())
	}
}

// bytes returns the memory that the table takes.
func (t *table) bytes() int {
	const record, entry = 48, 64
	n := t.records.cap()*record + t.names.cap() + 4*cap(t.index)
	for i := range t.shelves {
		n += t.shelves[i].cap() + 4*cap(t.shelves[i].free)
	}
	return n + len(t.huge)*(entry+2*hugeState)
}

// Shelves hold states that do not fit into their records, those of similar sizes on
// one.
const (
	step    = 16
	shelves = (hugeState-1)/step + 1 // the first is not used
)

// A shelf has places of one size.
type shelf struct {
	arena[byte]
	free []uint32 // places that were given back
}

// class returns the shelf for a state of this size: 0 if it fits into its record,
// shelves if it fits on none.
func class(size int) int {
	if size <= inline {
		return 0
	}
	return min((size+step-1)/step, shelves)
}

func (s *shelf) take(size int) uint32 {
	if k := len(s.free) - 1; k >= 0 {
		at := s.free[k]
		s.free = s.free[:k]
		return at
	}
	return uint32(s.room(size))
}

func (s *shelf) get(at uint32, size int) []byte { return s.piece(int(at), size) }

// place returns the place of a lock's state on its shelf.
func (l *lock) place() uint32 {
	return uint32(l.state[0]) | uint32(l.state[1])<<8 | uint32(l.state[2])<<16 | uint32(l.state[3])<<24
}

func (l *lock) setPlace(at uint32) {
	l.state[0], l.state[1], l.state[2], l.state[3] = byte(at), byte(at>>8), byte(at>>16), byte(at>>24)
}
