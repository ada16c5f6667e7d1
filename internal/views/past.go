package views

import "fmt"

// A Past is what a process remembers of its cluster when it starts again: the highest
// epoch that it has seen, and the incarnation that stopped cleanly, if one did. That
// incarnation had promised never to enter again, and no application or client could
// still act on a lock held through it. So its lease need not be waited for. It is named
// by its nonce: even if the log goes back, no other incarnation has the same.
type Past struct {
	Cluster uint64
	Epoch   uint64
	Stopped uint64 // nonce of the last incarnation; 0 if it did not stop cleanly
}

// pastForm is the text of a past; a checksum follows.
const pastForm = "cluster %016x\nepoch %d\nstopped %d\n"

// AppendTo appends the past as text.
func (p Past) AppendTo(b []byte) []byte {
	text := fmt.Sprintf(pastForm, p.Cluster, p.Epoch, p.Stopped)
	return fmt.Appendf(append(b, text...), "check %016x\n", p.sum())
}

// sum returns a checksum, so that a damaged past is not believed.
func (p Past) sum() uint64 {
	sum := uint64(14695981039346656037)
	for _, n := range [...]uint64{p.Cluster, p.Epoch, p.Stopped} {
		for range 8 {
			sum, n = (sum^n&0xff)*1099511628211, n>>8
		}
	}
	return sum
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
