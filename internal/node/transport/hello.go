package transport

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The versions of this package, and the limits of a Hello.
const (
	MinVersion = 1
	MaxVersion = 1
	MaxName    = 255  // bytes of a name or an address
	MaxExtra   = 8192 // bytes for the layer above

	maxHello  = 32 + 2*MaxName + MaxExtra
	maxReason = 512 // bytes of a refusal
)

// A Hello is how a process introduces itself.
type Hello struct {
	Min, Max uint16 // range of protocol versions
	Name     string // node name
	Addr     string // address where others reach it, host:port
	Nonce    uint64 // unique to this process
	Extra    []byte // for the layer above
}

// check returns what is wrong with a Hello.
func (h *Hello) check() error {
	switch {
	case h.Min == 0 || h.Min > h.Max:
		return malformed("protocol versions %d to %d", h.Min, h.Max)
	case h.Name == "" || len(h.Name) > MaxName || !printable(h.Name):
		return malformed("invalid node name %.40q: want 1 to %d printable bytes", h.Name, MaxName)
	case len(h.Addr) > MaxName || !printable(h.Addr):
		return malformed("invalid node address %.40q: want host:port", h.Addr)
	case len(h.Extra) > MaxExtra:
		return malformed("Hello with %d extra bytes: at most %d are allowed", len(h.Extra), MaxExtra)
	}
	if host, port, err := net.SplitHostPort(h.Addr); err != nil || host == "" || port == "" {
		return malformed("invalid node address %.40q: want host:port", h.Addr)
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// append appends the bytes of a Hello.
func (h *Hello) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, h.Min)
	b = binary.BigEndian.AppendUint16(b, h.Max)
	b = binary.BigEndian.AppendUint64(b, h.Nonce)
	for _, field := range []string{h.Name, h.Addr, string(h.Extra)} {
		b = binary.BigEndian.AppendUint16(b, uint16(len(field)))
		b = append(b, field...)
	}
	return b
}

// An outdated is the error of two processes without a common version.
type outdated struct{ min, max, ourMin, ourMax uint16 }

func (o *outdated) Error() string {
	return fmt.Sprintf("incompatible protocol versions: the other node supports %d to %d, this one %d to %d: upgrade the older node", o.min, o.max, o.ourMin, o.ourMax)
}

// agree returns the highest version that both speak.
func agree(h *Hello, theirMin, theirMax uint16) (uint16, error) {
	v := min(h.Max, theirMax)
	if v < h.Min || v < theirMin {
		return 0, &outdated{theirMin, theirMax, h.Min, h.Max}
	}
	return v, nil
}

// decodeHello reads another process's Hello, and returns the version to be spoken. Without
// a common version only the versions are read, because the rest may be in a format unknown
// here.
func decodeHello(b []byte, self *Hello) (*Hello, uint16, error) {
	if len(b) < 4 {
		return nil, 0, malformed("Hello of %d bytes", len(b))
	}
	h := &Hello{Min: binary.BigEndian.Uint16(b), Max: binary.BigEndian.Uint16(b[2:])}
	if h.Min == 0 || h.Min > h.Max {
		return nil, 0, malformed("protocol versions %d to %d", h.Min, h.Max)
	}
	version, err := agree(self, h.Min, h.Max)
	if err != nil {
		return nil, 0, err
	}
	if b = b[4:]; len(b) < 8 {
		return nil, 0, malformed("truncated Hello")
	}
	h.Nonce, b = binary.BigEndian.Uint64(b), b[8:]
	var extra string
	for _, field := range []*string{&h.Name, &h.Addr, &extra} {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return nil, 0, malformed("truncated Hello")
		}
		n := int(binary.BigEndian.Uint16(b))
		*field, b = string(b[2:2+n]), b[2+n:]
	}
	if len(b) > 0 {
		return nil, 0, malformed("%d bytes after the end of a Hello", len(b))
	}
	h.Extra = []byte(extra)
	return h, version, h.check()
}
