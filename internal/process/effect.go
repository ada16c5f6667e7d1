package process

import (
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// An EffectKind is the type of an effect.
type EffectKind uint8

// The effects. Those up to RolledBack come before all others of a step.
const (
	Notify     EffectKind = iota // notify an application of this process of what happened to its request: Event
	View                         // the member has installed a view: Record
	Ended                        // the process is no longer a member: How
	RolledBack                   // the cluster has lost an epoch that this process has seen: Number, Record

	Send       // send a message to a node: To, Bytes, Lossy
	Reply      // send a frame to a client: Conn, Bytes, which are empty if the connection must only be closed: Last
	Ask        // answer a client's question: Question
	Save       // make Bytes durable, and then pass in Saved: Number
	Erase      // erase everything that was saved, and then pass in Saved: Number
	Remember   // make Bytes durable in place of what was remembered before, and then pass in Saved: Number
	ClaimEnded // a client's claim is honoured, or refused if Err says why: Conn, Client, To is the lock's name, Event.Token, Peer is the incarnation that the hold rests on
	HangUp     // close the connection to a node that has sent what no correct node sends: To, Err
	Cut        // the same for a client: Conn, Err
	LinkEnded  // the link to a member has ended until the next view: To, Peer, Err
	Failed     // the process cannot go on: Err. It is the last effect
	Marked     // something happened to a lock that is followed: Mark, which stays valid. It comes among those that come first

	// Shown to observers if Config.Follow or Config.Observe is set. These, and those
	// below, come in the order in which they happen, among those above that come first.
	ClientEvent // a client's request: Event
	Asked       // a client's request has reached the member: Event.Ticket, To is the lock's name, Lossy if it is a try; Terms, Client
	Claimed     // a client claims a lock: Event.Ticket, Event.Token, To is the lock's name, Terms, Client
	Cancelled   // a waiting request, or a claim, was withdrawn: Event.Ticket
	Kept        // a delegated lock is in use and no longer delegated: Event.Ticket, Event.Token is that of the present entry
	Unlocked    // a held lock was released: Event.Ticket; Number is the count of the last entry that a client has named for a delegated lock, or 0

	// Shown to an oracle if Config.Observe is set.
	FrameSent  // the member sends a frame: Peer, Bytes
	Delivering // a frame is about to be delivered to the member: Peer, Bytes
	Delivered  // all its consequences have happened
	Renewing   // a renewal is sent: Number
	Confirming // a renewal is confirmed, but the member does not know yet: Number
	Confirmed  // now it does
	Applied    // the voter has applied an entry of its log: Number, Record
)

// An Effect is something that the host of a process must do. The fields in use depend
// on its kind. Bytes and pointers are valid until the next step.
type Effect struct {
	Kind     EffectKind
	Lossy    bool // Send: may be dropped if many are queued
	Last     bool // Reply: close the connection after it
	How      views.Ending
	To       string // address of a node
	Conn     uint64 // connection of a client
	Number   uint64
	Peer     uint64 // incarnation of a member
	Bytes    []byte
	Event    member.Event
	Terms    member.Terms
	Record   *views.Record
	Question *session.Question
	Client   *session.Owner // may be kept
	Err      error
	Mark     *member.Mark
}

// An Output is the result of a step.
type Output struct {
	Effects []Effect       // to carry out, in this order
	Wake    member.Instant // when to pass in Wake, if nothing happens before
	Ticket  member.Ticket  // Lock: identifies the request; its outcome is an effect
	Err     error          // why the request of an application or an operator is refused
	Shown   []string       // locks of which a client has become or ceased to be a holder with a value, or has changed the value

	acts []Effect // effects that come after the others
}

func (o *Output) reset() {
	clear(o.Effects) // effects hold pointers
	clear(o.Shown)
	o.Effects, o.Shown, o.Ticket, o.Err = o.Effects[:0], o.Shown[:0], 0, nil
}

// now adds an effect that comes before those of do.
func (p *Process) now(e Effect) { p.Out.Effects = append(p.Out.Effects, e) }

// notify is now for an effect that only has an event, which is copied once.
func (p *Process) notify(k EffectKind, e *member.Event) {
	p.Out.Effects = append(p.Out.Effects, Effect{})
	last := &p.Out.Effects[len(p.Out.Effects)-1]
	last.Kind, last.Event = k, *e
}

// do adds an effect.
func (p *Process) do(e Effect) { p.Out.acts = append(p.Out.acts, e) }

// observe adds an effect for an oracle. The bytes are copied.
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
