package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A kind is the kind of a frame.
type kind byte

const (
	kindHello   kind = 1 + iota // the sender, and the versions it speaks
	kindWelcome                 // the other side's Hello is accepted
	kindRefuse                  // it is not; the payload gives the reason
	kindBeat                    // nothing to send, but alive
	kindBye                     // nothing more will follow; send what is left and close
	kindData                    // a message of the layer above
)

const (
	headerSize = 9        // checksum, length and kind
	firstBuf   = 512      // initial buffer of a reader: most connections are of clients that mostly wait
	smallBuf   = 4 << 10  // its buffer when frames come faster than one at a time
	largeBuf   = 64 << 10 // buffer that a reader frees when it is no longer needed
	patience   = 256      // number of small frames after which it does
)

// Malformed is the error of a link whose other end sent something that is not a valid
// frame.
type Malformed struct{ Why string }

func (m *Malformed) Error() string { return "malformed: " + m.Why }

func malformed(format string, args ...any) error { return &Malformed{fmt.Sprintf(format, args...)} }

// errCut is the error of a connection that ended in the middle of a frame.
var errCut = fmt.Errorf("connection lost in the middle of a frame: %w", io.ErrUnexpectedEOF)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a frame to b.
func appendFrame(b []byte, k kind, payload []byte) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, byte(k))
	b = append(b, payload...)
	binary.BigEndian.PutUint32(b[at+4:], uint32(1+len(payload)))
	binary.BigEndian.PutUint32(b[at:], crc32.Checksum(b[at+4:], castagnoli))
	return b
}

// A reader reads frames. Its buffer grows as bytes arrive, never because a length field
// announces them.
type reader struct {
	src     io.Reader
	buf     []byte
	at, end int // bounds of what was read and not returned yet
	most    int // maximum bytes of a payload
	small   int // frames since the buffer had to be large
}

func newReader(src io.Reader, most int) *reader {
	return &reader{src: src, buf: make([]byte, firstBuf), most: most}
}

// next returns the next frame, which is valid until the next call. The error is io.EOF if
// the connection ended after a complete frame.
func (r *reader) next() (kind, []byte, error) {
	if err := r.need(headerSize); err != nil {
		return 0, nil, err
	}
	length := int64(binary.BigEndian.Uint32(r.buf[r.at+4:]))
	if length < 1 || length > int64(r.most)+1 {
		return 0, nil, malformed("frame of %d bytes: want 1 to %d", length, r.most+1)
	}
	size := headerSize - 1 + int(length)
	if err := r.need(size); err != nil {
		return 0, nil, err
	}
	b := r.buf[r.at : r.at+size : r.at+size]
	if sum := crc32.Checksum(b[4:], castagnoli); sum != binary.BigEndian.Uint32(b) {
		return 0, nil, malformed("frame of %d bytes has checksum %08x: want %08x", length, binary.BigEndian.Uint32(b), sum)
	}
	r.at += size
	r.shrink(size)
	return kind(b[8]), b[headerSize:], nil
}

// ready reports whether the next frame is there, and is a message.
func (r *reader) ready() bool {
	b := r.buf[r.at:r.end]
	return len(b) >= headerSize && kind(b[8]) == kindData && int64(len(b)) >= headerSize-1+int64(binary.BigEndian.Uint32(b[4:]))
}

// shrink counts frames that would fit into a smaller buffer.
func (r *reader) shrink(size int) {
	if len(r.buf) > largeBuf && size <= largeBuf {
		r.small++
	} else {
		r.small = 0
	}
}

// need waits until there are n bytes.
func (r *reader) need(n int) error {
	for empty := 0; r.end-r.at < n; {
		r.room(n)
		m, err := r.src.Read(r.buf[r.end:])
		r.end += m
		if m > 0 {
			empty = 0
			continue
		}
		switch {
		case err == nil && empty < 100:
			empty++
		case err == nil:
			return io.ErrNoProgress
		case !errors.Is(err, io.EOF):
			return err
		case r.end > r.at:
			return errCut
		default:
			return io.EOF
		}
	}
	return nil
}

// room makes room for at least one more byte of the n that are needed.
func (r *reader) room(n int) {
	switch {
	case r.small > patience && r.end-r.at <= smallBuf:
		r.move(make([]byte, max(2*smallBuf, 2*(r.end-r.at))))
		r.small = 0
	case r.end == len(r.buf) && len(r.buf) < smallBuf: // a read filled it
		r.move(make([]byte, smallBuf))
	case r.at == r.end:
		r.at, r.end = 0, 0
	case r.at+n > len(r.buf) && r.at > 0:
		r.move(r.buf)
	case r.end == len(r.buf):
		r.move(make([]byte, 2*len(r.buf)))
	}
}

// move copies the buffered bytes to the start of a buffer.
func (r *reader) move(to []byte) {
	r.end = copy(to, r.buf[r.at:r.end])
	r.at, r.buf = 0, to
}

// magic reads the bytes that must precede all frames.
func (r *reader) magic(want string) error {
	if err := r.need(len(want)); err != nil {
		return err
	}
	if got := string(r.buf[r.at : r.at+len(want)]); got != want {
		return malformed("unknown protocol: the first bytes are %q, want %q", got, want)
	}
	r.at += len(want)
	return nil
}
