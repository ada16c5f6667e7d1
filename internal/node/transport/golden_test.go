package transport

import (
	"bytes"
	"flag"
	"testing"

	"github.com/stile-lock/stile/internal/golden"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// The bytes of frames are a contract with nodes and clients of other versions. The magic,
// the frame and the range in a Hello never change.
func TestGolden(t *testing.T) {
	h := &Hello{Min: MinVersion, Max: MaxVersion, Name: "a", Addr: "10.0.0.5:7420", Nonce: 300, Extra: []byte{1, 2, 3}}
	all := []golden.Example{{Name: "magic:node", Bytes: []byte(peerMagic)}, {Name: "magic:client", Bytes: []byte(clientMagic)}}
	for _, x := range []struct {
		name    string
		k       kind
		payload []byte
	}{
		{"HELLO", kindHello, h.append(nil)}, {"WELCOME", kindWelcome, nil}, {"REFUSE", kindRefuse, []byte("full")},
		{"BEAT", kindBeat, nil}, {"BYE", kindBye, nil}, {"DATA", kindData, []byte("message")},
	} {
		all = append(all, golden.Example{Name: x.name, Bytes: appendFrame(nil, x.k, x.payload)})
	}
	golden.Check(t, *update, all, func(name string, b []byte) ([]byte, error) {
		r := newReader(bytes.NewReader(b), 1<<10)
		switch name {
		case "magic:node":
			return b, r.magic(peerMagic)
		case "magic:client":
			return b, r.magic(clientMagic)
		}
		k, payload, err := r.next()
		if err == nil && k == kindHello {
			var theirs *Hello
			if theirs, _, err = decodeHello(payload, h); err == nil {
				payload = theirs.append(nil)
			}
		}
		return appendFrame(nil, k, payload), err
	})
}
