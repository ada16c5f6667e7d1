package node

import (
	"encoding/binary"
	"errors"

	"github.com/stile-lock/stile/catalog"
)

// A greet is what nodes tell each other before anything else: of which cluster they
// are, 0 if they do not know yet, and which algorithms they run.
type greet struct {
	cluster  uint64
	versions map[string]int
}

// greeting returns the bytes of what this node tells.
func greeting(cluster uint64) []byte {
	b := binary.AppendUvarint(nil, cluster)
	for _, s := range catalog.Live() {
		b = binary.AppendUvarint(b, uint64(len(s.Name)))
		b = append(b, s.Name...)
		b = binary.AppendUvarint(b, uint64(s.Version))
	}
	return b
}

var errGreeting = errors.New("malformed: the other node does not say of which cluster it is and which algorithms it runs")

// readGreeting reads it.
func readGreeting(b []byte) (greet, error) {
	g := greet{versions: map[string]int{}}
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return 1 << 63
		}
		b = b[n:]
		return v
	}
	if g.cluster = next(); g.cluster == 1<<63 {
		return g, errGreeting
	}
	for len(b) > 0 {
		size := next()
		if size > uint64(len(b)) {
			return g, errGreeting
		}
		name := string(b[:size])
		b = b[size:]
		version := next()
		if version > 1<<30 {
			return g, errGreeting
		}
		g.versions[name] = int(version)
	}
	return g, nil
}

func (g *greet) knows(algorithm string, version int) bool { return g.versions[algorithm] == version }
