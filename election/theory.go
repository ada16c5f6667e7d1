package election

import (
	"slices"

	"github.com/stile-lock/stile/core"
)

// How many messages an election takes, in a group that the highest process
// leads, if everybody knows the dead, one process starts, and nobody dies
// meanwhile.

// BullyMessages returns how many messages the bully algorithm sends. Everybody
// alive from the starter on holds an election once: it asks all who are
// higher, and all of them who are alive answer. Then the highest alive tells
// all who are lower. Two cases need less: the highest of all asks nobody, and
// if it leads already, it tells only those who ask.
//
// With the highest dead, the least is N-1, if the highest alive starts: it asks
// those above and tells those below; the most is N²-N-1, if the lowest starts
// and all others live. If nobody is dead, it is N²-1: each pair has a question
// and an answer, and N-1 are told.
func BullyMessages(n int, dead []core.ID, starter core.ID) int {
	highest, alive, messages := core.None, 0, 0
	for p := core.ID(n - 1); p >= starter; p-- {
		if slices.Contains(dead, p) {
			continue
		}
		highest = max(highest, p)
		messages += (n - 1 - int(p)) + alive
		alive++
	}
	if int(highest) == n-1 && starter != highest {
		return messages + alive - 1
	}
	return messages + int(highest)
}

// RingMessages returns how many messages the ring algorithm sends: two to each
// process alive, unless it is the only one.
func RingMessages(n int, dead []core.ID, _ core.ID) int {
	if n-len(dead) == 1 {
		return 0
	}
	return 2 * (n - len(dead))
}

// ChangRobertsMessages returns how many messages the algorithm of Chang and
// Roberts sends, the ring leading up or down. ELECTION goes from the starter
// to the highest alive, growing on the way, and once round; so does
// COORDINATOR. If all N start at once, upwards each number but the highest
// goes one step, which makes 3N-1 in all; downwards number i goes i steps, so
// that N(N+1)/2 + N are sent, the most that is possible.
func ChangRobertsMessages(n int, dead []core.ID, starter core.ID, down bool) int {
	c := circle{self: starter, n: n, down: down, dead: core.SetOf(dead...)}
	alive := n - len(dead)
	if alive == 1 {
		return 0
	}
	highest := core.ID(n - 1)
	for c.dead.Has(highest) {
		highest--
	}
	steps := 0
	for ; c.self != highest; steps++ {
		c.self = c.next()
	}
	return steps + 2*alive
}
