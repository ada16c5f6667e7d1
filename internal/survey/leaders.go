package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
)

// ErrNoLeader means that the election has no leader at present.
var ErrNoLeader = errors.New("no leader")

// ErrUnanswered means that some nodes did not answer.
var ErrUnanswered = errors.New("node did not answer, and may know another leader")

// How long nodes have.
const (
	answerTime  = 5 * time.Second // to answer
	newsTime    = 2 * time.Second // to answer when another has news, which must not wait for long
	pollTime    = 5 * time.Second // to wait for news
	silenceTime = time.Second     // until one that did not answer is asked again
)

// An Election asks all nodes about an election.
type Election struct {
	Name    string
	Members func(ctx context.Context) ([]node.MemberInfo, error)
	Ask     Ask
}

// A Leader is the leader of an election. The zero Leader stands for none.
type Leader struct {
	Who   string // for people
	Node  string // through which it leads
	Value string
	Term  member.Token
}

// Leader returns the present leader, or ErrNoLeader. If no node reports a leader and some do
// not answer, the error names these.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	s, err := e.survey(ctx, "", answerTime)
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
	case last.Term != member.Token{}:
		return last, nil
	case s.err != nil:
		return Leader{}, s.err
	}
	return Leader{}, fmt.Errorf("election %q: %w", e.Name, ErrNoLeader)
}

// Observe yields the present leader, and then each change, in the order of terms, until the
// context ends. It yields errors, and goes on unless they are final.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		var o observer
		for {
			s, err := e.survey(ctx, o.since(), newsTime)
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
			if err != nil && (!yield(Leader{}, err) || final(err)) {
				return
			}
			if !o.more {
				e.wait(ctx, s, o.due)
			}
		}
	}
}

// final reports whether asking again does not help.
func final(err error) bool {
	return errors.Is(err, node.ErrEnded) || errors.Is(err, client.ErrClosed) || errors.Is(err, lock.ErrDenied)
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
func (e *Election) survey(ctx context.Context, since string, within time.Duration) (*surveyed, error) {
	members, err := e.Members(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	q := node.LeaderQuery{Name: e.Name, Since: since}
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
			errs = append(errs, fmt.Errorf("%s: %w: %w", a.member.Name, ErrUnanswered, a.err))
			continue
		}
		s.states[a.member.Address] = a.State
		s.lease = max(s.lease, time.Duration(a.Lease*float64(time.Second)))
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
		err = e.Ask(ctx, address, node.AskLeader, about, &r)
	}
	return r, err
}

func leaderOf(node string, l *node.LeaderInfo) Leader {
	x := Leader{Who: l.Who, Node: node, Value: l.Value}
	_, _ = fmt.Sscanf(l.Token, "%d.%d", &x.Term.Epoch, &x.Term.Count) // a node writes only tokens
	return x
}

// wait waits until a node has news, or until it is time to ask all again: at the latest when
// something is due.
func (e *Election) wait(ctx context.Context, s *surveyed, due time.Time) {
	again := pollTime + answerTime
	if s == nil || s.err != nil {
		again = silenceTime // a node that did not answer may do so then
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
				_, _ = e.ask(ctx, address, node.LeaderQuery{Name: e.Name, Known: state, Wait: pollTime.Seconds()}) // all are asked again
			})
		}
	}
	<-ctx.Done()
}

// An observer decides what Observe yields.
type observer struct {
	begun bool
	last  Leader       // yielded last; zero if there was none
	term  member.Token // of the last leader, which may have ended before the observer began
	top   member.Token // highest term that was reported, whether yielded or not
	more  bool         // something was reported that is not yielded yet: ask again at once
	due   time.Time    // when the lease of the last leader has expired, which no node reports; zero if one does
}

// since returns the term after which leaders are new. The last one is, too: its end is news.
func (o *observer) since() string {
	t := o.term
	t.Count = max(t.Count, 1) - 1
	return t.String()
}

// take returns what is new. When a term is reported for the first time, another node may have
// answered just before it could report an earlier one. So a leader is yielded when all nodes have
// been asked again: those that came before it have been reported then. If the last leader is not reported to have ended, as after a
// crash, it leads until its lease has expired.
func (o *observer) take(s *surveyed, now time.Time) (news []Leader) {
	all := slices.Concat(s.now, s.past) // of the same term, the one that leads comes first
	slices.SortStableFunc(all, func(a, b Leader) int { return compare(a.Term, b.Term) })
	all = slices.CompactFunc(all, func(a, b Leader) bool { return a.Term == b.Term })
	complete := o.top
	if len(all) > 0 && o.top.Less(all[len(all)-1].Term) {
		o.top = all[len(all)-1].Term
	}
	o.more = complete != o.top
	all = slices.DeleteFunc(all, func(l Leader) bool { return complete.Less(l.Term) })
	leads := func(l Leader) bool { return slices.Contains(s.now, l) }
	ended := o.last.Term == member.Token{}
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
	case o.more: // whether there is a leader is not known before that
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

func compare(a, b member.Token) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}
