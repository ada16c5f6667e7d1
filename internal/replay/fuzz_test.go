package replay

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/stile-lock/stile/internal/codec"
)

// sealed makes a recording of the blocks in some bytes, with correct lengths and
// checksums, so that a fuzzer gets past them.
func sealed(b []byte) []byte {
	w := &Writer{B: append([]byte(Magic), Format)}
	for len(b) >= 2 {
		size := min(int(binary.BigEndian.Uint16(b)), len(b)-2)
		w.block(maxEntry, func(c *codec.Coder) { c.B = append(c.B, b[2:2+size]...) })
		b = b[2+size:]
	}
	return w.B
}

// blocks returns what sealed makes a recording of.
func blocks(t testing.TB, recording []byte) (b []byte) {
	r := &Reader{r: bytes.NewReader(recording[len(Magic)+1:])}
	for {
		body, err := r.block(maxHeader)
		if err != nil {
			break
		}
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(body))), body...)
	}
	if !bytes.Equal(sealed(b), recording) {
		t.Fatal("the blocks of a recording do not make the same recording")
	}
	return b
}

// A replay ends, with an error or a result, whatever is in the file.
func FuzzRecording(f *testing.F) {
	b, err := os.ReadFile(small)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, false)
	f.Add(b[:len(b)/2], false)
	f.Add([]byte(Magic+"\x02\xff\xff\xff\xff"), false)
	f.Add(blocks(f, b), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = sealed(b)
		}
		r, err := Replay(bytes.NewReader(b), options())
		if r == nil && err == nil {
			t.Error("neither a result nor an error")
		}
		if r != nil && r.Differs != nil && (r.Differs.What == "" || len(r.Differs.How) == 0) {
			t.Errorf("%+v", r.Differs)
		}
	})
}
