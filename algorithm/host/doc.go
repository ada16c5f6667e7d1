// Package host defines what a host of algorithms sees: machines that take inputs and give
// outputs, all as bytes and plain data.
//
// An author writes an algorithm against package algorithm, which makes it into a [Machine].
// The simulator, the exhaustive checker, the lab and the live member are hosts: each can
// drive every algorithm.
//
// The loop of a host is short:
//
//	m, err := spec.New(self, algorithm.View{N: 3, Holder: 0})    // err: no such group is possible
//	var out host.Output
//	err = m.Step(host.Input{Kind: host.Request}, &out) // or Receive with From and Bytes; err: see below
//	for i, s := range out.Sends {
//		network.Send(self, s.To, out.Bytes(i)) // the bytes are valid until the next Step
//	}
//	if out.Entered {
//		// self is inside the critical section
//	}
//
// A host that sets out.Listen also gets the reasons for every step, in out.Reasons; see
// Spec.Say in package algorithm. They change nothing else.
//
// # When Step returns an error
//
// Nothing from that step is sent, and the process has not entered. The error says where
// the fault lies, and so what to do:
//
//   - [ErrMalformed]: a peer sent bytes that no honest machine sends. The state is
//     unchanged. The peer is broken or runs another version: close the link to it and
//     report it. Never skip the message and carry on. The algorithm relies on every
//     message, so the group would wait forever or, worse, fail to wait.
//   - [ErrHost]: the host gave an input that it must not give: Request for a process that
//     is waiting or inside, or Release for one that is not inside. The state is
//     unchanged. This is a bug in the host.
//   - [ErrAlgorithm]: the algorithm did something that no algorithm may do, such as
//     sending to a seat that does not exist. This is a bug in the algorithm, and its
//     state may be half changed: stop, and do not use the machine again.
//
// A panic in a machine is also a bug in the algorithm. The simulator and the checker turn
// it into ErrAlgorithm (see [Panicked]); they do not recover panics of their own.
//
// A time or counter claimed by a peer is refused as malformed from 2^48 on, which no
// honest clock reaches in the life of a group; states may hold up to 2^62. No such limit
// is sufficient by itself. A machine that accepts the largest permitted claim counts up
// from it and next sends a larger one, which other machines refuse. Accepting less than
// may be sent does not help, because what one honest member sends is what another must
// accept. Nor does limiting how far ahead a claim may be, because a member that has just
// accepted the furthest claim is one further ahead of those that have not. So one liar
// can make honest members refuse each other. The damage is limited to one epoch: the host
// closes the links, the group installs a new view without the liar, and in a new view all
// clocks start again.
//
// # What a host may rely on
//
// A machine does no I/O, reads no clock, draws no random numbers and keeps nothing
// outside its state: AppendState and LoadState carry all of it. Equal states have equal
// bytes. A machine created from a View with Busy set is part of a legitimate global state
// in which Holder is inside and no message is in flight; without Busy no process is
// inside.
//
// Messages that a machine sends to itself never reach the host: they are received within
// the same step.
//
// # The bytes are a wire format
//
// Members of a live group are not replaced all at once, and they page states out and in.
// The bytes of messages and states, and their meaning, are therefore a format shared
// between programs: a change to them requires a new Spec.Version. The format is more
// than the order of fields. It includes the tree or the quorums that a Plan derives from
// n, because every member derives them for itself, and what a machine answers to a given
// message. A group names its algorithm and version, and a member with another version
// refuses to take part. Golden vectors in catalog/testdata, for every algorithm that runs
// live, catch unintended changes.
package host
