package member

// An arena is a long list that grows by pieces, so that growing copies nothing and
// leaves no garbage. No run of elements crosses the end of a piece.
type arena[T any] struct {
	pieces [][]T
	n      int // length, with the unused elements at the ends of pieces
}

const (
	pieceBits = 14
	pieceLen  = 1 << pieceBits
	firstLen  = 64 // the first piece starts small, and is the only one that is copied
)

// room makes room for a run of k elements, at most pieceLen, and returns its index.
func (s *arena[T]) room(k int) int {
	if left := -s.n & (pieceLen - 1); left < k && left > 0 {
		s.n += left
	}
	at := s.n
	s.n += k
	last := at >> pieceBits
	if last == len(s.pieces) {
		first := pieceLen
		if last == 0 {
			first = firstLen
		}
		s.pieces = append(s.pieces, make([]T, max(k, first)))
	}
	if need := at&(pieceLen-1) + k; need > len(s.pieces[last]) {
		more := make([]T, min(pieceLen, max(need, 2*len(s.pieces[last]))))
		copy(more, s.pieces[last])
		s.pieces[last] = more
	}
	return at
}

// at returns one element. The pointer is valid until the arena grows.
func (s *arena[T]) at(i int) *T { return &s.pieces[i>>pieceBits][i&(pieceLen-1)] }

// piece returns a run of k elements.
func (s *arena[T]) piece(i, k int) []T {
	from := i & (pieceLen - 1)
	return s.pieces[i>>pieceBits][from : from+k : from+k]
}

// cap returns the number of elements that there is room for.
func (s *arena[T]) cap() int {
	n := 0
	for _, p := range s.pieces {
		n += len(p)
	}
	return n
}
