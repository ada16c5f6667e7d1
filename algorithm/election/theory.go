package election

import (
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// An Outset is how an election begins: in a group led by the highest process, some
// processes are dead and all others know it, and some notice the silence at the same
// moment. Its methods return how many messages the algorithms then send, if no process
// dies meanwhile and no message takes longer than the longest latency, by which timeouts
// are counted. Where both ends of a range are equal, exactly that many are sent whatever
// the latencies.
type Outset struct {
	N        int
	Dead     []algorithm.ID
	Starters []algorithm.ID // live processes, at least one, each once
}

// alive returns the live processes, from the lowest starter on.
func (o Outset) alive() []algorithm.ID {
	var ids []algorithm.ID
	for p := slices.Min(o.Starters); int(p) < o.N; p++ {
		if !slices.Contains(o.Dead, p) {
			ids = append(ids, p)
		}
	}
	return ids
}

// Bully returns how many messages the bully algorithm sends. Every live process from the
// lowest starter on calls an election: it asks all higher processes, and all live ones
// among them answer.
//
// With the highest of all dead, each holds exactly one election, because all have begun,
// and all questions have arrived, before the highest live process stops waiting for
// answers and informs all lower ones. The least is N-1, if only the highest live process
// starts: it asks those above and informs those below. The most is N²-N-1, if the lowest
// starts and all others live.
//
// If the highest of all is alive, it leads already. It asks no process: when it starts
// itself, it informs all others; when it is asked, it informs the process that asks. So
// each holds at least one election, and exactly one if one starts and all messages take
// equally long. That makes at most N²-1 messages: each pair has a question and an answer,
// and N-1 processes are informed. But a process that was informed quickly has ended its
// election, and a slow question makes it hold another. At worst it holds one for each
// election of any process below it and one more if it starts. With none dead they are 1,
// 1, 2, 4, 8 and so on if the lowest starts, which makes 5·2^(N-2)-2 messages, and 1, 2,
// 4, 8 and so on if all start, which makes 5·2^(N-1)-N-4.
func (o Outset) Bully() algorithm.Range {
	alive := o.alive()
	last := len(alive) - 1
	leads := int(alive[last]) == o.N-1 // the highest of all leads, and already does
	once, most, elections := 0, 0.0, 0.0
	for i, p := range alive {
		cost := o.N - 1 - int(p) + last - i
		if leads && i < last {
			cost++ // it is informed
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

// Ring returns how many messages the ring algorithm sends: for each starter two messages
// to each live process, unless there is only one. Each ELECTION goes round and is
// followed by a COORDINATOR, whatever other elections there are.
func (o Outset) Ring() algorithm.Range {
	alive := o.N - len(o.Dead)
	if alive == 1 {
		return algorithm.Range{}
	}
	return algorithm.Exact(float64(2 * alive * len(o.Starters)))
}

// ChangRoberts returns how many messages the algorithm of Chang and Roberts sends in a
// ring that leads up or down. The highest live number goes round once; so does
// COORDINATOR. Each other number that is sent travels to the next higher one.
//
// If one process starts there is one message at a time. If channels preserve the order of
// sending, or all messages take equally long, the highest number stays behind all others,
// which have come to their ends when it is back. Then, upwards, every process from the
// lowest starter to the highest alive sends its number one step, at most 3N-1 in all.
// Downwards, the numbers of the starters travel all the way to the highest, which is
// N(N+3)/2 if all start. The paper's ring is of that kind.
//
// If messages overtake each other, a number that arrives late makes the highest begin
// again, and may leave others waiting for an end until they begin again, too: no upper
// bound is known.
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
	if !down { // an overtaken message need not make the next process send its number
		steps = nearest + len(o.Starters) - 1
	}
	return algorithm.Range{Lo: float64(steps + 2*alive), Hi: math.Inf(1)}
}

// toHighest returns the number of steps from p to the highest live process.
func (o Outset) toHighest(p algorithm.ID, down bool) int {
	c := circle{self: p, n: o.N, down: down, dead: algorithm.SetOf(o.Dead...)}
	alive := o.alive()
	steps := 0
	for ; c.self != alive[len(alive)-1]; steps++ {
		c.self = c.next()
	}
	return steps
}
