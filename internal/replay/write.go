package replay

import (
	"encoding/binary"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// Magic is what a recording begins with. The number of its Format follows.
const (
	Magic  = "stile: recording of a node\n"
	Format = 1
)

// Limits of what is written and read, in bytes.
const (
	maxHeader = 64 << 20
	maxEntry  = 16 << 20
	maxText   = 1 << 12
)

// A Header describes what was recorded, and everything that the process started with.
type Header struct {
	By    string // the version of stile: the first field in every format
	Wall  int64  // milliseconds of the wall clock at the start of the recording
	Specs []Spec // algorithms that could run

	Begin                       process.Begin
	Election, Heartbeat, MaxLog int // of the voter's log, in ticks and entries
}

// A Spec is an algorithm and its version.
type Spec struct {
	Name    string
	Version int
}

func (h *Header) fields(c *codec.Coder) {
	text(c, &h.By)
	number(c, &h.Wall)
	codec.List(c, &h.Specs, 1000, func(s *Spec) {
		text(c, &s.Name)
		size(c, &s.Version)
	})
	for _, n := range [...]*int{&h.Election, &h.Heartbeat, &h.MaxLog} {
		size(c, n)
	}
	b := &h.Begin
	text(c, &b.Name)
	text(c, &b.Address)
	for _, list := range [...]*[]string{&b.Contacts, &b.Join} {
		codec.List(c, list, 1<<16, func(s *string) { text(c, s) })
	}
	c.Number(&b.Cluster)
	c.Fixed(b.Seed[:])
	c.Bytes(&b.State, maxHeader)
	c.Bytes(&b.Past, maxHeader)
	views.CodeSettings(c, &b.Settings)
	for _, n := range [...]*int{&b.Limits.Waiters, &b.Limits.Names, &b.Limits.Idle, &b.Limits.Part, &b.Links.Bytes, &b.Links.Window, &b.Links.Early, &b.Sessions} {
		size(c, n)
	}
	b.Links.Patience.Code(c)
	b.Links.Complain.Code(c)
	optional(c, &b.Found, func(f *process.Founding) {
		c.Number(&f.Cluster)
		c.Number(&f.Epoch)
		views.CodeSettings(c, &f.Settings)
		size(c, &f.Voters)
		choices(c, &f.Choices)
	})
	optional(c, &b.Restore, func(x *process.Restoring) {
		c.Number(&x.Cluster)
		c.Bytes(&x.Backup, maxHeader)
		c.Number(&x.Seen)
		c.Number(&x.Clock)
	})
}

// optional codes a value that may be absent.
func optional[T any](c *codec.Coder, p **T, fields func(x *T)) {
	is := *p != nil
	if c.Flag(&is); !is {
		return
	}
	if c.Reads() {
		*p = new(T)
	}
	fields(*p)
}

// size codes a number that is not negative. A negative one, which stands for a default, is
// written as 0, which means the same.
func size(c *codec.Coder, p *int) {
	n := max(*p, 0)
	if codec.Within(c, &n, 0, 1<<40); c.Reads() {
		*p = n
	}
}

// text codes bytes that need not be UTF-8: an input may be one that the process refuses.
func text(c *codec.Coder, p *string) {
	b := []byte(*p)
	c.Bytes(&b, maxText)
	*p = string(b)
}

// clipped returns a text as it is recorded.
func clipped(s string) string { return s[:min(len(s), maxText)] }

// number codes a number that may be negative.
func number[T ~int64](c *codec.Coder, p *T) {
	n := uint64(*p)<<1 ^ uint64(*p>>63)
	c.Number(&n)
	*p = T(n>>1) ^ -T(n&1)
}

func choices(c *codec.Coder, all *[]member.Choice) {
	codec.List(c, all, maxEntry, func(x *member.Choice) {
		text(c, &x.Prefix)
		text(c, &x.Algorithm)
		n := int64(x.Version)
		number(c, &n)
		x.Version = int(n)
	})
}

// The blocks after the header, by their first byte.
const (
	tookBlock  byte = iota // an input, and its outcome
	crashBlock             // an input in which the process panicked
	endBlock               // why the recording ends
)

// An Entry is an input and its outcome.
type Entry struct {
	In      process.Input
	Out     Outcome // empty if it crashed
	Crashed bool    // the process panicked
}

// fields codes an entry. Its time counts from that of the previous entry.
func (e *Entry) fields(c *codec.Coder, before member.Instant) {
	in := &e.In
	codec.Within(c, &in.Kind, 0, uint64(process.Kinds)-1)
	since(c, &in.At, before)
	switch in.Kind {
	case process.Up, process.Down:
		text(c, &in.Text)
	case process.Message:
		text(c, &in.Text)
		c.Bytes(&in.Bytes, maxEntry)
	case process.Frame:
		c.Number(&in.Number)
		c.Bytes(&in.Bytes, maxEntry)
	case process.Closed, process.Cancel, process.Evict, process.Resize, process.Move:
		c.Number(&in.Number)
	case process.Lock:
		text(c, &in.Text)
		c.Flag(&in.Try)
		e.deadline(c)
		e.terms(c)
	case process.Trail:
		text(c, &in.Text)
		since(c, &in.Late, in.At)
	case process.Unlock, process.Release:
		text(c, &in.Text)
		c.Number(&in.Token.Epoch)
		c.Number(&in.Token.Count)
	case process.Saved:
		c.Number(&in.Number)
		text(c, &in.Text)
	case process.Choose:
		choices(c, &in.Choice)
	case process.Opened:
		c.Number(&in.Number)
		text(c, &in.Text)
		for _, n := range [...]*int{&in.Quota.Sessions, &in.Quota.Locks, &in.Quota.Names} {
			size(c, n)
		}
	}
	if !e.Crashed {
		e.outcome(c)
	}
}

// deadline codes the deadline of a request; most have none.
func (e *Entry) deadline(c *codec.Coder) {
	in := &e.In
	has := in.Late != 0 && in.Late != member.Never
	if c.Flag(&has); has {
		since(c, &in.Late, in.At)
	}
}

// terms codes what only kept locks have; most requests have none of it.
func (e *Entry) terms(c *codec.Coder) {
	t := &e.In.Terms
	has := *t != member.Terms{}
	if c.Flag(&has); !has {
		return
	}
	mode, units := int64(t.Mode), int64(t.Units)
	number(c, &mode)
	number(c, &units)
	t.Mode, t.Units = deadlock.Mode(mode), int(units)
	c.Number(&t.Tx)
	c.Number(&t.Born)
}

// outcome codes what can be compared. Most of it is usually empty: the bits of a number say
// which parts are not.
func (e *Entry) outcome(c *codec.Coder) {
	const refused, failed = 1 << classes, 1 << (classes + 1)
	out := &e.Out
	var has uint64
	for i, d := range out.Effects {
		if d.Count > 0 {
			has |= 1 << i
		}
	}
	if out.Refused {
		has |= refused
	}
	if out.Failed != "" {
		has |= failed
	}
	c.Number(&has)
	if has >= failed<<1 {
		c.Fail("outcome with an unknown field")
	}
	for i := range out.Effects {
		if has&(1<<i) != 0 {
			out.Effects[i].fields(c)
		}
	}
	if out.Refused = has&refused != 0; has&failed != 0 {
		text(c, &out.Failed)
	}
	if e.In.Kind == process.Lock {
		c.Number((*uint64)(&out.Ticket))
	}
	since(c, &out.Wake, e.In.At)
}

func (d *Digest) fields(c *codec.Coder) {
	codec.Within(c, &d.Count, 1, maxEntry)
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], d.Sum)
	c.Fixed(b[:])
	d.Sum = binary.BigEndian.Uint32(b[:])
}

// since codes an instant, counted from another one.
func since(c *codec.Coder, p *member.Instant, from member.Instant) {
	d := *p - from // it may wrap around, and the sum then wraps back
	number(c, &d)
	*p = from + d
}

// A Writer makes a recording. It appends to B, which its owner may empty at any time.
type Writer struct {
	B  []byte
	at member.Instant
	chain
}

// NewWriter starts a recording. The header may have up to 64 MiB.
func NewWriter(h *Header) *Writer {
	w := &Writer{B: append([]byte(Magic), Format)}
	w.block(maxHeader, h.fields)
	return w
}

// Took appends an input and a digest of its outcome. It reports false, and appends nothing,
// if the input is too large.
func (w *Writer) Took(in *process.Input, out *process.Output) bool {
	return w.entry(tookBlock, &Entry{In: *in, Out: outcome(out)})
}

// Crashed appends an input in which the process panics.
func (w *Writer) Crashed(in *process.Input, _ *process.Output) bool {
	return w.entry(crashBlock, &Entry{In: *in, Crashed: true})
}

func (w *Writer) entry(tag byte, e *Entry) bool {
	if e.In.Kind == process.Saved {
		e.In.Text = clipped(e.In.Text) // the process fails on this part of it too
	}
	ok := e.short() && w.block(maxEntry, func(c *codec.Coder) {
		c.B = append(c.B, tag)
		e.fields(c, w.at)
	})
	if ok {
		w.at = e.In.At
	}
	return ok
}

// short reports whether no text of an input is too long to be read back.
func (e *Entry) short() bool {
	for _, x := range e.In.Choice {
		if max(len(x.Prefix), len(x.Algorithm)) > maxText {
			return false
		}
	}
	return len(e.In.Text) <= maxText
}

// End appends why the recording ends.
func (w *Writer) End(why string) {
	why = clipped(why)
	w.block(maxEntry, func(c *codec.Coder) {
		c.B = append(c.B, endBlock)
		text(c, &why)
	})
}

// block appends a block, unless it is too long.
func (w *Writer) block(most int, fields func(c *codec.Coder)) bool {
	from := len(w.B)
	c := codec.Coder{B: append(w.B, make([]byte, headSize)...)}
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

// The bytes of a block are preceded by its length and a check of it, and followed by a
// checksum.
const (
	headSize = 4 + 2
	sumSize  = 4
)

// head returns what precedes a block of size bytes.
func (s chain) head(size int) (b [headSize]byte) {
	binary.BigEndian.PutUint32(b[:], uint32(size))
	sum := fnv(uint32(s), b[:4])
	binary.BigEndian.PutUint16(b[4:], uint16(sum^sum>>16))
	return b
}

// add continues the checksum with the bytes of a block.
func (s *chain) add(b []byte) uint32 {
	head := s.head(len(b))
	*s = chain(fnv(fnv(uint32(*s), head[:]), b))
	return uint32(*s)
}
