// Package share says how much of a pool one of its users may take. Every pool of a node that
// strangers, addresses or identities draw on has the same rule: connections, sessions and
// listings.
//
// While at most half of a pool is used, one user may have all of that half: many honest clients
// behind one address translator, or with one certificate, are served by a node that is
// otherwise idle. Beyond that half, a user may have no more than an eighth of the pool. So one
// user never has more than half of a pool, and several of them cannot keep out another one
// without being several.
package share

// part is the part of a pool that one user may have while more than half of the pool is used.
const part = 8

// Allows reports whether a user that has some places of a pool may take another one. The pool
// has room for so many, of which so many are used. A pool without room has no bound.
func Allows(room, used, own int) bool {
	switch {
	case room <= 0:
		return true
	case used >= room:
		return false
	}
	return used <= room/2 || own < max(room/part, 1)
}
