package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"testing"
)

// texts are data of all kinds: nothing, little, what never repeats, what always does, and
// codes that are as unequal as can be.
func texts(t testing.TB) map[string][]byte {
	source, err := os.ReadFile("blocks.go")
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<19+17)
	for i := range noise {
		noise[i] = byte(chance.Uint32())
	}
	var unequal []byte // as often as Fibonacci's numbers: the longest codes there are
	for s, a, b := byte(0), 1, 1; s < 24; s, a, b = s+1, b, a+b {
		for range a {
			unequal = append(unequal, s)
		}
	}
	chance.Shuffle(len(unequal), func(i, j int) { unequal[i], unequal[j] = unequal[j], unequal[i] })
	return map[string][]byte{
		"nothing": nil, "a byte": []byte("a"), "three": []byte("aaa"), "four": []byte("abcd"), "zeros": make([]byte, 3*part+5),
		"source": source, "source again and again": bytes.Repeat(source, 50), "noise": noise, "unequal": unequal,
		"far": append(append(bytes.Clone(noise[:window-1]), source...), noise[:window]...),
	}
}

// What is compressed comes back as it was.
func TestGzipped(t *testing.T) {
	for name, data := range texts(t) {
		r, err := gzip.NewReader(bytes.NewReader(gzipped(data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes come back as %d, %v", name, len(data), len(got), err)
		}
	}
}

// It is worth its while.
func TestSmallerThanGzip(t *testing.T) {
	data := texts(t)["source"]
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(gzipped(data)); got >= b.Len() {
		t.Errorf("%d bytes, and gzip -9 makes %d", got, b.Len())
	}
}

// Codes have as many bits as they may, and all of them are used.
func TestCodes(t *testing.T) {
	for _, often := range [][]int32{{5}, {1, 1}, {0, 7, 0, 1}, {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144}, {9, 9, 9, 9, 9}} {
		for _, most := range []int{4, 7, 15} {
			c, used, full := newCode(often, most), 0, 0
			for s, l := range c.lengths {
				if (l > 0) != (often[s] > 0) || int(l) > most {
					t.Errorf("%v, at most %d: symbol %d has %d bits", often, most, s, l)
				}
				if l > 0 {
					used++
					full += 1 << (most - int(l))
				}
			}
			if used > 1 && full != 1<<most {
				t.Errorf("%v, at most %d: %d of %d codes are used", often, most, full, 1<<most)
			}
		}
	}
}
