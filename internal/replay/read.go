package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/words"
)

// ErrDamaged is the error of a recording that no node can have written.
var ErrDamaged = errors.New("the recording is damaged: use another copy of it")

// ErrTorn means that a recording ends in the middle of a block: the node was killed, or the
// copy is incomplete.
var ErrTorn = errors.New("the recording ends within an entry")

// A Reader reads a recording.
type Reader struct {
	Header Header
	End    string // why the recording ends; empty if it does not say, or was not read to the end

	r      io.Reader
	at     member.Instant
	offset int64
	body   bytes.Buffer
	chain
}

// NewReader reads the header of a recording.
func NewReader(r io.Reader) (*Reader, error) {
	d := &Reader{r: r}
	head := make([]byte, len(Magic)+1)
	if n, err := io.ReadFull(r, head); err != nil && !short(err) {
		return nil, err
	} else if err != nil || string(head[:len(Magic)]) != Magic {
		return nil, fmt.Errorf("%w: its first %d bytes are not the header of a recording", ErrDamaged, n)
	}
	d.offset = int64(len(head))
	b, err := d.block(maxHeader)
	if f := head[len(Magic)]; f != Format {
		return nil, other(f, b)
	}
	switch {
	case err == io.EOF || errors.Is(err, ErrTorn):
		return nil, errors.New("the recording ends within its header: record again")
	case err != nil:
		return nil, err
	}
	c := codec.Coder{B: bytes.Clone(b), Bad: ErrDamaged}
	d.Header.fields(&c)
	if err := c.End(); err != nil {
		return nil, err
	}
	return d, d.Header.check()
}

// other returns why a recording of another format cannot be read. In every format the
// version that made it is the first field of the header.
func other(was byte, header []byte) error {
	c := codec.Coder{B: header, Bad: ErrDamaged}
	var by string
	if text(&c, &by); by == "" {
		by = "an unknown version of stile"
	}
	return fmt.Errorf("the recording has format %d and was made by %s, but this version reads format %d: replay it with the version that made it", was, words.Quoted(by), Format)
}

// maxInstant bounds instants, so that no sum with one overflows.
const maxInstant = 1 << 61

// check refuses a header that no node can have started with.
func (h *Header) check() error {
	all := []member.Settings{h.Begin.Settings}
	if f := h.Begin.Found; f != nil {
		all = append(all, f.Settings)
	}
	for _, s := range all {
		if err := s.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return nil
}

// Next reads an entry, which is valid until the next one is read. The error is io.EOF at
// the end, and ErrTorn if the recording ends within an entry.
func (d *Reader) Next(e *Entry) error {
	b, err := d.block(maxEntry)
	if err != nil {
		return err
	}
	if len(b) == 0 || b[0] > endBlock {
		return fmt.Errorf("%w: the block before byte %d has an unknown kind", ErrDamaged, d.offset)
	}
	c := codec.Coder{B: b[1:], Bad: ErrDamaged}
	if b[0] == endBlock {
		if text(&c, &d.End); c.End() != nil {
			return c.End()
		}
		if _, err := d.block(0); err != io.EOF {
			return fmt.Errorf("%w: bytes follow its end, at byte %d", ErrDamaged, d.offset)
		}
		return io.EOF
	}
	*e = Entry{Crashed: b[0] == crashBlock}
	e.fields(&c, d.at)
	if err := c.End(); err != nil {
		return fmt.Errorf("%w, before byte %d", err, d.offset)
	}
	if e.In.At < 0 || e.In.At > maxInstant {
		return fmt.Errorf("%w: impossible clock value %d, before byte %d", ErrDamaged, e.In.At, d.offset)
	}
	d.at = e.In.At
	return nil
}

// block reads a block of up to most bytes. It takes no more memory than there is to read.
func (d *Reader) block(most int) ([]byte, error) {
	var head [headSize]byte
	n, err := io.ReadFull(d.r, head[:])
	switch {
	case err == io.EOF:
		return nil, err
	case err != nil && short(err):
		return nil, d.torn()
	case err != nil:
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if head != d.head(int(size)) || size > int64(most) {
		return nil, fmt.Errorf("%w: the bytes at %d are not the length of a block", ErrDamaged, d.offset)
	}
	d.body.Reset()
	got, err := io.CopyN(&d.body, d.r, size+sumSize)
	switch {
	case err == io.EOF:
		return nil, d.torn()
	case err != nil:
		return nil, err
	}
	b := d.body.Bytes()
	if d.add(b[:size]) != binary.BigEndian.Uint32(b[size:]) {
		return nil, fmt.Errorf("%w: the block at byte %d does not match its checksum", ErrDamaged, d.offset)
	}
	d.offset += int64(n) + got
	return b[:size], nil
}

func (d *Reader) torn() error { return fmt.Errorf("%w, at byte %d", ErrTorn, d.offset) }

// short reports whether there was less to read than was wanted.
func short(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
