package model

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// Spent messages: the partial order reduction of this model.
//
// A message is spent if its delivery changes nothing in any state that its receiver can
// ever be in: a request that was granted long ago, for instance. Its delivery commutes
// with every other step, now and later, so it is an ample set of its own, and it may be
// taken as soon as the message is spent: states are explored without spent messages.
//
// Whether a message is spent is assumed as long as no state in which its receiver was seen
// says otherwise. If one does, in whatever order they are seen, the exploration starts
// over, and that message stays. Why that is enough: let a run without the reduction be
// given, and take away the deliveries of messages that were assumed to be spent. As long
// as each of them has changed nothing, what is left is a run of the reduced model, in
// which every machine takes the same steps. So the first state in which such a delivery
// would change something is a state of the reduced model, too, and was seen there.
//
// The cycle proviso needs no test: a spent message is gone once it is delivered, and
// nothing is sent, so no cycle consists of such deliveries.
//
// Only messages that no renumbering changes can be spent: without logical times, and with
// counters that are all 0, which means not above the anchor. They say nothing about the
// numbering of the others.

// spent is what is assumed about messages in one exploration.
type spent struct {
	refute func() // ends the exploration

	mu      sync.Mutex
	known   map[uint32]bool   // states that machines were seen in
	seen    [][]*blob         // the same, by seat
	assumed map[inFlight]bool // messages that were asked about, and whether they are spent
	wrong   map[written]bool  // those that are not, though it was assumed here or before
	refuted bool              // one of them was removed here
}

// newSpent assumes all messages to be spent but those that are known not to be.
func newSpent(m *Model, wrong map[written]bool, refute func()) *spent {
	return &spent{refute: refute, known: map[uint32]bool{}, seen: make([][]*blob, m.Seats), assumed: map[inFlight]bool{}, wrong: wrong}
}

// An inFlight is a message on a link.
type inFlight struct {
	link uint16
	blob uint32
}

// A written is the same whatever blobs are numbered.
type written struct {
	link  uint16
	bytes string
}

func (w *worker) written(k inFlight) written { return written{k.link, string(w.info(k.blob).bytes)} }

// A knower is an Env whose tags say what a sender knew. Knows reports whether a seat knows
// all that a tag says, and will know it as long as the tag says it: then Caused changes
// nothing, and Took without an output does not either.
type knower interface {
	Knows(seat algorithm.ID, t family.Tag) bool
}

// Reducible reports whether messages of this model can be spent. Where seats die or
// messages are lost, a message in flight is more than what it does to its receiver.
func (m *Model) Reducible() bool {
	_, knows := m.Env.(knower)
	return !m.mortal && m.Losses == 0 && !m.Upset && !m.Sites && m.Clock == Anytime && m.Form.Counters != Ranked && (knows || !m.Tagged)
}

// ExploreUnspent explores a reducible model without spent messages. It finds a violation
// if and only if Explore does, though not the shortest run to it, and never visits more
// states. It says nothing about how many messages are on a link. The model that it returns
// is the one explored.
func (m *Model) ExploreUnspent(l explore.Limits) (*Model, *explore.Exploration, error) {
	wrong := map[written]bool{}
	start := time.Now()
	parent := l.Context
	if parent == nil {
		parent = context.Background()
	}
	for limit := l.Time; ; {
		r, err := newModel(m.Config, m.reductions)
		if err != nil {
			return nil, nil, err
		}
		var cancel context.CancelFunc
		l.Context, cancel = context.WithCancel(parent)
		r.spent = newSpent(r, wrong, cancel)
		e, err := explore.Explore(r, l)
		cancel()
		if !r.spent.refuted || parent.Err() != nil {
			return r, e, err
		}
		if limit > 0 {
			l.Time = max(time.Nanosecond, limit-time.Since(start))
		}
	}
}

// A spentView is what one worker knows of spent.
type spentView struct {
	seen    []bool            // states of machines, by the number of their blob
	assumed map[inFlight]bool // see spent
}

// unspent returns a state without its spent messages.
func (w *worker) unspent(g *state) *state {
	v := &w.view
	for p := range g.seats {
		id := g.seats[p].blob
		if int(id) >= len(v.seen) {
			v.seen = append(v.seen, make([]bool, int(id)+1-len(v.seen))...)
		}
		if !v.seen[id] {
			v.seen[id] = true
			w.spent.see(w, w.info(id))
		}
	}
	is := func(l message) bool { return w.info(l.blob).fixed() && w.isSpent(g, &l) }
	if !slices.ContainsFunc(g.messages, is) {
		return g
	}
	if g != w.spare {
		w.spare.copyFrom(g)
		g = w.spare
	}
	g.messages = slices.DeleteFunc(g.messages, is)
	return g
}

// fixed reports whether no renumbering changes a message, and it says nothing about how
// others are renumbered.
func (b *blob) fixed() bool { return b.times == 0 && !b.counts && b.anchor == nil && b.tokens == 0 }

// isSpent reports whether a message is assumed to be spent.
func (w *worker) isSpent(g *state, l *message) bool {
	k := inFlight{l.link, l.blob}
	is, ok := w.view.assumed[k]
	if !ok {
		is = w.spent.ask(w, k)
		w.view.assumed[k] = is
	}
	return is && (!w.Tagged || g.env.(knower).Knows(algorithm.ID(g.to(l)), l.tag))
}

// see notes that a machine was seen in a state.
func (s *spent) see(w *worker, b *blob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[b.id] {
		return
	}
	s.known[b.id] = true
	s.seen[b.seat] = append(s.seen[b.seat], b)
	for k, is := range s.assumed {
		if is && int(k.link)%w.Seats == int(b.seat) && !w.idles(b, k) {
			s.assumed[k], s.wrong[w.written(k)], s.refuted = false, true, true
			s.refute()
		}
	}
}

// ask returns whether a message is assumed to be spent from now on.
func (s *spent) ask(w *worker, k inFlight) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	is, ok := s.assumed[k]
	if !ok {
		is = !s.wrong[w.written(k)]
		for _, b := range s.seen[int(k.link)%w.Seats] {
			is = is && w.idles(b, k)
		}
		s.assumed[k] = is
	}
	return is
}

// idles reports whether the delivery of a message changes nothing in a state of its
// receiver. A step that fails is one that must not be hidden.
func (w *worker) idles(b *blob, k inFlight) bool {
	l := message{link: k.link}
	from, _ := w.ends(&l)
	after, err := w.stepFrom(w.other[b.seat], b.bytes, host.Input{Kind: host.Receive, From: from, Bytes: w.info(k.blob).bytes})
	return err == nil && bytes.Equal(after, b.bytes) && len(w.lifted.Sends) == 0 && len(w.lifted.Notices) == 0 && !w.lifted.Entered
}
