package stile

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/survey"
)

// ErrNoLeader means that the election has no leader at present.
var ErrNoLeader = survey.ErrNoLeader

// An Election elects one leader at a time among the processes that campaign. It is the lock
// of that name: the process that holds the lock, and has attached a value to it, leads. So
// Campaign and Lock exclude each other, and 'stile locks' lists leaders as holders.
type Election struct {
	in     locker
	survey survey.Election
}

// An electorate is what all elections of a Node or a Client have in common.
type electorate struct {
	locker
	cluster
}

// Election returns the election with this name. It contacts no node.
func (e electorate) Election(name string) *Election {
	return &Election{e.locker, survey.Election{Name: name, Members: e.members, Ask: e.cluster.ask}}
}

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
		return nil, fmt.Errorf("campaign for %q: %w", e.survey.Name, err)
	}
	l, err := e.in.Lock(ctx, e.survey.Name)
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
	l, err := e.survey.Leader(ctx)
	return leader(l), worded(err)
}

func leader(l survey.Leader) Leader { return Leader{l.Who, l.Node, l.Value, Token(l.Term)} }

// Observe yields the present leader, and then every change: each later leader, in the order
// of their terms; the same leader if its value or its node changes; and the zero Leader when
// there is none. Terms never go back.
//
// A leader whose node crashed may still act, and counts as the leader until its lease has
// expired or there is another one. Nodes remember leaders, so that even short terms are seen,
// apart from those that begin and end at a node that crashes before it is asked, or does not
// answer while later leaders are seen. If a node does not answer, Observe yields an error,
// and goes on. It ends when the context does, or after an error that is ErrClosed or
// ErrDenied.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		for l, err := range e.survey.Observe(ctx) {
			if !yield(leader(l), worded(err)) {
				return
			}
		}
	}
}
