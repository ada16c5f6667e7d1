package member

// Replaced when links are under flow control.
type LinkEnd struct {
	Peer uint64
	Why  error
}

func (s *Sessions) Ended() []LinkEnd               { return nil }
func (s *Sessions) Room(to uint64) bool            { return true }
func (m *Member) Bulk() bool                       { return false }
func (m *Member) More(now Instant, to uint64) bool { return false }
