package explore

import "encoding/binary"

// AppendState appends a state to a list, preceded by its length.
func AppendState(list, state []byte) []byte {
	list = binary.AppendUvarint(list, uint64(len(state)))
	return append(list, state...)
}

// TakeState removes and returns the first state of a list.
func TakeState(list *[]byte) []byte {
	size, n := binary.Uvarint(*list)
	state := (*list)[n : n+int(size)]
	*list = (*list)[n+int(size):]
	return state
}

// A frontier holds the states of one level that remain to be explored, and
// those of the next level.
type frontier struct {
	now, next []byte
	rest      []byte // rest of now
	level     int    // number of levels taken completely
}

// put puts a state into the next level.
func (f *frontier) put(state []byte) { f.next = AppendState(f.next, state) }

// more reports whether there is a state to take, moving on to the next level if
// necessary.
func (f *frontier) more() bool {
	if len(f.rest) == 0 && len(f.next) > 0 {
		if len(f.now) > 0 {
			f.level++
		}
		f.now, f.next = f.next, f.now[:0]
		f.rest = f.now
	}
	return len(f.rest) > 0
}

// take removes and returns a state. It is valid until more is called.
func (f *frontier) take() []byte { return TakeState(&f.rest) }

func (f *frontier) bytes() int64 { return int64(cap(f.now) + cap(f.next)) }

// blocks returns the number of blocks of states that remain to be explored.
func (f *frontier) blocks() int { return (len(f.rest) + len(f.next) + chunkSize - 1) / chunkSize }
