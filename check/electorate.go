package check

import (
	"fmt"

	"github.com/stile-lock/stile/core"
)

// An electorate is the model of a group that elects a leader. All are alive
// and follow the highest; then processes crash and come back, as often as is
// allowed, and whoever follows nobody alive may notice.
//
// Time passes in units of the longest latency: a message arrives in the unit
// in which it was sent or in the next one, and a timer runs out after so many
// units as it was set for, when all that had to arrive by then has arrived.
// The failure detector tells the truth, sooner or later. With Quick, messages
// take no time at all compared with timeouts; with Slow, each arrives in the
// unit after it was sent. These are the two ends, and far fewer states. With Wrong there is one error: a
// timer runs out too early, or a process is told that a live one is dead.
type electorate struct {
	Election
	blobs *blobs
	birth core.Birth

	eager bool // for tests: what is sent to the dead is lost at any time, by a step of its own
	hasty bool // for tests: time goes on even if no timer runs

	lock bool // it is no election, but a lock that survives deaths
	asks int  // how often each process asks for it
}

// brokenRound is what an electorate can see broken: two win in one round.
// With a lock it is brokenExclusion.
const brokenRound = brokenExclusion

// A voter is one process in a state of an electorate.
type voter struct {
	blob   uint32
	leader core.ID // whom it follows, as it said last, or None
	dead   bool
	timer  uint8 // 1 + the units left, or 0 if it is not running
	fresh  bool  // what the timer belongs to was begun in this round
	phase  uint8 // with a lock: what its application does
	left   uint8 // with a lock: how often it may still ask
}

// A ballot is a message in flight.
type ballot struct {
	blob  uint32
	link  uint8 // from*n + to
	fresh bool  // it belongs to an election begun in this round
	old   bool  // it was sent in the unit before
}

// A vote is a whole state. Ballots are sorted by link; those of one link are
// in order of sending.
type vote struct {
	voters  []voter
	ballots []ballot
	winner  core.ID // who won in this round, or None
	crashes uint8   // how many are still to come
	returns uint8
	errors  uint8 // how many are still to come
}

func newElectorate(c Election) (*electorate, error) {
	if c.Nodes > maxElectors {
		return nil, fmt.Errorf("%d processes: the checker takes at most %d in an election", c.Nodes, maxElectors)
	}
	if c.Network != core.FIFO && c.Network != core.Unordered {
		return nil, fmt.Errorf("a network that is %v: an election needs one that loses and doubles nothing, fifo or unordered", c.Network)
	}
	if c.Quick && c.Slow {
		return nil, fmt.Errorf("messages that are both quick and slow: choose one, or neither for any time")
	}
	birth, err := c.Spec.Birth(c.Nodes)
	if err != nil {
		return nil, err
	}
	return &electorate{Election: c, birth: birth, blobs: &blobs{ids: map[string]uint32{}}}, nil
}

// maxElectors keeps links in a byte and seats in four bits.
const maxElectors = 8

func (v *vote) copyFrom(o *vote) {
	voters, ballots := append(v.voters[:0], o.voters...), append(v.ballots[:0], o.ballots...)
	*v = *o
	v.voters, v.ballots = voters, ballots
}

// round begins a new round: nothing that is under way was begun in it. Who
// leads at its beginning need not win again.
func (v *vote) round() {
	v.winner = core.None
	if v.agreed() {
		v.winner = v.highest()
	}
	for i := range v.voters {
		v.voters[i].fresh = false
	}
	for i := range v.ballots {
		v.ballots[i].fresh = false
	}
}

// add puts a ballot behind the others of its link.
func (v *vote) add(b ballot) {
	i := len(v.ballots)
	v.ballots = append(v.ballots, b)
	for i > 0 && v.ballots[i-1].link > b.link {
		v.ballots[i] = v.ballots[i-1]
		i--
	}
	v.ballots[i] = b
}

// highest returns the highest process alive, or None.
func (v *vote) highest() core.ID {
	for p := len(v.voters) - 1; p >= 0; p-- {
		if !v.voters[p].dead {
			return core.ID(p)
		}
	}
	return core.None
}

// agreed reports whether all who are alive follow the highest of them.
func (v *vote) agreed() bool {
	top := v.highest()
	for i := range v.voters {
		if !v.voters[i].dead && v.voters[i].leader != top {
			return false
		}
	}
	return true
}

// pack appends the bytes of a state.
func (e *electorate) pack(b []byte, v *vote) []byte {
	b = append(b, byte(v.winner+1), v.crashes<<4|v.returns, v.errors)
	for i := range v.voters {
		p := &v.voters[i]
		b = appendUvarint(b, p.blob)
		b = append(b, byte(p.leader+1)|bit(p.dead, 4)|bit(p.fresh, 5), p.timer)
		if e.lock {
			b = append(b, p.phase<<4|p.left)
		}
	}
	for i := range v.ballots {
		l := &v.ballots[i]
		b = append(b, l.link, bit(l.fresh, 0)|bit(l.old, 1))
		b = appendUvarint(b, l.blob)
	}
	return b
}

func bit(set bool, at uint) byte {
	if set {
		return 1 << at
	}
	return 0
}

// unpack is the reverse of pack.
func (e *electorate) unpack(b []byte, v *vote) {
	r := reader(b)
	v.winner = core.ID(r.byte()) - 1
	budget := r.byte()
	v.crashes, v.returns = budget>>4, budget&15
	v.errors = r.byte()
	for i := range v.voters {
		p := voter{blob: r.uvarint()}
		flags := r.byte()
		p.leader = core.ID(flags&15) - 1
		p.dead, p.fresh = flags&16 != 0, flags&32 != 0
		p.timer = r.byte()
		if e.lock {
			flags := r.byte()
			p.phase, p.left = flags>>4, flags&15
		}
		v.voters[i] = p
	}
	v.ballots = v.ballots[:0]
	for len(r) > 0 {
		l := ballot{link: r.byte()}
		flags := r.byte()
		l.fresh, l.old = flags&1 != 0, flags&2 != 0
		l.blob = r.uvarint()
		v.ballots = append(v.ballots, l)
	}
}
