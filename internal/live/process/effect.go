package process

import (
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/session"
	"github.com/stile-lock/stile/internal/live/views"
)

// An EffectKind says what an effect is.
type EffectKind uint8

// The effects. Those up to Ended come before all others of a step.
const (
	Notify EffectKind = iota // an application of this process learns what became of its request: Event
	View                     // the member has installed a view: Record
	Ended                    // the process is no longer a member: How

	Send      // a message to a node: To, Bytes, Lossy
	Reply     // a frame to a client: Conn, Bytes; none if the connection is only to be closed: Last
	Ask       // a client's question that the host answers: Question
	Save      // make Bytes durable, and then hand in Saved: Number
	Erase     // empty the disk of all that was saved, and then hand in Saved: Number
	HangUp    // a node has sent what no correct node sends: close the connection: To, Err
	Cut       // the same of a client: Conn, Err
	LinkEnded // the link to a member is over until the next view: To, Peer, Err
	Failed    // the process cannot go on: Err. It is the last effect that there is

	// What an oracle is shown, if Config.Observe is set. These come in the order in
	// which they happen, among those above that come first.
	ClientEvent // a client's request: Event
	FrameSent   // the member sends a frame: Peer, Bytes
	Delivering  // a frame is about to be delivered to the member: Peer, Bytes
	Delivered   // all that came of it has happened
	Renewing    // a renewal is sent: Number
	Confirming  // a renewal is confirmed, and the member does not know it yet: Number
	Confirmed   // and now it does
	Applied     // the voter has applied an entry of its log: Number, Record
	Asked       // a client's request has reached the member: Event.Ticket, To is the lock's name, Lossy if it is a try
	Cancelled   // it was withdrawn while it waited: Event.Ticket
	Unlocked    // it was held, and is released: Event.Ticket
)

// An Effect is something that the host of a process must do. Which fields it has
// depends on its kind. Bytes and pointers are valid until the next step.
type Effect struct {
	Kind     EffectKind
	Lossy    bool // Send: it may be dropped if many wait
	Last     bool // Reply: close the connection behind it
	How      views.Ending
	To       string // the address of a node
	Conn     uint64 // the connection of a client
	Number   uint64
	Peer     uint64 // the incarnation of a member
	Bytes    []byte
	Event    member.Event
	Record   *views.Record
	Question *session.Question
	Err      error
}

// An Output is what came of a step.
type Output struct {
	Effects []Effect       // to be carried out, in this order
	Wake    member.Instant // when Wake is to be handed in, if nothing happens before
	Ticket  member.Ticket  // Lock: names the request; what becomes of it is an effect
	Err     error          // Lock, Unlock, Release, Leave: why the request is refused

	acts []Effect // those that come after the others
}

func (o *Output) reset() {
	clear(o.Effects) // effects hold pointers
	o.Effects, o.Ticket, o.Err = o.Effects[:0], 0, nil
}

// now adds an effect that comes before those of do.
func (p *Process) now(e Effect) { p.Out.Effects = append(p.Out.Effects, e) }

// do adds an effect.
func (p *Process) do(e Effect) { p.Out.acts = append(p.Out.acts, e) }

// observe adds what an oracle is shown. The bytes are copied.
func (p *Process) observe(e Effect) {
	if p.config.Observe {
		e.Bytes = p.copy(e.Bytes)
		p.now(e)
	}
}

// copy keeps bytes until the next step.
func (p *Process) copy(b []byte) []byte {
	from := len(p.arena)
	p.arena = append(p.arena, b...)
	return p.arena[from:len(p.arena):len(p.arena)]
}
