package record

import (
	"encoding/binary"

	"github.com/stile-lock/stile/internal/code"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/station"
)

// Magic is what a recording begins with, and format the number of how the rest is to
// be read.
const (
	Magic  = "stile: recording of a node\n"
	format = 1
)

// Bounds of what is read.
const (
	maxHeader = 64 << 20
	maxEntry  = 16 << 20
	maxText   = 1 << 12
)

// A Header says what was recorded, and all that it was begun with.
type Header struct {
	By    string // the version of stile
	Wall  int64  // milliseconds of the wall clock at Begin.At
	Specs []Spec // algorithms that could run

	Begin                       station.Begin
	Election, Heartbeat, MaxLog int    // of the voter, in ticks and entries
	Store                       []byte // what it held
}

// A Spec is an algorithm and its version.
type Spec struct {
	Name    string
	Version int
}

func (h *Header) fields(c *code.Coder) {
	text(c, &h.By)
	number(c, &h.Wall)
	code.List(c, &h.Specs, 1000, func(s *Spec) {
		text(c, &s.Name)
		code.Within(c, &s.Version, 0, 1<<30)
	})
	b := &h.Begin
	number(c, &b.At)
	text(c, &b.Name)
	text(c, &b.Address)
	code.List(c, &b.Contacts, 1<<16, func(s *string) { text(c, s) })
	c.Number(&b.Cluster)
	c.Number(&b.Seed)
	engine.CodeSettings(c, &b.Settings)
	for _, n := range [...]*int{&b.Limits.Waiters, &b.Limits.Names, &b.Limits.Idle, &h.Election, &h.Heartbeat, &h.MaxLog} {
		code.Within(c, n, 0, 1<<30)
	}
	c.Bytes(&h.Store, maxHeader)
}

// text is some bytes, for people mostly, which may be no UTF-8.
func text(c *code.Coder, p *string) {
	b := []byte(*p)
	c.Bytes(&b, maxText)
	*p = string(b)
}

// number is one that may be below 0.
func number[T ~int64](c *code.Coder, p *T) {
	n := uint64(*p)<<1 ^ uint64(*p>>63)
	c.Number(&n)
	*p = T(n>>1) ^ -T(n&1)
}

// The blocks after the header, by their first byte.
const (
	tookBlock  byte = iota // an input, and its outcome
	crashBlock             // an input that the process did not survive, and its draws
	endBlock               // why the recording ends
)

// An Entry is an input and what came of it.
type Entry struct {
	In      station.Input
	Out     station.Outcome
	Crashed bool // the process did not survive it: of Out there are the draws alone
}

// fields are those of an entry, in which instants count from that of the one before.
func (e *Entry) fields(c *code.Coder, before member.Instant) {
	in, out := &e.In, &e.Out
	code.Within(c, &in.Kind, 0, uint64(station.Kinds)-1)
	since(c, &in.At, before)
	switch in.Kind {
	case station.Up, station.Down:
		text(c, &in.Text)
	case station.Message:
		text(c, &in.Text)
		c.Bytes(&in.Bytes, maxEntry)
	case station.Found:
		c.Bytes(&in.Bytes, maxEntry)
	case station.Join, station.Closed, station.Cancel:
		c.Number(&in.Number)
	case station.Frame:
		c.Number(&in.Number)
		c.Bytes(&in.Bytes, maxEntry)
	case station.Lock:
		text(c, &in.Text)
		c.Flag(&in.Try)
	case station.Unlock, station.Release:
		text(c, &in.Text)
		c.Number(&in.Token.Epoch)
		c.Number(&in.Token.Count)
	case station.Drain:
		code.List(c, &in.Tickets, maxEntry, func(t *member.Ticket) { c.Number((*uint64)(t)) })
	}
	code.List(c, &out.Draws, 1<<16, func(d *station.Draw) {
		c.Number(&d.Session)
		c.Fixed(d.Secret[:])
	})
	if !e.Crashed {
		e.outcome(c)
	}
}

// outcome is what can be compared.
func (e *Entry) outcome(c *code.Coder) {
	out := &e.Out
	if e.In.Kind == station.Lock {
		c.Number((*uint64)(&out.Ticket))
	}
	c.Flag(&out.Freed)
	c.Flag(&out.Refused)
	text(c, &out.Fault)
	since(c, &out.Due, e.In.At)
	for _, d := range [...]*station.Digest{&out.Sends, &out.Told, &out.Frames, &out.Views} {
		if code.Within(c, &d.Count, 0, maxEntry); d.Count > 0 {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], d.Sum)
			c.Fixed(b[:])
			d.Sum = binary.BigEndian.Uint32(b[:])
		}
	}
}

// since is an instant, counted from another one.
func since(c *code.Coder, p *member.Instant, from member.Instant) {
	d := *p - from // which may go round, and comes back then
	number(c, &d)
	*p = from + d
}

// A Writer makes a recording: what is to be written is appended to B, which its owner
// may empty at any time.
type Writer struct {
	B  []byte
	at member.Instant
	chain
}

// NewWriter begins a recording. The header must be of no more than 64 MiB.
func NewWriter(h *Header) *Writer {
	w := &Writer{B: append([]byte(Magic), format), at: h.Begin.At}
	w.block(maxHeader, h.fields)
	return w
}

// Took appends an entry. It reports false, and appends nothing, if there cannot be
// such a one.
func (w *Writer) Took(in *station.Input, out *station.Outcome) bool {
	e := Entry{In: *in, Out: *out}
	e.Out.Fault = clipped(e.Out.Fault)
	return w.entry(tookBlock, &e)
}

// Crashed appends one that the process does not survive.
func (w *Writer) Crashed(in *station.Input, out *station.Outcome) bool {
	return w.entry(crashBlock, &Entry{In: *in, Out: *out, Crashed: true})
}

func (w *Writer) entry(tag byte, e *Entry) bool {
	ok := len(e.In.Text) <= maxText && w.block(maxEntry, func(c *code.Coder) {
		c.B = append(c.B, tag)
		e.fields(c, w.at)
	})
	if ok {
		w.at = e.In.At
	}
	return ok
}

// End appends why the recording ends.
func (w *Writer) End(why string) {
	w.block(maxEntry, func(c *code.Coder) {
		c.B = append(c.B, endBlock)
		text(c, &why)
	})
}

// block appends a block, unless it is too long.
func (w *Writer) block(most int, fields func(c *code.Coder)) bool {
	from := len(w.B)
	c := code.Coder{B: append(w.B, 0, 0, 0, 0, 0, 0)} // for the head
	fields(&c)
	body := c.B[from+headSize:]
	if len(body) > most {
		w.B = c.B[:from]
		return false
	}
	head := w.head(len(body))
	copy(c.B[from:], head[:])
	w.B = binary.BigEndian.AppendUint32(c.B, w.add(body))
	return true
}

// A chain is the checksum of all blocks so far.
type chain uint32

// Before the bytes of a block are its length and a check of it, and after them a
// checksum.
const (
	headSize = 4 + 2
	sumSize  = 4
)

// head is what is before so many bytes.
func (s chain) head(size int) (b [headSize]byte) {
	binary.BigEndian.PutUint32(b[:], uint32(size))
	sum := fnv(uint32(s), b[:4])
	binary.BigEndian.PutUint16(b[4:], uint16(sum^sum>>16))
	return b
}

// add goes on with the bytes of a block.
func (s *chain) add(b []byte) uint32 {
	head := s.head(len(b))
	*s = chain(fnv(fnv(uint32(*s), head[:]), b))
	return uint32(*s)
}

// fnv is FNV-1a: whatever it goes on with, two sums that differ stay different.
func fnv(sum uint32, b []byte) uint32 {
	for _, x := range b {
		sum = (sum ^ uint32(x)) * 16777619
	}
	return sum
}
