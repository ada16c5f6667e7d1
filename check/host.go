package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
)

// A group says which group of machines is checked, and under what.
type group struct {
	Spec       core.Spec
	Nodes      int
	Requests   int // per process; 0 means without bound
	Network    core.Network
	Requesters []core.ID   // who may ask; nil means everybody
	Starts     []core.View // nil means one: process 1 has the lock and is not inside
	Order      bool        // watch happened-before among requests
	Open       bool        // applications talk too: with Order
	Chatty     bool        // they talk at any time, not only right before a request: see tell
	Fence      bool        // watch that the entry count rises by exactly one
	Upset      bool        // start from every state of Spec.Upset instead, and let timers run out at any time
}

// maxSeats bounds the groups that can be checked: sets are kept in few bits.
const maxSeats = 12

// The properties that a host can see broken.
const (
	brokenExclusion explore.Broken = 1 << iota
	brokenDeadlock
	brokenOrder
	brokenFence
	brokenToken
	brokenAlibi
	brokenChannels
)

// A host is the model of a group of machines and the messages between them.
type host struct {
	group
	blobs  *blobs
	birth  core.Birth
	omega  bool // far apart times are not told apart by how far
	mayAsk core.Set

	longest atomic.Int64 // letters on one link, so far

	uncounted uint32 // kinds of messages that do not carry the entry count, one bit for each: for tests
}

// check reports why a group cannot be checked, or why nothing could ever happen
// in it: then all would hold, and mean nothing.
func (g *group) check() error {
	switch {
	case g.Spec.Plan == nil:
		return errors.New("the Spec has no Plan: there is nothing to check")
	case g.Nodes > maxSeats:
		return fmt.Errorf("%d processes: the checker takes at most %d", g.Nodes, maxSeats)
	case g.Requests < 0 || g.Requests > maxRequests:
		return fmt.Errorf("%d requests of each process: want 1 to %d, or 0 for any number", g.Requests, maxRequests)
	case g.Network > core.Lossy:
		return fmt.Errorf("unknown %v", g.Network)
	case g.Requesters != nil && len(g.Requesters) == 0:
		return errors.New("nobody may ask: name at least one requester")
	}
	for _, p := range g.Requesters {
		if p < 0 || int(p) >= g.Nodes {
			return fmt.Errorf("requester %d of %d processes: want 1 to %d", int(p)+1, g.Nodes, g.Nodes)
		}
	}
	for _, v := range g.Starts {
		if err := v.Check(); err != nil {
			return err
		}
		if v.N != g.Nodes {
			return fmt.Errorf("a start of %d processes in a group of %d", v.N, g.Nodes)
		}
	}
	return g.Spec.Accepts(g.Nodes)
}

// maxRequests bounds a bound on requests.
const maxRequests = 255

func newHost(g group) (*host, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	birth, err := g.Spec.Plan(g.Nodes)
	if err != nil {
		return nil, err
	}
	if len(g.Starts) == 0 {
		g.Starts = []core.View{{N: g.Nodes}}
	}
	h := &host{group: g, birth: birth, blobs: &blobs{ids: map[string]uint32{}}}
	h.omega = g.Requests == 0 && g.Spec.Spreads
	h.mayAsk.Fill(g.Nodes)
	if g.Requesters != nil {
		h.mayAsk = core.SetOf(g.Requesters...)
	}
	return h, nil
}

// see notes how many letters there are on a link.
func (h *host) see(n int) {
	for old := h.longest.Load(); int64(n) > old; old = h.longest.Load() {
		h.longest.CompareAndSwap(old, int64(n))
	}
}

// The phases of a process, as the host sees them.
const (
	idle uint8 = iota
	waits
	inside
)

// A proc is one process in a global state.
type proc struct {
	blob  uint32
	knows uint16 // Order: whose waiting requests it knows of
	ahead uint16 // Order: whose requests must be granted before its own
	phase uint8
	left  uint8 // requests it may still make, if they are bounded
	start bool  // Start has not been given yet
	seen  bool  // Fence: it has seen the last entry
	told  bool  // Open: it was told something, and asks next
}

// A letter is a message in flight.
type letter struct {
	blob  uint32
	knows uint16
	link  uint8 // from*n + to
	seen  bool
}

// A global is a whole state, unpacked. Letters are sorted by link; those of
// one link are in order of sending.
type global struct {
	procs   []proc
	letters []letter
}

func newGlobal(n int) *global {
	return &global{procs: make([]proc, n)}
}

func (g *global) copyFrom(o *global) {
	copy(g.procs, o.procs)
	g.letters = append(g.letters[:0], o.letters...)
}

// add puts a letter behind the others of its link.
func (g *global) add(l letter) {
	i := len(g.letters)
	g.letters = append(g.letters, l)
	for i > 0 && g.letters[i-1].link > l.link {
		g.letters[i] = g.letters[i-1]
		i--
	}
	g.letters[i] = l
}

// last returns the youngest letter of a link, or nil.
func (g *global) last(link uint8) *letter {
	for i := len(g.letters) - 1; i >= 0; i-- {
		if g.letters[i].link == link {
			return &g.letters[i]
		}
	}
	return nil
}

// remove takes out one letter.
func (g *global) remove(i int) {
	g.letters = append(g.letters[:i], g.letters[i+1:]...)
}

// pack appends the state's bytes.
func (h *host) pack(b []byte, g *global) []byte {
	for i := range g.procs {
		p := &g.procs[i]
		b = appendUvarint(b, p.blob)
		flags := p.phase
		if p.start {
			flags |= 4
		}
		if p.seen {
			flags |= 8
		}
		if p.told {
			flags |= 16
		}
		b = append(b, flags)
		if h.Requests > 0 {
			b = append(b, p.left)
		}
		if h.Order {
			b = append(b, byte(p.knows), byte(p.knows>>8), byte(p.ahead), byte(p.ahead>>8))
		}
	}
	for i := range g.letters {
		l := &g.letters[i]
		id := l.blob << 1
		if l.seen {
			id |= 1
		}
		b = appendUvarint(append(b, l.link), id)
		if h.Order {
			b = append(b, byte(l.knows), byte(l.knows>>8))
		}
	}
	return b
}

func appendUvarint(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// A reader takes numbers off packed bytes.
type reader []byte

func (r *reader) uvarint() uint32 {
	b := *r
	if b[0] < 0x80 {
		*r = b[1:]
		return uint32(b[0])
	}
	v, n := binary.Uvarint(b)
	*r = b[n:]
	return uint32(v)
}

func (r *reader) byte() uint8 {
	b := (*r)[0]
	*r = (*r)[1:]
	return b
}

func (r *reader) uint16() uint16 { return uint16(r.byte()) | uint16(r.byte())<<8 }

// unpack is the reverse of pack.
func (h *host) unpack(b []byte, g *global) {
	r := reader(b)
	for i := range g.procs {
		p := proc{blob: r.uvarint()}
		flags := r.byte()
		p.phase = flags & 3
		p.start = flags&4 != 0
		p.seen = flags&8 != 0
		p.told = flags&16 != 0
		if h.Requests > 0 {
			p.left = r.byte()
		}
		if h.Order {
			p.knows, p.ahead = r.uint16(), r.uint16()
		}
		g.procs[i] = p
	}
	g.letters = g.letters[:0]
	for len(r) > 0 {
		l := letter{link: r.byte()}
		id := r.uvarint()
		l.blob, l.seen = id>>1, id&1 != 0
		if h.Order {
			l.knows = r.uint16()
		}
		g.letters = append(g.letters, l)
	}
}
