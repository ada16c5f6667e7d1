// Package transport moves messages between the processes of a lock cluster. It knows
// nothing of locks. A Mux accepts on one address whatever comes; a Pool keeps the
// links to the other nodes; a Link moves frames over one connection.
//
// # The bytes
//
// Peers speak over TLS 1.3 with certificates on both sides, or over plain TCP
// where that is allowed. Each side first says 8 bytes, its magic, and then frames:
//
//	checksum  4 bytes, big-endian: CRC-32C of all that follows
//	length    4 bytes, big-endian: of what follows
//	kind      1 byte
//	payload   the rest
//
// The first frame is a Hello: the range of protocol versions, name, address, a
// number that only this process has, and bytes that only the layer above reads.
// The magic, the frame and the first four bytes of a Hello, which are the range,
// never change. Who dialled speaks first:
//
//	dialler   magic Hello                               Welcome  data ...
//	acceptor               magic Hello Welcome|Refuse            data ...
//
// A Refuse says why, and the connection ends. What is no frame ends the link with
// a Malformed error; nothing is ever skipped.
//
// # One connection for a pair
//
// Two nodes share one connection, whoever dialled it: acknowledgements of TCP ride
// on the answers, a node behind a one-way firewall can be talked to, and there is
// one thing to find dead. If both dial at once there are two, and both know which
// one stays: that dialled by the process with the lower number. Nothing is lost:
// both are read, both sides send on the one that stays, and who dialled the other
// says Bye on it after its last frame; the acceptor sends what it still has and
// closes. An acceptor takes a link into use only after the dialler has, so a Bye
// never finds a node without the link that stays.
//
// A link that was dialled belongs to the address that was dialled, one that was
// accepted to the address of the other's Hello. Where the two differ, as where a new
// node dials a name that it was given, there may be a link for each.
//
// A connection that arrives from a process that is linked already may mean that the
// other side knows the old link to be dead. A second one dialled by the same side
// replaces the first; one dialled by the other side makes the old one be probed at
// once, which a host that no longer knows it answers with a reset. One from another
// process at the same address ends all links of the process that was there before.
//
// # What is promised
//
// Frames of one link arrive in order, whole, or not at all, and at most once. A
// link may end at any time, and what was queued then is lost; at the change from
// one link to another frames may overtake each other. Sessions above number frames
// and send again what was lost, so that a Pool never has to wait: Send queues and
// Flush writes, and neither blocks. A link whose queue is full is ended, except by
// a message that may be lost, which is dropped.
//
// # Writing
//
// Waking a goroutine costs more than a small write. So the goroutine that flushes
// writes: it encrypts all that is queued and hands it to the socket in one call
// that does not block. Only what the socket does not take is left to a goroutine,
// which is started for that and ends with it.
package transport
