package check

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
)

// sites is the model of a method against deadlock: machines at sites, FIFO
// links between them, and processes that run transactions. Who is told to
// abort does so at once, and may start again at any time.
type sites struct {
	DeadlockConfig
	spec    core.Spec
	birth   core.Birth
	request uint8 // the kind of message that asks for a lock
	dooms   []uint8

	allTimers bool // for tests: those run, too, that would change nothing
}

func newSites(c DeadlockConfig) (*sites, error) {
	spec, err := c.Method.Spec(c.Layout, c.Mode)
	if err != nil {
		return nil, err
	}
	if len(c.Programs) != len(c.Layout.Home) || len(c.Programs) > 16 {
		return nil, fmt.Errorf("%d programs for %d processes: want one for each, and at most 16", len(c.Programs), len(c.Layout.Home))
	}
	if c.Rounds < 0 || c.Rounds > 100 {
		return nil, fmt.Errorf("%d transactions of each process: want 1 to 100, or 0 for any number", c.Rounds)
	}
	birth, err := spec.Plan(c.Layout.Sites)
	if err != nil {
		return nil, err
	}
	return &sites{
		DeadlockConfig: c, spec: spec, birth: birth, request: uint8(slices.Index(spec.Kinds, "REQUEST")),
		dooms: []uint8{uint8(slices.Index(spec.Kinds, "DIE")), uint8(slices.Index(spec.Kinds, "WOUND"))},
	}, nil
}

// A client is a process in a state.
type client struct {
	left    uint8 // transactions still to run
	got     uint8 // locks that it has
	active  bool
	waits   bool
	arrived bool // its request has
	doomed  bool // a message that makes it abort is under way
	spared  bool // another one was chosen to break the deadlock it was in
}

func (c *client) pack() byte {
	b := byte(0)
	for i, f := range []bool{c.active, c.waits, c.arrived, c.doomed, c.spared} {
		if f {
			b |= 1 << i
		}
	}
	return b
}

func (c *client) unpack(b byte) {
	for i, f := range []*bool{&c.active, &c.waits, &c.arrived, &c.doomed, &c.spared} {
		*f = b>>i&1 == 1
	}
}

// A scene is a whole state, unpacked.
type scene struct {
	clients []client
	aborts  bool // somebody has aborted
	dead    uint8
	buries  [][2]uint8 // who must still be told of whose death
	timers  [][2]uint32
	sites   [][]byte
	links   [][][]byte // by from*n + to, in order of sending
}

func (s *scene) copyFrom(o *scene) {
	s.clients = append(s.clients[:0], o.clients...)
	s.aborts, s.dead = o.aborts, o.dead
	s.buries = append(s.buries[:0], o.buries...)
	s.timers = append(s.timers[:0], o.timers...)
	s.sites = append(s.sites[:0], o.sites...)
	s.links = s.links[:0]
	for _, l := range o.links {
		s.links = append(s.links, slices.Clone(l))
	}
}

func (s *scene) pack(b []byte) []byte {
	for i := range s.clients {
		c := &s.clients[i]
		b = append(b, c.left, c.got, c.pack())
	}
	flag := byte(0)
	if s.aborts {
		flag = 1
	}
	b = append(b, flag, s.dead, byte(len(s.buries)))
	for _, x := range s.buries {
		b = append(b, x[0], x[1])
	}
	b = append(b, byte(len(s.timers)))
	for _, t := range s.timers {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(t[0])), uint64(t[1]))
	}
	for _, m := range s.sites {
		b = explore.AppendState(b, m)
	}
	for _, l := range s.links {
		b = append(b, byte(len(l)))
		for _, m := range l {
			b = explore.AppendState(b, m)
		}
	}
	return b
}

func (s *scene) unpack(b []byte, clients, n int) {
	s.clients = make([]client, clients)
	for i := range s.clients {
		s.clients[i].left, s.clients[i].got = b[0], b[1]
		s.clients[i].unpack(b[2])
		b = b[3:]
	}
	s.aborts, s.dead = b[0] == 1, b[1]
	count := int(b[2])
	b = b[3:]
	s.buries = s.buries[:0]
	for range count {
		s.buries = append(s.buries, [2]uint8{b[0], b[1]})
		b = b[2:]
	}
	count, b = int(b[0]), b[1:]
	s.timers = s.timers[:0]
	for range count {
		site, x := binary.Uvarint(b)
		timer, y := binary.Uvarint(b[x:])
		b = b[x+y:]
		s.timers = append(s.timers, [2]uint32{uint32(site), uint32(timer)})
	}
	s.sites = s.sites[:0]
	for range n {
		s.sites = append(s.sites, explore.TakeState(&b))
	}
	s.links = s.links[:0]
	for range n * n {
		count, b = int(b[0]), b[1:]
		var l [][]byte
		for range count {
			l = append(l, explore.TakeState(&b))
		}
		s.links = append(s.links, l)
	}
}

// holder returns who has a lock, or -1.
func (m *sites) holder(s *scene, k int) int {
	for i := range s.clients {
		if c := &s.clients[i]; c.active && !m.gone(s, i) && slices.Contains(m.Programs[i][:c.got], k) {
			return i
		}
	}
	return -1
}

// gone reports whether a client's home is dead.
func (m *sites) gone(s *scene, i int) bool { return s.dead>>m.Layout.Home[i]&1 == 1 }

// next returns for whom a client waits, or -1. Who is doomed waits for nobody,
// and is waited for by nobody in vain.
func (m *sites) next(s *scene, i int) int {
	c := &s.clients[i]
	if !c.waits || !c.arrived || c.doomed || m.gone(s, i) {
		return -1
	}
	h := m.holder(s, m.Programs[i][c.got])
	if h >= 0 && s.clients[h].doomed {
		return -1
	}
	return h
}

// cycle returns the cycle that a client is part of, or nil.
func (m *sites) cycle(s *scene, i int) []int {
	members := []int{i}
	for at := m.next(s, i); at >= 0 && len(members) <= len(s.clients); at = m.next(s, at) {
		if at == i {
			return members
		}
		members = append(members, at)
	}
	return nil
}

// look returns what a state itself breaks.
func (m *sites) look(s *scene) explore.Broken {
	var broken explore.Broken
	for k := range m.Layout.At {
		n := 0
		for i := range s.clients {
			if c := &s.clients[i]; c.active && !m.gone(s, i) && slices.Contains(m.Programs[i][:c.got], k) {
				n++
			}
		}
		if n > 1 {
			broken |= brokenTwoHolders
		}
	}
	if f := m.Method.Family; f == deadlock.Prevent || f == deadlock.Avoid || f == deadlock.Ignore {
		for i := range s.clients {
			if m.cycle(s, i) != nil {
				broken |= brokenCycle
			}
		}
	}
	return broken
}
