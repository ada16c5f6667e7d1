package transport

import (
	"bytes"
	"io"
)

// Caller reads the beginning of a connection without TLS, and returns the name of the node
// that has dialled, or nothing if that is no node. What was read must be passed on before
// the rest. It is for proxies that treat nodes differently.
func Caller(c io.Reader) (name string, read []byte, err error) {
	var all bytes.Buffer
	r := newReader(io.TeeReader(c, &all), maxHello)
	if err := r.need(len(peerMagic)); err != nil {
		return "", nil, err
	}
	if string(r.buf[:len(peerMagic)]) != peerMagic {
		return "", all.Bytes(), nil
	}
	r.at = len(peerMagic)
	k, b, err := r.next()
	if err != nil {
		return "", nil, err
	}
	if k != kindHello {
		return "", nil, malformed("frame of kind %d: want a Hello", k)
	}
	h, _, err := decodeHello(b, &Hello{Min: MinVersion, Max: MaxVersion})
	if err != nil {
		return "", nil, err
	}
	return h.Name, all.Bytes(), nil
}
