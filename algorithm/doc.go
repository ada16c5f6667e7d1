// Package algorithm is the contract between algorithms and the hosts that run
// them.
//
// An algorithm is a pure state machine. Its author writes a message struct, a
// state struct, one Fields method for each, and the paper's three verbs:
//
//	func (s *state) Request(out *algorithm.Out[msg])                     // the application wants in
//	func (s *state) Release(out *algorithm.Out[msg])                     // the application leaves
//	func (s *state) Receive(from algorithm.ID, m *msg, out *algorithm.Out[msg])
//
// New wraps that into a [Machine], which speaks bytes only, so that every host
// can drive every algorithm: the simulator, the exhaustive checker, the lab
// and the live member. A host's loop is short:
//
//	m, err := spec.New(self, algorithm.View{N: 3, Holder: 0})  // err: no such group
//	var out algorithm.Output
//	err = m.Step(algorithm.Input{Kind: algorithm.Request}, &out)    // err: see below
//	for i, s := range out.Sends {
//		network.Send(self, s.To, out.Bytes(i))            // the bytes live until the next Step
//	}
//	if out.Entered {
//		// self is inside the critical section
//	}
//
// An election has no Release, since nobody is inside anything: see [Elector],
// made into a Machine by NewElection. A method against deadlock is a Machine
// too, made by NewSite: a seat is then a site with several transactions and
// several locks, inputs say which (From and Arg), and grants and victims come as
// notices. See [Site].
//
// # What a machine may rely on
//
// A host asks (Request) only for a process that is neither waiting nor inside,
// and leaves (Release) only for one that is inside: a lock made by New sees to
// that, and keeps it in its state. The host delivers what peers
// sent as the Spec's Network promises. Start comes once, and may come after
// the first Request. Everything else, above all the content of a message, may
// be wrong: bytes that do not decode are refused with an error and change
// nothing, and bytes that decode to nonsense must not make a machine panic.
//
// # When Step returns an error
//
// Nothing of that step is sent, and nobody has entered. Whose fault it was says
// what to do:
//
//   - [ErrMalformed]: a peer sent bytes that no honest machine sends. Nothing
//     has changed here. The peer is broken, or speaks another version: end the
//     session with it and complain. Never skip the message and go on: the
//     algorithm counts on every message, and the group would wait for ever or,
//     worse, not wait.
//   - [ErrHost]: the host gave an input that it must not give: Request for a
//     process that waits or is inside, Release for one that is not inside.
//     Nothing has changed. It is a bug in the host.
//   - [ErrAlgorithm]: the algorithm did what none may do, such as sending to a
//     seat that does not exist. It is a bug in the algorithm, and its state may
//     be half changed: stop, and do not use the machine again.
//
// A machine that panics has a bug, too: the simulator and the checker make this
// error of it ([Panicked]), and recover no panic of their own.
//
// A claim of a peer, a time or a counter, is refused as malformed from 2^48 on,
// which no honest clock reaches in the life of a group; states may hold up to
// 2^62. No such limit is enough by itself: whoever accepts the largest claim
// that is allowed counts up from it, and sends a larger one next, which others
// then refuse. To accept less than may be sent does not help, since what one
// honest member sends is what another is asked to accept; nor does a limit on how
// far a claim may be ahead, since who has just accepted the furthest is one further
// ahead of those who have not. So one liar can make honest members refuse each
// other. That costs an epoch, and no more: the host ends the sessions, the group
// makes a new view without the liar, and in a new view all clocks begin anew.
//
// # What a host may rely on
//
// A machine does no I/O, reads no clock, draws no random number and keeps
// nothing outside its state: AppendState and LoadState carry all of it. Equal
// states have equal bytes. A machine born from a View with Busy set is part of
// a legitimate global state in which Holder is inside and no message is in
// flight; without Busy nobody is inside.
//
// Messages that a machine sends to itself never reach the host: they are
// received within the same step.
//
// # The bytes are a wire format
//
// Members of a live group are not replaced all at once, and they page states
// out and in. So the bytes of messages and states, and what they mean, are a
// format between programs: whoever changes them changes [Spec].Version. That is
// more than the order of fields. It is also which tree or which quorums a Plan
// makes of n, since every member makes them for itself, and what a machine
// answers to the same message. A group names algorithm and version, and a
// member that has another version refuses. Golden vectors of every algorithm
// that runs live, in catalog/testdata, notice a change that nobody meant.
//
// # Logical time
//
// Logical times are a type of their own, [Time], and a field kind of their own
// ([Coder.Time]); so are counters that belong to one process ([Coder.Seq]). A
// Time is to be compared, copied, and counted up by one, and nothing else. Then
// the behaviour of an algorithm does not change when all times are shifted
// alike, which is what makes a finite proof over an unbounded number of
// requests possible. Every message of a clocked algorithm carries the clock,
// every receive sees it ([Time.See]), and only a request ticks it ([Time.Tick]).
// A time that no longer matters is set to the zero Time, which is none. Numbers
// are for hosts: see [TimeVisitor], and [Time] for what keeps algorithms from them.
package algorithm
