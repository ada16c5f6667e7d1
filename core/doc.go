// Package core is the contract between algorithms and the hosts that run
// them.
//
// An algorithm is a pure state machine. Its author writes a message struct, a
// state struct, one Fields method for each, and the paper's three verbs:
//
//	func (s *state) Request(out *core.Out[msg])                     // the application wants in
//	func (s *state) Release(out *core.Out[msg])                     // the application leaves
//	func (s *state) Receive(from core.ID, m *msg, out *core.Out[msg])
//
// New wraps that into a [Machine], which speaks bytes only, so that every host
// can drive every algorithm: the simulator, the exhaustive checker, the lab
// and the live member. A host's loop is short:
//
//	m, err := spec.New(self, core.View{N: 3, Holder: 0})  // err: no such group
//	var out core.Output
//	err = m.Step(core.Input{Kind: core.Request}, &out)    // err: malformed bytes
//	for i, s := range out.Sends {
//		network.Send(self, s.To, out.Bytes(i))            // the bytes live until the next Step
//	}
//	if out.Entered {
//		// self is inside the critical section
//	}
//
// A method against deadlock is a Machine too, made by NewSite: a seat is then a
// site with several transactions and several locks, inputs say which (From and
// Arg), and grants and victims come as notices. See [Site].
//
// # What a machine may rely on
//
// A host asks (Request) only for a process that is neither waiting nor inside,
// and leaves (Release) only for one that is inside. It delivers what peers
// sent as the Spec's Network promises. Start comes once, and may come after
// the first Request. Everything else, above all the content of a message, may
// be wrong: bytes that do not decode are refused with an error and change
// nothing, and bytes that decode to nonsense must not make a machine panic.
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
// # Logical time
//
// Logical times are a type of their own, [Time], and a field kind of their own
// ([Coder.Time]); so are counters that belong to one process ([Coder.Seq]). A
// Time can be compared, copied, and counted up by one, and nothing else. Then
// the behaviour of an algorithm does not change when all times are shifted
// alike, which is what makes a finite proof over an unbounded number of
// requests possible. Every message of a clocked algorithm carries the clock,
// every receive sees it ([Time.See]), and only a request ticks it ([Time.Tick]).
// A time that no longer matters is set to the zero Time, which is none. Hosts
// alone get at the numbers: see [TimeVisitor].
package core
