package explore

import "encoding/binary"

// AppendState appends a state to others, with its length before it.
func AppendState(list, state []byte) []byte {
	list = binary.AppendUvarint(list, uint64(len(state)))
	return append(list, state...)
}

// TakeState takes the first state off a list.
func TakeState(list *[]byte) []byte {
	size, n := binary.Uvarint(*list)
	state := (*list)[n : n+int(size)]
	*list = (*list)[n+int(size):]
	return state
}
