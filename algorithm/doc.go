// Package algorithm is what the author of an algorithm needs, and what hosts know of it.
//
// An algorithm is a pure state machine. Its author writes a message struct, a state
// struct, a Fields method for each, and the paper's three verbs:
//
//	func (s *state) Request(out *algorithm.Out[msg])                     // the application wants to enter
//	func (s *state) Release(out *algorithm.Out[msg])                     // the application leaves
//	func (s *state) Receive(from algorithm.ID, m *msg, out *algorithm.Out[msg])
//
// [New] wraps the state in a [Machine], which takes and gives messages and states only as
// bytes. So every host can drive every algorithm: the simulator, the exhaustive checker,
// the lab and the live member. A [Spec] describes the algorithm to them: its name, the
// network it needs, the names of its messages, and a Plan that makes its machines. An
// algorithm that needs more than the three verbs implements an optional interface, such
// as [Starter], [Expirer], [Suspecter] or [Hearer].
//
// Package [github.com/stile-lock/stile/algorithm/host] is the other half of the contract:
// what a host calls, and what it may rely on. An author does not need it.
//
// An election has no Release, because there is no critical section to leave: see
// [Elector], which [NewElection] makes into a Machine. A method against deadlock is a
// Machine too, made by [NewSite]. Each seat is then a site with several transactions and
// several locks, inputs identify the transaction and the lock (From and Arg), and grants
// and victims are reported as notices. See [Site].
//
// # What a machine may rely on
//
// A host gives Request only to a process that is neither waiting nor inside, and Release
// only to one that is inside. A lock made by New enforces this and keeps the phase in its
// state. The host delivers messages from peers as the Spec's Network promises. Start
// comes once, and may come after the first Request. Everything else may be wrong, above
// all the content of a message: bytes that do not decode are refused with an error and
// change nothing, and bytes that decode to nonsense must not make a machine panic.
//
// A message that a machine sends to itself is received within the same step.
//
// # Reasons
//
// A Spec lists the algorithm's rules. A machine names the rule that it follows, and what it
// knew, with Out.Because; a host that sets host.Output.Listen gets these as data, and
// [Spec.Say] makes sentences of them:
//
//	out.Because(ruleDefer, algorithm.Facts{Who: from, A: ours, B: theirs})
//	// P2 defers P3, because (1,P2) comes before (1,P3)
//
// # Logical time
//
// Logical times have their own type, [Time], and their own kind of field ([Coder.Time]);
// so do counters that belong to one process ([Coder.Seq]). An algorithm may compare a
// Time, copy it and count it up by one, and nothing else. Its behaviour then does not
// change when all times are shifted equally, which is what makes a finite proof over an
// unbounded number of requests possible. In a clocked algorithm every message carries the
// clock, every receive observes it ([Time.See]), and only a request advances it
// ([Time.Tick]). A time that no longer matters is set to the zero Time, which means none.
// Only hosts see the numbers: see host.TimeVisitor, and [Time] for what keeps algorithms
// from using them.
package algorithm
