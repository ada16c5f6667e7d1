package storm

import (
	"encoding/binary"

	"github.com/stile-lock/stile/internal/member"
)

// What the member's draft lacks of its interface.

type node struct {
	*member.Member
	s       member.Settings
	t0      map[uint64]member.Instant
	serial  uint64
	renewAt member.Instant
	in, bye bool
}

func newNode(c member.Config) (*node, error) {
	m, err := member.New(c)
	return &node{Member: m, s: c.Settings, t0: map[uint64]member.Instant{}}, err
}

func (n *node) raw() *member.Member { return n.Member }

func (n *node) Renewed(now member.Instant, serial uint64) {
	n.Leased(now, n.t0[serial]+member.Instant(n.s.Lease))
}

func (n *node) Leave(now member.Instant) { n.bye = true; n.Gone(now) }

func (n *node) outRenew(now member.Instant) (uint64, bool) {
	if !n.in || n.bye || now < n.renewAt {
		return 0, false
	}
	n.serial++
	n.t0[n.serial] = now
	n.renewAt = now + member.Instant(n.s.Renew)
	return n.serial, false
}

func (n *node) outWake() member.Instant {
	if !n.in || n.bye {
		return n.Out.Wake
	}
	return min(n.Out.Wake, n.renewAt)
}

func (n *node) reset() {
	n.Out.Frames, n.Out.Events = n.Out.Frames[:0], n.Out.Events[:0]
}

// The kinds of frames, by their first byte.
const (
	algFrame = iota
	touchFrame
	reportFrame
	releasedFrame
	queryFrame
	answerFrame
	lendFrame
)

// A sight is what the oracle sees of a frame.
type sight struct {
	kind    int
	name    []byte
	cleared bool
}

func see(b []byte) (s sight, ok bool) {
	s.kind = int(b[0])
	l := letter(b[1:])
	l.next()
	switch s.kind {
	case reportFrame, queryFrame, answerFrame:
		return s, true
	}
	n := l.next()
	s.name = l[:n]
	l = l[n:]
	if s.kind == algFrame {
		s.cleared = l.next() == 1
	}
	return s, true
}

func homeOf(v *member.View, name string) int {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return v.Home(h ^ h>>31)
}

func packetEpoch(b []byte) uint64 { v, _ := binary.Uvarint(b); return v }

var kindNames = [...]string{"ALG", "TOUCH", "REPORT", "RELEASED", "QUERY", "ANSWER", "LEND", "RETURN", "DONE", "PROBE", "BUSY", "FREE"}
