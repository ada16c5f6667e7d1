package meter

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// Bounds of prefixes.
const (
	MaxPrefixes = 100 // number of prefixes that are counted separately
	MaxPrefix   = 64  // bytes of such a prefix
	Other       = "other"
)

// A Series is what is counted of the locks with one prefix and one algorithm.
type Series struct {
	Algorithm string
	Prefix    string // up to the first slash, with it; or Other
	Acquired  uint64
	Local     uint64    // acquisitions by requests that waited until the lock was released at this node
	Remote    uint64    // the same at another node
	Wait      Histogram // from a request to its acquisition
	Hold      Histogram // from an acquisition to its end
}

// A label identifies a Series.
type label struct{ algorithm, prefix string }

// A request is a request of an application or a client here, until it has ended.
type request struct {
	ticket member.Ticket  // 0 if it has ended
	at     member.Instant // when it was made, or when the lock was acquired
	step   uint64         // in which it was made
	name   string
	slot   *slot // where it may be counted
	of     *Series
	owner  *session.Owner // nil: the node's own process
	token  member.Token   // of held
	held   bool
	claim  bool // the lock was acquired at another node
	single bool // it is not part of a transaction

	entries uint64 // of held: how often its client has entered by itself, as far as it has said
}

// A Totals is what is counted of everything together.
type Totals struct {
	Sent, Received   [process.Messages]uint64 // messages between nodes
	ToClients        [session.Kinds]uint64    // frames
	FromClients      [session.Kinds]uint64
	Views            [Causes]uint64 // installed views
	Evicted          uint64         // how often the cluster has evicted this node
	Claimed          uint64         // locks that clients have moved here from other nodes
	Lost             [Losses]uint64
	Busy, Recovering uint64      // refused tries
	Lapses           uint64      // how often the lease expired before it was renewed
	Margin, margin   member.Span // least time left of the lease at a renewal, in this and in the previous period
	period           member.Instant
}

// Losses is the number of causes of losses.
const Losses = int(member.Changed) + 1

// LossNames returns the names of the causes of losses, as in the metrics.
func LossNames() [Losses]string {
	return [...]string{
		member.NoCause: "unknown", member.Lease: "lease", member.Session: "session", member.Closed: "closed",
		member.Leaving: "leaving", member.Evicted: "evicted", member.Released: "forced", member.Changed: "changed",
	}
}

// A Cause is why a view began.
type Cause uint8

// The causes. A view with several counts as the first of them.
const (
	Evict   Cause = iota // a member was evicted
	Leave                // a member left or stopped
	Join                 // a member joined
	Vote                 // a member votes that did not, or no longer votes
	Refresh              // none: the members are the same
	Causes
)

// String names a cause.
func (c Cause) String() string { return [...]string{"evict", "leave", "join", "vote", "refresh"}[c] }

// A Meter measures a process. Its methods must be called one at a time.
type Meter struct {
	Totals
	Victims []Victim // transactions that must abort since the last step

	view     member.View // only its choices
	members  []views.Member
	all      []*Series
	index    map[label]*Series
	prefixes int
	hot      [slots]slot
	marked   member.Instant // when the present period of Hottest began
	requests []request      // by the lower half of their tickets
	steps    uint64
}

// New returns a meter that has measured nothing.
func New() *Meter {
	m := &Meter{index: map[label]*Series{}}
	m.Margin, m.margin = member.MaxSpan, member.MaxSpan
	return m
}

// Series returns what is counted by algorithm and prefix, in the order in which these were
// first used.
func (m *Meter) Series(yield func(*Series) bool) {
	for _, s := range m.all {
		if !yield(s) {
			return
		}
	}
}

// Took measures a step.
func (m *Meter) Took(in *process.Input, out *process.Output) {
	m.steps++
	if len(m.Victims) > 0 {
		clear(m.Victims)
		m.Victims = m.Victims[:0]
	}
	switch in.Kind {
	case process.Lock:
		if out.Err == nil {
			m.asked(in.At, out.Ticket, in.Text, nil, in.Terms.Tx)
		}
	case process.Unlock:
		if out.Err == nil {
			m.left(in.At, member.Ticket(in.Number))
		}
	case process.Message:
		if len(in.Bytes) > 0 && in.Bytes[0] < process.Messages {
			m.Received[in.Bytes[0]]++
		}
	case process.Frame:
		if len(in.Bytes) > 0 && int(in.Bytes[0]) < len(m.FromClients) {
			m.FromClients[in.Bytes[0]]++
		}
	}
	for i := range out.Effects {
		m.effect(in, &out.Effects[i])
	}
	if in.Kind == process.Cancel {
		if r := m.find(member.Ticket(in.Number)); r != nil && !r.held {
			r.end()
		}
	}
}

// effect measures an effect.
func (m *Meter) effect(in *process.Input, e *process.Effect) {
	switch e.Kind {
	case process.Notify, process.ClientEvent:
		m.event(in, &e.Event)
	case process.Asked:
		m.asked(in.At, e.Event.Ticket, e.To, e.Client, e.Terms.Tx)
	case process.Claimed:
		m.asked(in.At, e.Event.Ticket, e.To, e.Client, e.Terms.Tx)
		m.find(e.Event.Ticket).claim = true
	case process.Cancelled:
		if r := m.find(e.Event.Ticket); r != nil {
			r.end()
		}
	case process.Kept:
		m.reached(e.Event.Ticket, e.Event.Token.Count)
	case process.Unlocked:
		m.reached(e.Event.Ticket, e.Number)
		m.left(in.At, e.Event.Ticket)
	case process.Send:
		m.Sent[e.Bytes[0]]++
	case process.Reply:
		if len(e.Bytes) > 0 {
			m.ToClients[e.Bytes[0]]++
		}
	case process.View:
		m.begun(e.Record)
	case process.Ended:
		if e.How == views.Evicted {
			m.Evicted++
		}
		m.members = nil
		clear(m.requests)
	}
}

// asked notes a request.
func (m *Meter) asked(now member.Instant, t member.Ticket, name string, owner *session.Owner, tx uint64) {
	i := int(uint32(t))
	for len(m.requests) <= i {
		m.requests = append(m.requests, request{})
	}
	r, s := &m.requests[i], &m.hot[hash(name)%slots]
	r.ticket, r.at, r.step, r.owner, r.held, r.claim, r.single, r.entries = t, now, m.steps, owner, false, false, tx == 0, 0
	if r.name, r.slot, r.of = name, s, s.of; s.name != name || s.of == nil {
		r.of = m.series(name)
	}
}

// find returns a request that has not ended, or nil.
func (m *Meter) find(t member.Ticket) *request {
	if i := int(uint32(t)); i < len(m.requests) && m.requests[i].ticket == t && t != 0 {
		return &m.requests[i]
	}
	return nil
}

func (r *request) end() { r.ticket = 0 }

// reached counts the entries that a client has made by itself, up to this count, which is 0 if
// it has not named one. They waited for nothing, and were equally long, for all that is known.
func (m *Meter) reached(t member.Ticket, count uint64) {
	if r := m.find(t); r != nil && count > r.token.Count {
		n := count - r.token.Count
		r.of.Acquired += n
		r.of.Wait.add(0, n)
		r.token.Count, r.entries = count, r.entries+n
	}
}

// left notes that a lock is released.
func (m *Meter) left(now member.Instant, t member.Ticket) {
	if r := m.find(t); r != nil {
		r.left(now, false, member.NoCause)
	}
}

// left notes that a request has ended.
func (r *request) left(now member.Instant, lost bool, why member.Cause) {
	if r.held {
		r.of.Hold.add(member.Span(now-r.at)/member.Span(1+r.entries), 1+r.entries)
		*r.slot.add() = Past{r.name, r.owner, r.token, r.at, now, why, lost, r.claim}
	}
	r.end()
}

// event measures what happened to a request.
func (m *Meter) event(in *process.Input, e *member.Event) {
	r := m.find(e.Ticket)
	if r == nil {
		return
	}
	switch e.Kind {
	case member.Held:
		m.held(in, r)
		r.token = e.Token
		return
	case member.Doomed: // it still holds the lock
		m.doomed(r, e)
		return
	case member.Wanted:
		return
	case member.Lost:
		if int(e.Cause) < len(m.Lost) { // otherwise the client holds it elsewhere
			m.Lost[e.Cause]++
		}
	case member.Busy:
		m.Busy++
	case member.Recovering:
		m.Recovering++
	}
	if e.Victim != nil {
		m.doomed(r, e)
	}
	r.left(in.At, e.Kind == member.Lost, e.Cause)
}

// held notes that a lock is acquired.
func (m *Meter) held(in *process.Input, r *request) {
	waited := member.Span(in.At - r.at)
	r.held, r.at = true, in.At
	if r.claim {
		m.Claimed++
		return
	}
	s := r.of
	s.Acquired++
	s.Wait.Add(waited)
	switch {
	case r.step == m.steps:
	case in.Kind == process.Message:
		s.Remote++
	default:
		s.Local++
	}
	r.slot.acquired(r.name, s)
}

// Of returns the series that a lock belongs to.
func (m *Meter) Of(name string) *Series {
	if s := &m.hot[hash(name)%slots]; s.name == name && s.of != nil {
		return s.of
	}
	return m.series(name)
}

func (m *Meter) series(name string) *Series {
	l := label{prefix: Other}
	if len(m.view.Choices) > 0 {
		l.algorithm = m.view.Choices[m.view.Choose(name)].Algorithm
	}
	if i := strings.IndexByte(name, '/'); i >= 0 && i < MaxPrefix {
		l.prefix = name[:i+1]
	}
	if s := m.index[l]; s != nil {
		return s
	}
	if l.prefix != Other {
		if m.prefixes == MaxPrefixes {
			l.prefix = Other
			if s := m.index[l]; s != nil {
				return s
			}
		} else {
			m.prefixes++
			l.prefix = strings.Clone(l.prefix)
		}
	}
	s := &Series{Algorithm: l.algorithm, Prefix: l.prefix}
	m.index[l] = s
	m.all = append(m.all, s)
	return s
}

// begun notes that a view has begun.
func (m *Meter) begun(r *views.Record) {
	d := r.Since(m.members)
	m.Views[CauseOf(&d)]++
	m.members = slices.Clone(r.Members)
	if !slices.Equal(m.view.Choices, r.Choices) {
		m.view.Choices = slices.Clone(r.Choices)
		for i := range m.hot {
			m.hot[i].of = nil
		}
	}
}

// CauseOf returns why a view began.
func CauseOf(d *views.Difference) Cause {
	switch {
	case len(d.Evicted) > 0:
		return Evict
	case len(d.Left) > 0:
		return Leave
	case len(d.Joined) > 0:
		return Join
	case len(d.Promoted)+len(d.Retired) > 0:
		return Vote
	}
	return Refresh
}

// period is how long a margin counts at least, and half of how long it counts at most.
const period = 60 * member.Second

// Leased notes that the end of the lease has moved: from what it was, 0 if there was none,
// to what it is now, 0 if it has expired.
func (m *Meter) Leased(now, was, is member.Instant) {
	if was > 0 && is == 0 {
		m.Lapses++
	}
	if was == 0 || is == 0 {
		return
	}
	if now >= m.period+2*member.Instant(period) {
		m.Margin = member.MaxSpan
	}
	if now >= m.period+member.Instant(period) {
		m.period, m.margin, m.Margin = now, m.Margin, member.MaxSpan
	}
	m.Margin = min(m.Margin, member.Span(max(0, was-now)))
}

// Least returns the least time that was left of the lease when it was renewed, in the last
// one to two minutes, and whether it was.
func (m *Meter) Least() (member.Span, bool) {
	least := min(m.Margin, m.margin)
	return least, least < member.MaxSpan
}
