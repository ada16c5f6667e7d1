package host

import (
	"fmt"
	"strconv"
)

// An ID is a seat: the dense index, from 0, of a process in its view. People see seats
// numbered from 1.
type ID int

// None is the ID of no seat.
const None ID = -1

// String returns the seat as shown to people: P1, P2, and so on.
func (id ID) String() string {
	if id == None {
		return "none"
	}
	return "P" + strconv.Itoa(int(id)+1)
}

// A View is all that a machine knows when it is created, apart from its Spec's topology.
type View struct {
	N      int  // number of seats
	Holder ID   // seat that the lock starts with; it has the token, if there is one
	Busy   bool // whether Holder starts inside the critical section
	Late   bool // whether the group already runs: this process is back, or new, and remembers nothing
}

// Check reports whether v can be the initial view of a group.
func (v View) Check() error {
	if v.N < 1 {
		return fmt.Errorf("a view of %d processes: want at least 1", v.N)
	}
	if v.Holder < 0 || int(v.Holder) >= v.N {
		return fmt.Errorf("holder %d of a view of %d processes: it must be one of them, 1 to %d", int(v.Holder)+1, v.N, v.N)
	}
	return nil
}

// A Machine is an algorithm at one seat, as a host drives it.
type Machine interface {
	// Step takes one input and fills out, which it clears first. After an error nothing
	// in out may be used: the package documentation says what each error means and what a
	// host must do.
	Step(in Input, out *Output) error
	// AppendState appends the canonical encoding of the state to b.
	AppendState(b []byte) []byte
	// LoadState replaces the state by one that AppendState wrote. After an error the
	// machine must not be used.
	LoadState(b []byte) error
	// VisitTimes shows all logical times and counters of the state to v, which may change
	// them.
	VisitTimes(v TimeVisitor)
	// VisitMessageTimes shows those of a message to v. It changes nothing.
	VisitMessageTimes(b []byte, v TimeVisitor) error
	// RecodeMessage shows the times and counters of a message to v, if that is not nil,
	// and appends the encoding of the result to dst.
	RecodeMessage(dst, b []byte, v TimeVisitor) ([]byte, error)
	// Describe returns the fields of the state, for people. If given, members names the
	// process at each seat; otherwise every process takes part, in order.
	Describe(members ...ID) []Field
	// DescribeMessage returns the fields of a message.
	DescribeMessage(b []byte, members ...ID) ([]Field, error)
	// Assign sets one field of the state from text in the form that Describe returns.
	Assign(name, text string, members ...ID) error
	// Tokens returns the number of tokens that the state contains.
	Tokens() int
	// Mark returns what a message is besides its fields.
	Mark(b []byte) (Mark, error)
	// Clock returns the logical clock, for applications to send along with their own
	// messages; see Hear. It is 0 if the algorithm has no clock.
	Clock() uint64
	// Alibi reports that, as far as this state shows, seat d is not inside the critical
	// section and cannot enter as long as this machine takes no further step. False means
	// only that this machine cannot tell.
	Alibi(d ID) bool
}

// A Phase is what the application of a lock is doing.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Waiting
	Inside
)

// String returns the word for people.
func (p Phase) String() string {
	if p > Inside {
		return "phase " + strconv.Itoa(int(p))
	}
	return [...]string{"idle", "waiting", "inside"}[p]
}

// A Field is one labelled value of a state or a message, for people.
type Field struct{ Name, Value string }

// A Mark is what a message is besides its fields.
type Mark struct {
	Tokens     int  // number of tokens it carries
	Idempotent bool // whether a second copy changes nothing
}

// A TimeVisitor sees, and may change, every logical time and counter of a state or
// message. The checker uses it to make states canonical.
type TimeVisitor interface {
	Time(v *uint64)              // 0 is none
	Ticket(v *uint64)            // 0 is a live value
	Seq(column ID, v *uint64)    // a counter that belongs to one process
	Anchor(column ID, v *uint64) // the value that this column is measured from
}

// An InputKind is the kind of an Input.
type InputKind uint8

// The kinds of input.
const (
	Start   InputKind = iota // the group runs; a Starter may begin
	Request                  // the application wants to enter
	Release                  // the application leaves
	Receive                  // a message from a peer
	Expire                   // a timer that the machine set has expired
	Suspect                  // the host believes that a peer is dead
	Hear                     // a message between applications has arrived, carrying a clock
	Claim                    // a transaction declares that it may request a lock
	Abort                    // a transaction gives up: its locks are free, and it will try again
	Trust                    // the host no longer believes that a peer is dead: it is back
	Cancel                   // a transaction gives up the request with which it waits, and goes on
)

// An Input is one thing that happens to a machine.
type Input struct {
	Kind  InputKind
	From  ID     // Receive: the sender; Suspect, Trust: the peer; at a Site: the transaction
	Arg   int    // at a Site, Request and Claim: the lock
	Mode  int    // at a Site, Request: how much of the lock; see Site
	Bytes []byte // Receive: the message
	Timer int    // Expire: the timer
	Time  uint64 // Hear: the clock that the message carried
}

// An Output is what a machine wants done. A host reuses one Output for many steps.
type Output struct {
	Sends   []Send   // messages to peers, in order
	Entered bool     // whether the process is now inside the critical section
	Notices []Notice // anything else to report; usually empty
	Buffer  []byte   // the messages' bytes; see Bytes

	Listen  bool     // set by the host: whether it wants Reasons; Reset keeps it
	Waits   bool     // set by the host: it wants only those by which a process waits; Reset keeps it
	Reasons []Reason // why the machine did all this, in order; empty unless Listen
}

// MaxTimer is the largest number of a timer.
const MaxTimer = 1 << 16

// A NoticeKind is the kind of a Notice.
type NoticeKind uint8

// The kinds of notice.
const (
	Denied   NoticeKind = iota // the request was refused; the process is idle again
	SetTimer                   // give an Expire input for Timer after After units, or never if After is 0
	Leader                     // Who leads; None if no leader is known
	Victim                     // Who must be aborted, to break the deadlock Cycle
	Granted                    // transaction Who has the lock that it requested
	Heard                      // a request of transaction Who has arrived at the lock's site
	Doomed                     // the home of transaction Who, another site, is being notified that it must abort
)

// A Notice is something that a machine reports to its host or its application.
type Notice struct {
	Kind  NoticeKind
	Who   ID   // Leader, Victim, Granted, Heard, Doomed; Denied at a Site
	Cycle []ID // Victim; nil if the abort is preventive
	Timer int  // SetTimer: the timer; setting it again restarts it
	After int  // SetTimer: delay in units of the longest message latency that the host knows of; 0 stops the timer

	Attempt uint64 // Heard, Doomed: the attempt of the transaction
}

// A Send is one message to one peer. The parts of one multicast share a group and their
// bytes.
type Send struct {
	To     ID
	Kind   uint8 // index into Spec.Kinds
	Group  int32 // 0, 1, ... within one Output; equal for the parts of one multicast
	Lo, Hi int32 // where its bytes are in Buffer
}

// Reset clears o for the next step and keeps its memory.
func (o *Output) Reset() {
	o.Sends, o.Notices = o.Sends[:0], o.Notices[:0]
	o.Buffer = o.Buffer[:0]
	if o.Listen {
		o.Reasons = o.Reasons[:0]
	}
	o.Entered = false
}

// Bytes returns the message of Sends[i]. It is valid until the next Step.
func (o *Output) Bytes(i int) []byte {
	s := &o.Sends[i]
	return o.Buffer[s.Lo:s.Hi]
}
