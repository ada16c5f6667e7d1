package storm

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
)

// A service is the view service as an oracle: it never fails, and its clock is
// true.
type service struct {
	w      *world
	incs   uint64
	view   member.View
	views  []member.View
	leases map[uint64]int64 // until when each incarnation may act, by true time
	at     map[uint64]core.ID
	joins  []uint64
	leaves []uint64
	since  int64 // when the view was committed
}

func (s *service) begin(first []member.Who) {
	s.view = member.View{Epoch: 1, Members: first, Choices: s.w.Choices}
	for _, m := range first {
		s.leases[m.Inc] = s.w.Now() + int64(s.w.Settings.Patience())
	}
	s.commit(s.view)
}

func (s *service) commit(v member.View) {
	s.view, s.since = v, s.w.Now()
	s.views = append(s.views, v)
	s.push()
}

// push tells the members of the view.
func (s *service) push() {
	for _, m := range s.view.Members {
		s.send(m.Inc, binary.AppendUvarint([]byte{view}, s.view.Epoch))
	}
}

func (s *service) send(inc uint64, b []byte) { s.w.transmit(0, s.at[inc], b) }

func (s *service) alive() int { return len(s.view.Members) + len(s.joins) }

func (s *service) receive(from core.ID, b []byte) {
	inc, n := binary.Uvarint(b[1:])
	x, _ := binary.Uvarint(b[1+n:])
	in := s.view.Rank(inc) >= 0
	switch b[0] {
	case join:
		if !in && !slices.Contains(s.joins, inc) && s.leases[inc] == 0 {
			s.joins = append(s.joins, inc)
		}
	case leaving:
		if in && !slices.Contains(s.leaves, inc) {
			s.leaves = append(s.leaves, inc)
		}
	case renew:
		switch {
		case in && !slices.Contains(s.leaves, inc):
			s.leases[inc] = s.w.Now() + int64(s.w.Settings.Patience())
			s.send(inc, binary.AppendUvarint(binary.AppendUvarint([]byte{renewed}, inc), x))
			s.send(inc, binary.AppendUvarint([]byte{view}, s.view.Epoch))
		case s.leases[inc] != 0 && !in:
			s.send(inc, binary.AppendUvarint([]byte{out}, inc))
		default:
			if !in && !slices.Contains(s.joins, inc) {
				s.joins = append(s.joins, inc)
			}
		}
	}
}

// tick changes the view if somebody has not renewed for long, wants to join or
// to leave.
func (s *service) tick() {
	set := s.w.Settings
	if s.w.Now()-s.since < int64(set.ViewLife) {
		return
	}
	v := member.View{Epoch: s.view.Epoch + 1, BeforeEpoch: s.view.Epoch, Choices: s.view.Choices}
	quiet := int64(set.Patience()) - 3*int64(set.Renew)
	for _, m := range s.view.Members {
		v.Before = append(v.Before, m.Inc)
		left := s.leases[m.Inc] - s.w.Now()
		switch {
		case slices.Contains(s.leaves, m.Inc):
		case left < quiet:
			v.Ghosts = append(v.Ghosts, member.Ghost{Inc: m.Inc, Rest: member.Span(max(0, left))})
		default:
			v.Members = append(v.Members, m)
		}
	}
	for _, g := range s.view.Ghosts {
		if left := s.leases[g.Inc] - s.w.Now(); left > 0 {
			v.Ghosts = append(v.Ghosts, member.Ghost{Inc: g.Inc, Rest: member.Span(left)})
		}
	}
	for _, inc := range s.joins {
		v.Members = append(v.Members, member.Who{Name: fmt.Sprint("m", inc), Inc: inc})
		s.leases[inc] = s.w.Now() + int64(set.Patience())
	}
	if len(v.Members) == 0 || len(v.Members) == len(s.view.Members) && len(s.joins) == 0 {
		return
	}
	s.joins, s.leaves = nil, nil
	s.commit(v)
}
