package transport

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"
)

// A proxy learns which node has dialled, and has all that it read to pass on.
func TestCaller(t *testing.T) {
	hello := appendFrame([]byte(peerMagic), kindHello, (&Hello{1, 1, "node2", "127.0.0.1:1", 7, nil}).append(nil))
	for _, x := range []struct{ what, name, sent string }{
		{"a node", "node2", string(hello)},
		{"a node in a hurry", "node2", string(appendFrame(bytes.Clone(hello), kindData, []byte("x")))},
		{"a client", "", clientMagic + "more"},
		{"another program", "", "GET / HTTP/1.1\r\n\r\n"},
	} {
		name, read, err := Caller(strings.NewReader(x.sent))
		if err != nil || name != x.name || !strings.HasPrefix(x.sent, string(read)) || len(read) < len(peerMagic) {
			t.Errorf("%s: %q, %q, %v", x.what, name, read, err)
		}
	}
	name, read, err := Caller(iotest.OneByteReader(bytes.NewReader(hello)))
	if err != nil || name != "node2" || !bytes.Equal(read, hello) {
		t.Errorf("byte by byte: %q, %q, %v", name, read, err)
	}
	for _, sent := range [][]byte{nil, hello[:4], hello[:len(hello)-1], appendFrame([]byte(peerMagic), kindData, nil), appendFrame([]byte(peerMagic), kindHello, nil)} {
		if _, _, err := Caller(bytes.NewReader(sent)); err == nil {
			t.Errorf("%q is accepted", sent)
		}
	}
}
