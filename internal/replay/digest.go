package replay

import (
	"encoding/binary"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
)

// An Outcome is what can be compared of the outcome of an input.
type Outcome struct {
	Ticket  member.Ticket // Lock: identifies the request
	Refused bool          // the input returned an error
	Failed  string        // why the process has failed; empty if it has not
	Wake    member.Instant
	Effects [classes]Digest
}

// A class is a group of effects with a digest of its own.
type class uint8

const (
	notifications class = iota // to applications in the node's own process
	sends                      // to nodes
	replies                    // to clients
	saves                      // including erasures of the disk
	changes                    // installed views, and ends of membership
	closings                   // closed connections and links, and questions for the host
	classes
)

var classNames = [classes]string{
	"notifications to applications", "messages to nodes", "frames to clients", "saves",
	"views and membership", "closed connections and clients' questions",
}

// outcome returns the outcome of a step.
func outcome(out *process.Output) Outcome {
	o := Outcome{Ticket: out.Ticket, Refused: out.Err != nil, Wake: out.Wake}
	for i := range out.Effects {
		switch e := &out.Effects[i]; e.Kind {
		case process.Notify:
			o.Effects[notifications].event(e)
		case process.View:
			o.Effects[changes].begin(e).bytes(e.Record.AppendTo(nil))
		case process.Ended:
			o.Effects[changes].begin(e).number(uint64(e.How))
		case process.RolledBack:
			o.Effects[changes].begin(e).number(e.Number)
		case process.Send:
			o.Effects[sends].begin(e).text(e.To).bytes(e.Bytes)
		case process.Reply:
			o.Effects[replies].begin(e).number(e.Conn).flag(e.Last).bytes(e.Bytes)
		case process.Save, process.Erase, process.Remember:
			o.Effects[saves].begin(e).number(e.Number).bytes(e.Bytes)
		case process.Ask:
			o.Effects[closings].begin(e).number(e.Conn).number(e.Question.Number)
		case process.HangUp, process.LinkEnded:
			o.Effects[closings].begin(e).text(e.To).number(e.Peer)
		case process.Cut:
			o.Effects[closings].begin(e).number(e.Conn)
		case process.Failed:
			o.Failed = clipped(e.Err.Error())
		}
	}
	return o
}

// A Digest is the number of effects of a class, and a checksum of their contents.
type Digest struct {
	Count int
	Sum   uint32
}

// begin adds an effect; the caller adds the fields that matter.
func (d *Digest) begin(e *process.Effect) *Digest {
	if d.Count++; d.Count == 1 {
		d.Sum = fnvBasis
	}
	return d.number(uint64(e.Kind))
}

func (d *Digest) bytes(b []byte) *Digest {
	d.Sum = fnv(d.Sum, b)
	return d
}

func (d *Digest) number(n uint64) *Digest {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return d.bytes(b[:])
}

func (d *Digest) flag(x bool) *Digest {
	if x {
		return d.number(1)
	}
	return d.number(0)
}

// text adds a text after its length, so that no two fields can be mistaken for two others.
func (d *Digest) text(s string) *Digest { return d.number(uint64(len(s))).bytes([]byte(s)) }

func (d *Digest) event(e *process.Effect) {
	x := &e.Event
	d.begin(e).number(uint64(x.Ticket)).number(uint64(x.Kind)<<8 | uint64(x.Cause)).number(x.Token.Epoch).number(x.Token.Count)
	if x.Born != 0 {
		d.number(x.Born)
	}
}

const (
	fnvBasis = 2166136261
	fnvPrime = 16777619
)

// fnv continues an FNV-1a checksum. Two sums that differ stay different, whatever follows.
func fnv(sum uint32, b []byte) uint32 {
	for _, x := range b {
		sum = (sum ^ uint32(x)) * fnvPrime
	}
	return sum
}
