package transport

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// frames is some frames of all sizes, and their payloads.
func frames(sizes ...int) (stream []byte, payloads [][]byte) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range sizes {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		stream, payloads = appendFrame(stream, kindData, b), append(payloads, b)
	}
	return stream, payloads
}

// Frames come out as they went in, in whatever pieces they come.
func TestFrames(t *testing.T) {
	stream, want := frames(0, 1, 100, 0, smallBuf-headerSize, smallBuf, 3*smallBuf+1, 5, 300_000, 7)
	for name, src := range map[string]io.Reader{
		"whole": bytes.NewReader(stream), "bytes": iotest.OneByteReader(bytes.NewReader(stream)),
		"halves": iotest.HalfReader(bytes.NewReader(stream)), "with the end": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		r := newReader(src, 1<<20)
		for i := range want {
			k, b, err := r.next()
			if err != nil || k != kindData || !bytes.Equal(b, want[i]) {
				t.Fatalf("%s: frame %d: kind %d, %d bytes, %v", name, i, k, len(b), err)
			}
		}
		if _, _, err := r.next(); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}

// Bytes that are not a frame are an error, and so is every changed bit.
func TestMalformedFrames(t *testing.T) {
	good, _ := frames(40)
	for i := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		_, _, err := newReader(bytes.NewReader(bad), 1<<20).next()
		var m *Malformed
		if !errors.As(err, &m) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("bit %d: %v", i, err)
		}
	}
	for n := 1; n < len(good); n++ {
		if _, _, err := newReader(bytes.NewReader(good[:n]), 1<<20).next(); !errors.Is(err, errCut) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
	for text, b := range map[string][]byte{
		"frame of 0 bytes":          {0, 0, 0, 0, 0, 0, 0, 0, 0},
		"frame of 4294967295 bytes": {0, 0, 0, 0, 255, 255, 255, 255, 0},
		"frame of 41 bytes":         good,
	} {
		_, _, err := newReader(bytes.NewReader(b), 20).next()
		says(t, err, text)
	}
}

// grown is how large the buffer of a reader is after it got what lies about its
// length.
func grown(t *testing.T, r *reader) int {
	t.Helper()
	if _, _, err := r.next(); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	return len(r.buf)
}

// A lie about the length costs nothing: memory grows with what has arrived.
func TestLengthLies(t *testing.T) {
	const most = 1 << 30
	for _, sent := range []int{headerSize, 1000, 100_000, 1_000_000} {
		lie := make([]byte, sent)
		lie[4] = 0x3f // a gigabyte
		if got := grown(t, newReader(bytes.NewReader(lie), most)); got > 2*sent+smallBuf {
			t.Errorf("%d bytes were sent, and the buffer has %d", sent, got)
		}
		greedy := newReader(bytes.NewReader(lie), most)
		greedy.buf = make([]byte, 1<<26) // who believes in lengths
		if got := grown(t, greedy); got <= 2*sent+smallBuf {
			t.Errorf("a greedy reader is not found: %d bytes", got)
		}
	}
}

// A buffer that was large once is given back.
func TestBufferShrinks(t *testing.T) {
	sizes := []int{1 << 20}
	for range 4 * patience {
		sizes = append(sizes, 100)
	}
	stream, _ := frames(sizes...)
	r := newReader(pieces{bytes.NewReader(stream)}, 1<<20)
	large := 0
	for range sizes {
		if _, _, err := r.next(); err != nil {
			t.Fatal(err)
		}
		large = max(large, len(r.buf))
	}
	if large < 1<<20 || len(r.buf) > largeBuf {
		t.Errorf("at most %d bytes, and at last %d", large, len(r.buf))
	}
}

// pieces is read as small packets are.
type pieces struct{ io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), 1000)]) }

// A frame more costs no memory.
func TestFramesDoNotAllocate(t *testing.T) {
	stream, _ := frames(10, 1000, 100, 0, 5000)
	r := newReader(&loop{b: stream}, 1<<20)
	if n := testing.AllocsPerRun(1000, func() {
		if _, _, err := r.next(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("reading: %v allocations", n)
	}
	queue := make([]byte, 0, 1000)
	payload := make([]byte, 100)
	if n := testing.AllocsPerRun(1000, func() { queue = appendFrame(queue[:0], kindData, payload) }); n > 0 {
		t.Errorf("writing: %v allocations", n)
	}
}

// A message follows if all of it was read with the frame before it, and another frame does not.
func TestReady(t *testing.T) {
	for _, x := range []struct {
		kind kind
		cut  int // bytes of the second frame that have not arrived
		want bool
	}{{kindData, 0, true}, {kindData, 1, false}, {kindData, 10, false}, {kindBeat, 0, false}} {
		stream := appendFrame(appendFrame(nil, kindData, []byte("first")), x.kind, []byte("second"))
		r := newReader(bytes.NewReader(stream[:len(stream)-x.cut]), 10)
		if r.ready() {
			t.Error("ready before anything was read")
		}
		if _, _, err := r.next(); err != nil {
			t.Fatal(err)
		}
		if got := r.ready(); got != x.want {
			t.Errorf("%d bytes short of a frame of kind %d: got %v, want %v", x.cut, x.kind, got, x.want)
		}
	}
}

// A source that never sends anything is not read forever.
func TestNoProgress(t *testing.T) {
	if _, _, err := newReader(silence{}, 10).next(); err != io.ErrNoProgress {
		t.Error(err)
	}
}

type silence struct{}

func (silence) Read([]byte) (int, error) { return 0, nil }

// Whatever bytes arrive, the frames that are read are those that would be written, and
// memory is at most twice what arrived.
func FuzzReader(f *testing.F) {
	stream, _ := frames(0, 3, 50)
	f.Add(stream)
	f.Add(appendFrame(stream, kindBye, nil))
	f.Add(stream[:len(stream)-1])
	f.Add([]byte(strings.Repeat("\xff", 20)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newReader(bytes.NewReader(b), 1<<20)
		var again []byte
		for {
			k, payload, err := r.next()
			if err == nil {
				again = appendFrame(again, k, payload)
				continue
			}
			var m *Malformed
			if err == io.EOF && len(again) != len(b) || err != io.EOF && !errors.As(err, &m) && !errors.Is(err, errCut) {
				t.Errorf("%v after %d of %d bytes", err, len(again), len(b))
			}
			break
		}
		if !bytes.HasPrefix(b, again) {
			t.Errorf("%x was read as %x", b, again)
		}
		if len(r.buf) > 2*len(b)+smallBuf {
			t.Errorf("%d bytes came, and the buffer has %d", len(b), len(r.buf))
		}
	})
}
