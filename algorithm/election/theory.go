package election

import (
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// An Outset is how an election begins: in a group that the highest process
// leads, some are dead and everybody knows it, and some notice at the same
// moment. Its methods return how many messages the algorithms then send, if
// nobody dies meanwhile and no message takes longer than the longest latency,
// by which timeouts are counted. Where both ends of a range are the same, that
// many are sent whatever the latencies.
type Outset struct {
	N        int
	Dead     []algorithm.ID
	Starters []algorithm.ID // somebody alive, each once
}

// alive returns who is alive, from the lowest starter on.
func (o Outset) alive() []algorithm.ID {
	var ids []algorithm.ID
	for p := slices.Min(o.Starters); int(p) < o.N; p++ {
		if !slices.Contains(o.Dead, p) {
			ids = append(ids, p)
		}
	}
	return ids
}

// Bully returns what the bully algorithm sends. Everybody alive from the lowest
// starter on holds an election: it asks all who are higher, and all of them who
// are alive answer.
//
// With the highest of all dead, each holds exactly one, for all have begun, and
// all questions have come, before the highest alive stops waiting for answers
// and tells all who are lower. That is the least, N-1, if the highest alive
// starts alone: it asks those above and tells those below; and the most,
// N²-N-1, if the lowest starts and all others live.
//
// If the highest of all is alive, it leads already. It asks nobody: when it
// starts itself, it tells all others; when it is asked, it tells the one who
// asks. So each holds at least one election, and exactly one if one starts and
// all messages take equally long, which makes N²-1 at most: each pair has a
// question and an answer, and N-1 are told. But a process that was told quickly
// has ended its election, and a question that was slow makes it hold another.
// At worst it holds one for each election of anybody below it and one more if
// it starts: with nobody dead they are 1, 1, 2, 4, 8 and so on if the lowest
// starts, which makes 5·2^(N-2)-2 messages, and 1, 2, 4, 8 and so on if all
// start, which makes 5·2^(N-1)-N-4.
func (o Outset) Bully() algorithm.Range {
	alive := o.alive()
	last := len(alive) - 1
	leads := int(alive[last]) == o.N-1 // the highest of all, and already
	once, most, elections := 0, 0.0, 0.0
	for i, p := range alive {
		cost := o.N - 1 - int(p) + last - i
		if leads && i < last {
			cost++ // it is told
		}
		held := elections
		if slices.Contains(o.Starters, p) {
			held++
		}
		once += cost
		most += held * float64(cost)
		elections += held
	}
	if !leads || slices.Contains(o.Starters, alive[last]) {
		once += int(alive[last])
		most += float64(alive[last])
	}
	if !leads {
		return algorithm.Exact(float64(once))
	}
	return algorithm.Range{Lo: float64(once), Hi: most}
}

// Ring returns what the ring algorithm sends: for each starter two messages to
// each process alive, unless that is alone. Each ELECTION goes round and is
// followed by a COORDINATOR, whatever others there are.
func (o Outset) Ring() algorithm.Range {
	alive := o.N - len(o.Dead)
	if alive == 1 {
		return algorithm.Range{}
	}
	return algorithm.Exact(float64(2 * alive * len(o.Starters)))
}

// ChangRoberts returns what the algorithm of Chang and Roberts sends, the ring
// leading up or down. The highest number alive goes once round; so does
// COORDINATOR. Each other number that somebody sends goes to the next higher
// one.
//
// If one process starts there is one message at a time. If channels keep the
// order of sending, or all messages take equally long, the highest number stays
// behind all others, which have come to their ends when it is back. Then
// upwards everybody from the lowest starter to the highest alive sends its
// number one step, 3N-1 in all at most; downwards the numbers of the starters
// go all the way to the highest, which is N(N+3)/2 if all start. The paper's
// ring is of that kind.
//
// If messages overtake each other, a number that comes late makes the highest
// begin again, and may leave others waiting for an end until they begin again,
// too: no most is known.
func (o Outset) ChangRoberts(down bool, network algorithm.Network) algorithm.Range {
	alive := o.N - len(o.Dead)
	if alive == 1 {
		return algorithm.Range{}
	}
	all, nearest, farthest := 0, o.N, 0
	for _, p := range o.Starters {
		d := o.toHighest(p, down)
		all += d
		nearest, farthest = min(nearest, d), max(farthest, d)
	}
	steps := farthest
	if down {
		steps = all
	}
	if network == algorithm.FIFO || len(o.Starters) == 1 {
		return algorithm.Exact(float64(steps + 2*alive))
	}
	if !down { // what is overtaken need not make the next one send its number
		steps = nearest + len(o.Starters) - 1
	}
	return algorithm.Range{Lo: float64(steps + 2*alive), Hi: math.Inf(1)}
}

// toHighest returns how many steps it is from p to the highest alive.
func (o Outset) toHighest(p algorithm.ID, down bool) int {
	c := circle{self: p, n: o.N, down: down, dead: algorithm.SetOf(o.Dead...)}
	alive := o.alive()
	steps := 0
	for ; c.self != alive[len(alive)-1]; steps++ {
		c.self = c.next()
	}
	return steps
}
