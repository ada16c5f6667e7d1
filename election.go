package stile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/session"
)

// ErrNoLeader means that the election has no leader at present.
var ErrNoLeader = errors.New("no leader")

// An Election elects one leader at a time among the processes that campaign. It is the lock
// of that name: the process that holds the lock, and has attached a value to it, leads. So
// Campaign and Lock exclude each other, and 'stile locks' lists leaders as holders.
type Election struct {
	name string
	in   electorate
}

// An electorate is what all elections of a Node or a Client have in common.
type electorate struct {
	locker
	cluster
}

// Election returns the election with this name. It contacts no node.
func (e electorate) Election(name string) *Election { return &Election{name, e} }

// A Leader is the leader of an election.
type Leader struct {
	Name  string // for people: the name of a node, or of a client and its node
	Node  string // name of the node through which it leads
	Value string // attached by Campaign, or later by SetValue
	Term  Token  // its fencing token, greater than those of all earlier leaders
}

// Campaign waits until this process is elected. The error is nil if and only if it is. The
// value, up to 256 bytes of UTF-8, is for observers, such as the address of the leader. They
// see no leader before its value is attached.
func (e *Election) Campaign(ctx context.Context, value string) (*Leadership, error) {
	if err := session.CheckValue(value); err != nil {
		return nil, fmt.Errorf("campaign for %q: %w", e.name, err)
	}
	l, err := e.in.Lock(ctx, e.name)
	if err != nil {
		return nil, err
	}
	if err := l.SetValue(value); err != nil {
		return nil, errors.Join(err, l.Unlock()) // lost already
	}
	return &Leadership{l}, nil
}

// A Leadership lasts until Resign, or until it is lost.
type Leadership struct{ lock *Lock }

// Term returns the fencing token of this leadership. It is greater than those of all earlier
// ones. Send it along with every write, as that of a lock: see Fence.
func (l *Leadership) Term() Token { return l.lock.Token() }

// Context returns a context that ends when the leadership is lost or Resign is called. Its
// cause is ErrLost or ErrReleased.
func (l *Leadership) Context() context.Context { return l.lock.Context() }

// Err returns nil while this process leads, and ErrLost or ErrReleased after that. It reads
// the clock, so that a process that was paused learns of the loss here first.
func (l *Leadership) Err() error { return l.lock.Err() }

// SetValue replaces the value. Observers see the last one; some of those in between may not
// be seen.
func (l *Leadership) SetValue(value string) error { return l.lock.SetValue(value) }

// Resign ends the leadership. The error is ErrLost if it was lost before: another process may
// have led since.
func (l *Leadership) Resign() error { return l.lock.Unlock() }

// Leader returns the present leader. The error is ErrNoLeader if there is none. It is another
// one if some nodes do not answer, and none of the others reports a leader.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	s, err := e.survey(ctx, "")
	if err != nil {
		return Leader{}, err
	}
	var last Leader
	for _, l := range s.now {
		if last.Term.Less(l.Term) {
			last = l
		}
	}
	switch {
	case last.Term != Token{}:
		return last, nil
	case s.err != nil:
		return Leader{}, s.err
	}
	return Leader{}, fmt.Errorf("election %q: %w", e.name, ErrNoLeader)
}

// Observe yields the present leader, and then every change: each later leader, in the order
// of their terms; the same leader if its value or its node changes; and the zero Leader when
// there is none. Terms never go back.
//
// A leader whose node crashed may still act, and counts as the leader until its lease has
// expired or there is another one. Nodes remember leaders, so that even short terms are seen,
// apart from those that begin and end at a node that crashes before it is asked. If a node
// does not answer, Observe yields an error, and goes on. It ends when the context does, or
// after an error that is ErrClosed or ErrDenied.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		var o observer
		for {
			s, err := e.observe(ctx, o.since())
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				for _, l := range o.take(s, time.Now()) {
					if !yield(l, nil) {
						return
					}
				}
				err = s.err
			}
			if err != nil && (!yield(Leader{}, err) || errors.Is(err, ErrClosed) || errors.Is(err, ErrDenied)) {
				return
			}
			e.wait(ctx, s, o.due)
		}
	}
}

// observe is survey for Observe: a node that answers late must not keep news of others back
// for long.
func (e *Election) observe(ctx context.Context, since string) (*surveyed, error) {
	ctx, cancel := context.WithTimeout(ctx, answers/2)
	defer cancel()
	return e.survey(ctx, since)
}

// surveyed is what all nodes report about an election.
type surveyed struct {
	now    []Leader // reported to lead
	past   []Leader // reported to have ended
	lease  time.Duration
	states map[string]string // by the address of the node
	err    error             // names the nodes that did not answer
}

// survey asks all nodes about the election, and about leaders that have ended if a term is
// given: those that came later.
func (e *Election) survey(ctx context.Context, since string) (*surveyed, error) {
	members, err := e.in.members(ctx)
	if err != nil {
		return nil, err
	}
	q := node.LeaderQuery{Name: e.name, Since: since}
	type answer struct {
		member node.MemberInfo
		node.LeaderReport
		err error
	}
	all := make(chan answer, len(members))
	for _, m := range members {
		go func() {
			r, err := e.ask(ctx, m.Address, q)
			all <- answer{m, r, err}
		}()
	}
	s := &surveyed{states: map[string]string{}}
	var errs []error
	for range members {
		a := <-all
		if a.err != nil {
			errs = append(errs, fmt.Errorf("node %s did not answer, and may know another leader: %w", a.member.Name, worded(a.err)))
			continue
		}
		s.states[a.member.Address] = a.State
		s.lease = max(s.lease, seconds(a.Lease))
		if a.Leader != nil {
			s.now = append(s.now, leaderOf(a.Node, a.Leader))
		}
		for i := range a.Past {
			s.past = append(s.past, leaderOf(a.Node, &a.Past[i]))
		}
	}
	s.err = errors.Join(errs...)
	return s, nil
}

// ask asks one node.
func (e *Election) ask(ctx context.Context, address string, q node.LeaderQuery) (r node.LeaderReport, err error) {
	about, err := json.Marshal(&q)
	if err == nil {
		err = e.in.cluster.ask(ctx, address, node.AskLeader, about, &r)
	}
	return r, err
}

func leaderOf(node string, l *node.LeaderInfo) Leader {
	term, _ := ParseToken(l.Token) // a node writes only tokens
	return Leader{l.Who, node, l.Value, term}
}

// wait waits until a node has news, or until it is time to ask all again: at the latest when
// something is due.
func (e *Election) wait(ctx context.Context, s *surveyed, due time.Time) {
	again := pollTime + answers
	if s == nil || s.err != nil {
		again = watchEvery // a node that did not answer may do so then
	}
	if !due.IsZero() {
		again = min(again, max(time.Until(due), 0))
	}
	var polls sync.WaitGroup
	defer polls.Wait()
	ctx, cancel := context.WithTimeout(ctx, again)
	defer cancel()
	if s != nil {
		for address, state := range s.states {
			polls.Go(func() {
				defer cancel()
				_, _ = e.ask(ctx, address, node.LeaderQuery{Name: e.name, Known: state, Wait: pollTime.Seconds()}) // all are asked again
			})
		}
	}
	<-ctx.Done()
}

// pollTime is how long nodes wait for news before they answer.
const pollTime = 5 * time.Second

// An observer decides what Observe yields.
type observer struct {
	begun bool
	last  Leader    // yielded last; zero if there was none
	term  Token     // of the last leader, which may have ended before the observer began
	due   time.Time // when the lease of the last leader has expired, which no node reports; zero if one does
}

// since returns the term after which leaders are new. The last one is, too: its end is news.
func (o *observer) since() string {
	t := o.term
	t.Count = max(t.Count, 1) - 1
	return t.String()
}

// take returns what is new. If the last leader is not reported to have ended, as after a
// crash, it leads until its lease has expired.
func (o *observer) take(s *surveyed, now time.Time) (news []Leader) {
	all := slices.Concat(s.now, s.past) // of the same term, the one that leads comes first
	slices.SortStableFunc(all, func(a, b Leader) int { return compare(a.Term, b.Term) })
	all = slices.CompactFunc(all, func(a, b Leader) bool { return a.Term == b.Term })
	leads := func(l Leader) bool { return slices.Contains(s.now, l) }
	ended := o.last.Term == Token{}
	for _, l := range all {
		switch {
		case l.Term.Less(o.term):
		case !o.begun && !leads(l):
			o.term, ended = l.Term, true
		case l.Term == o.term && !leads(l):
			ended = true
		case l != o.last:
			o.last, o.term, ended = l, l.Term, !leads(l)
			news = append(news, l)
		}
	}
	if !o.begun && len(news) > 1 { // a client has moved, or a node has only just been told
		news = news[len(news)-1:]
	}
	switch {
	case slices.ContainsFunc(s.now, func(l Leader) bool { return l.Term == o.term }):
		o.due = time.Time{}
	case s.err != nil || o.begun && o.last == Leader{}:
	case !ended && o.due.IsZero():
		o.due = now.Add(s.lease)
	case ended || !now.Before(o.due):
		o.last, o.due = Leader{}, time.Time{}
		news = append(news, Leader{})
	}
	o.begun = o.begun || len(news) > 0
	return news
}

func compare(a, b Token) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}
