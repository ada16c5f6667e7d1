package member

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// Trails: a host can follow a few locks for a while. Of these the member shows everything
// that happens to them here, as marks: each step of the algorithm with its messages and the
// state that it leads to, and what the algorithm does not see. Members' marks together tell
// how a lock was passed on. Of a lock that is not followed nothing is kept.

// MaxTrails is how many locks a member follows at a time.
const MaxTrails = 8

// Errors of Trail.
var (
	ErrTrails = fmt.Errorf("%d locks are followed here already: try again in a few seconds", MaxTrails)
	ErrKept   = errors.New("this is a kept lock: its home grants it, so that no algorithm runs between the members")
)

// A MarkKind is what happened to a followed lock.
type MarkKind uint8

// The kinds of marks.
const (
	MarkBegan    MarkKind = iota // the member begins to follow it, or a view begins: all state so far
	MarkStep                     // its machine takes a step
	MarkQueued                   // a request begins to wait here
	MarkLeft                     // a request no longer waits here: it was withdrawn, refused, or is late
	MarkGranted                  // a request here acquires it: How, Token
	MarkReleased                 // its holder here releases or loses it: Token
	MarkCleared                  // its home releases it: from now on only the algorithm decides
	MarkFrame                    // a frame about it that its algorithm does not see is sent or arrives: How, Peer, Sent
	markKinds
)

func markNames() [markKinds]string {
	return [...]string{"began", "step", "queued", "left", "granted", "released", "cleared", "frame"}
}

// String returns the name of a kind.
func (k MarkKind) String() string {
	if k >= markKinds {
		return fmt.Sprintf("mark %d", uint8(k))
	}
	return markNames()[k]
}

// MarshalText implements encoding.TextMarshaler.
func (k MarkKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *MarkKind) UnmarshalText(b []byte) error {
	names := markNames()
	i := slices.Index(names[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown kind of mark %q: use the same version of stile on both sides", b)
	}
	*k = MarkKind(i)
	return nil
}

// How a request acquires a lock.
const (
	ByAlgorithm = "algorithm" // the algorithm has granted entry to this member
	ByHandover  = "handover"  // it had, and the previous holder was here too
	ByHome      = "home"      // the member is the lock's home, and has not released it in this view
	ByLoan      = "loan"      // the home has lent the lock to this member
)

// A Mark is one thing that happened to a followed lock. Seats are those of the algorithm:
// the home has the first one. The fields in use depend on the kind. It never changes.
type Mark struct {
	Kind MarkKind `json:"kind"`
	Name string   `json:"-"`
	At   Instant  `json:"at"`

	// MarkBegan.
	View *TrailView `json:"view,omitempty"`

	// MarkStep. Of a message that was refused as malformed there is no mark.
	Input   host.InputKind `json:"input,omitempty"` // Request, Release or Receive
	From    algorithm.ID   `json:"from,omitempty"`  // Receive: seat of the sender
	Message []byte         `json:"message,omitempty"`
	Came    uint64         `json:"came,omitempty"` // Receive: number of its frame on the link, from 1
	Sends   []MarkSend     `json:"sends,omitempty"`
	Entered bool           `json:"entered,omitempty"`
	State   []byte         `json:"state,omitempty"` // afterwards; MarkBegan: now

	// What the algorithm does not see.
	Ticket Ticket       `json:"ticket,omitempty"` // MarkQueued, MarkLeft, MarkGranted
	Client uint64       `json:"client,omitempty"` // the session; 0 is the member's own process
	Token  *Token       `json:"token,omitempty"`
	How    string       `json:"how,omitempty"`  // MarkGranted; MarkFrame: the kind of frame
	Sent   bool         `json:"sent,omitempty"` // MarkFrame: this member has sent it
	Peer   algorithm.ID `json:"peer,omitempty"` // MarkFrame: seat of the other member
}

// A MarkSend is a message that a step sends.
type MarkSend struct {
	To    algorithm.ID `json:"to"`
	Bytes []byte       `json:"bytes"`
	Went  uint64       `json:"went"` // number of its frame on the link, from 1; 0 if the member was evicted and sends nothing
}

// A TrailView is where a trail begins: the view, and how many frames the member has
// exchanged with each other member in it so far.
type TrailView struct {
	Epoch     uint64       `json:"epoch"`
	Members   []Who        `json:"members"` // by seat
	Seat      algorithm.ID `json:"seat"`    // of this member
	Algorithm string       `json:"algorithm"`
	Version   int          `json:"version"`
	Sent      []uint64     `json:"sent"` // by seat
	Came      []uint64     `json:"came"`
}

// A trail is a lock that is followed.
type trail struct {
	name  string
	until Instant
}

// Trail follows a lock from now on, or follows it for longer. It stops by itself, with the
// first mark that would be made later than until.
func (m *Member) Trail(now Instant, name string, until Instant) error {
	m.begin(now)
	defer m.end()
	if err := CheckName(name); err != nil {
		return err
	}
	if m.gone || m.epoch == nil {
		return ErrGone
	}
	n := lockOf(m.epoch, name)
	if m.epoch.isKept(n) {
		return ErrKept
	}
	for i := range m.trails {
		if t := &m.trails[i]; t.name == name && m.now <= t.until {
			t.until = until
			return nil
		}
	}
	m.trails = slices.DeleteFunc(m.trails, func(t trail) bool { return m.stale(&t) })
	if len(m.trails) == MaxTrails {
		return ErrTrails
	}
	m.trails = append(m.trails, trail{name, until})
	m.beginTrail(n)
	return nil
}

// stale reports whether a lock need no longer be followed, and sees to it that it is not.
func (m *Member) stale(t *trail) bool {
	if m.now <= t.until {
		return false
	}
	if n := find(&m.epoch.table, t.name, hashName(t.name)); n >= 0 {
		m.epoch.table.lock(n).flags &^= followed
	}
	return true
}

// beginTrail makes the first mark of a lock in this view.
func (m *Member) beginTrail(n int32) {
	e := m.epoch
	l := e.table.lock(n)
	l.flags |= followed
	e.keep(n)
	c := e.view.Choices[l.alg]
	v := &TrailView{Epoch: e.view.Epoch, Seat: e.seat(l), Algorithm: c.Algorithm, Version: c.Version}
	for seat := range e.view.Members {
		rank := e.view.rankOf(algorithm.ID(seat), int(l.home))
		v.Members = append(v.Members, e.view.Members[rank])
		v.Sent, v.Came = append(v.Sent, e.sent[rank]), append(v.Came, e.came[rank])
	}
	m.mark(n, Mark{Kind: MarkBegan, View: v, State: bytes.Clone(e.table.state(n))})
}

// beginTrails begins the trails of a new view, of the locks that have an algorithm in it.
func (m *Member) beginTrails() {
	m.trails = slices.DeleteFunc(m.trails, func(t trail) bool {
		if m.stale(&t) {
			return true
		}
		n := lockOf(m.epoch, t.name)
		if m.epoch.isKept(n) {
			return true
		}
		m.beginTrail(n)
		return false
	})
}

// mark makes a mark of a lock that is followed, unless that is over.
func (m *Member) mark(n int32, k Mark) {
	k.Name, k.At = string(m.epoch.table.name(n)), m.now
	m.trails = slices.DeleteFunc(m.trails, func(t trail) bool { return m.stale(&t) })
	if m.epoch.table.lock(n).is(followed) {
		m.Out.Marks = append(m.Out.Marks, &k)
	}
}

// stepped marks a step of a lock's machine, before its messages are sent.
func (m *Member) stepped(n int32, in *host.Input, state []byte) {
	e := m.epoch
	l := e.table.lock(n)
	k := Mark{Kind: MarkStep, Input: in.Kind, From: in.From, Message: bytes.Clone(in.Bytes), Entered: m.out.Entered, State: state}
	if in.Kind == host.Receive {
		k.Came = e.came[e.view.rankOf(in.From, int(l.home))]
	}
	for i, s := range m.out.Sends {
		went := uint64(0)
		if !m.ghost {
			went = e.sent[e.view.rankOf(s.To, int(l.home))] + 1
			for _, before := range k.Sends {
				if before.To == s.To {
					went++
				}
			}
		}
		k.Sends = append(k.Sends, MarkSend{s.To, bytes.Clone(m.out.Bytes(i)), went})
	}
	m.mark(n, k)
}

// framed marks a frame, if it is about a lock that is followed.
func (m *Member) framed(rank int, f *frame, sent bool) {
	if f.kind == algFrame || !f.kind.named() {
		return
	}
	if n := find(&m.epoch.table, f.name, hashName(f.name)); n >= 0 && m.epoch.table.lock(n).is(followed) {
		m.mark(n, Mark{Kind: MarkFrame, How: f.kind.String(), Peer: m.epoch.view.seat(rank, int(m.epoch.table.lock(n).home)), Sent: sent})
	}
}

// used marks what happens to a request for a lock here.
func (m *Member) used(n int32, kind MarkKind, w *waiter, token Token, how string) {
	if !m.epoch.table.lock(n).is(followed) {
		return
	}
	k := Mark{Kind: kind, How: how}
	if w != nil {
		k.Ticket, k.Client = w.ticket, w.client.id
	}
	if !token.IsNone() {
		k.Token = &Token{token.Epoch, token.Count}
	}
	m.mark(n, k)
}

// how says how the first waiter acquires a lock.
func (u *use) how(home bool) string {
	switch {
	case home:
		return ByHome
	case u.lent:
		return ByLoan
	case u.handed > 1:
		return ByHandover
	}
	return ByAlgorithm
}
