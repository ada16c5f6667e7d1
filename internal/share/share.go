// Package share says how much of a pool one of its users may take. Every pool of a node that
// strangers, addresses or identities draw on has the same rule: connections, sessions, calls,
// streams, listings and bytes.
//
// A user may have as many places as are then still free: one alone gets half of them, so that many
// honest clients behind one address translator, or with one certificate, are served by a node
// that is otherwise idle; two get a third each, and so on. So greedy users always leave a place
// for another one, however many of them there are.
package share

// Allows reports whether a user that has some places of a pool may take some more. The pool has
// room for so many, of which so many are used. A pool without room has no bound.
func Allows(room, used, own, more int) bool { return room <= 0 || own+more <= room-used }
