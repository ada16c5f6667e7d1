// Package transport moves messages between the processes of a cluster. It knows nothing of
// locks. A Mux accepts all connections on one address; a Pool keeps the links to the other
// nodes; a Link moves frames over one connection.
//
// # The bytes
//
// Nodes speak over TLS 1.3 with certificates on both sides, or over plain TCP where that is
// allowed. Each side first sends 8 bytes, its magic, and then frames:
//
//	checksum  4 bytes, big-endian: CRC-32C of all that follows
//	length    4 bytes, big-endian: of what follows
//	kind      1 byte
//	payload   the rest
//
// The first frame is a Hello: the range of protocol versions, name, address, a number
// unique to this process, and bytes that only the layer above reads. The magic, the frame
// and the first four bytes of a Hello, which are the range, never change. The dialler
// speaks first:
//
//	dialler   magic Hello                               Welcome  data ...
//	acceptor               magic Hello Welcome|Refuse            data ...
//
// A Refuse gives the reason, and the connection ends. Anything that is not a frame ends the
// link with a Malformed error; nothing is ever skipped but optional frames of later
// versions (codec.Optional).
//
// # One connection for a pair
//
// Two nodes share one connection, whichever of them dialled it: TCP acknowledgements ride
// on the answers, a node behind a one-way firewall can be reached, and there is only one
// connection whose death must be detected. If both dial at the same time there are two, and
// both sides know which one stays: the one dialled by the process with the lower number.
// Nothing is lost: both connections are read, both sides send on the one that stays, and
// the dialler of the other sends a Bye on it after its last frame; the acceptor sends what
// it still has and closes. An acceptor takes a link into use only after the dialler has, so
// a Bye never finds a node without the link that stays.
//
// A dialled link belongs to the address that was dialled, an accepted one to the address in
// the other side's Hello. Where the two differ, for example when a new node dials a
// configured name, there may be a link for each.
//
// A connection from a process that is already linked may mean that the other side knows the
// old link to be dead. A second one dialled by the same side replaces the first. One
// dialled by the other side causes the old one to be probed at once, which a host that no
// longer knows it answers with a reset. One from another process at the same address ends
// all links of the process that was there before.
//
// # What is promised
//
// Frames of one link arrive in order, whole or not at all, and at most once. A link may end
// at any time, and what is queued then is lost; when one link replaces another, frames may
// overtake each other. The layer above numbers its frames and resends what was lost, so a
// Pool never has to wait: Send queues and Flush writes, and neither blocks. If a link's
// queue is full, the link ends, unless the message may be lost, in which case it is
// dropped.
//
// # Floods
//
// A [Budget] is how many connections a node accepts at all its addresses, that for HTTP included.
// Each is first that of a stranger, then that of a client, or a link. Strangers are few: beyond
// their number one is closed, of the address with the most of them. So the share of an address
// is what is left after those with fewer were served, and a connection of an address that has
// none gets a place at once.
//
// Clients stay, so they have shares instead: an address, and an identity, may have as many places
// as are then still free (package share). Addresses of this machine have no share, because
// probes, proxies and commands of an operator come from there.
//
// # Writing
//
// Waking a goroutine costs more than a small write, so the goroutine that flushes also
// writes: it encrypts everything that is queued and hands it to the socket in one
// non-blocking call. Only what the socket does not accept is left to a goroutine, which is
// started for that and then ends.
package transport
