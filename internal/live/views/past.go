package views

import (
	"fmt"
	"hash/crc32"
)

// A Past is what a process remembers of its cluster when it starts again: the highest
// epoch that it has seen, and the incarnation that it stopped cleanly, if it did. That
// incarnation had promised never to enter again, and no application or client could
// still act on a lock held through it. So its lease need not be waited for.
type Past struct {
	Cluster uint64
	Epoch   uint64
	Stopped uint64 // 0 if the last incarnation was not stopped cleanly
}

// pastForm is the text of a past; a checksum of it follows.
const pastForm = "cluster %016x\nepoch %d\nstopped %d\n"

// AppendTo appends the past as text.
func (p Past) AppendTo(b []byte) []byte {
	text := fmt.Sprintf(pastForm, p.Cluster, p.Epoch, p.Stopped)
	return fmt.Appendf(append(b, text...), "check %08x\n", crc32.ChecksumIEEE([]byte(text)))
}

// ParsePast reads a past. Empty bytes are that of a process that remembers nothing.
func ParsePast(b []byte) (Past, error) {
	var p Past
	if len(b) == 0 {
		return p, nil
	}
	_, err := fmt.Sscanf(string(b), pastForm, &p.Cluster, &p.Epoch, &p.Stopped)
	if err != nil || string(p.AppendTo(nil)) != string(b) {
		return Past{}, fmt.Errorf("%w: not a cluster, an epoch and an incarnation with their checksum", errBytes)
	}
	return p, nil
}
