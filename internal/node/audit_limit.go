package node

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/transport"
)

// What others can cause as often as they like must not fill the disk, and must not hide what
// anyone else does. So lines are limited for each caller, which is an identity at an address,
// and for each identity at all addresses. Callers without an identity are told apart by their
// addresses only, so these have one limit together: what they do in another of the topics, and
// what identities do, is logged nevertheless.

// A topic is what audit lines are about. Each one has limits of its own.
type topic uint8

// The topics.
const (
	requests topic = iota // that were denied
	orders                // of administrators, that were denied
	claims                // that were refused
	logins
	visits     // of identities that use HTTP, whose requests are not connections of their own
	handshakes // that have failed
)

// The limits, in transport.RefrainPeriod.
const (
	maxCallers   = 1024 // that are told apart in a topic; others replace those that have been silent for longest
	ownerLines   = 100  // of an identity
	unknownLines = 500  // of callers without an identity
)

// A group of callers shares a table, so that administrators, identities and others do not
// replace each other.
type group struct {
	kind  cert.Kind
	topic topic
}

// limits are the limits of all callers.
type limits struct {
	mu     sync.Mutex
	tables map[group]*table
}

// A table has the limits of the callers of a group that were active last.
type table struct {
	callers map[string]*list.Element // of a *limited, by its key
	order   list.List                // the one that was active last comes first
	unknown transport.Refrain        // of all callers without an identity
	left    int                      // lines left out of callers that were replaced
}

// A limited is a caller, or an identity.
type limited struct {
	transport.Refrain
	key string
}

// take reports whether a line about a caller may be logged now, and if so, what it says of
// lines that were left out.
func (l *limits) take(who *Caller, about topic) (ok bool, note []any) {
	own, all, t := l.find(who, about)
	ok, left, last := own.Take()
	if !ok {
		return false, nil
	}
	ok, more, end := all.Take()
	if !ok {
		all.Leave(left)
		return false, nil
	}
	if left += more; left > 0 {
		note = append(note, "suppressed", left)
	}
	l.mu.Lock()
	others := t.left
	t.left = 0
	l.mu.Unlock()
	if others > 0 {
		note = append(note, "suppressed_of_others", others)
	}
	if last && own.Lines > 1 || end {
		note = append(note, "more", "suppressed for "+transport.RefrainPeriod.String())
	}
	return true, note
}

// find returns the limits of a caller: its own, and those of its identity.
func (l *limits) find(who *Caller, about topic) (own, all *transport.Refrain, t *table) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := group{who.Kind, about}
	if t = l.tables[g]; t == nil {
		t = &table{callers: map[string]*list.Element{}, unknown: transport.Refrain{Lines: unknownLines}}
		if l.tables == nil {
			l.tables = map[group]*table{}
		}
		l.tables[g] = t
	}
	all = &t.unknown
	if who.Kind != cert.Anyone {
		all = t.touch(who.Path(), ownerLines, 0)
	}
	lines, period := 0, time.Duration(0) // the usual ones
	switch about {
	case handshakes:
		lines = 1
	case visits:
		lines, period = 1, 10*time.Minute
	}
	return t.touch(who.Path()+" "+networkOf(who.From), lines, period), all, t
}

// touch returns a limit, which it makes if there is none.
func (t *table) touch(key string, lines int, period time.Duration) *transport.Refrain {
	if e := t.callers[key]; e != nil {
		t.order.MoveToFront(e)
		return &e.Value.(*limited).Refrain
	}
	if len(t.callers) >= maxCallers {
		old := t.order.Remove(t.order.Back()).(*limited)
		delete(t.callers, old.key)
		t.left += old.Left()
	}
	x := &limited{key: key}
	x.Lines, x.Period = lines, period
	t.callers[key] = t.order.PushFront(x)
	return &x.Refrain
}

// networkOf returns the part of an address that one caller has: an IPv4 address, or the first 64
// bits of an IPv6 address.
func networkOf(from string) string {
	a, err := netip.ParseAddrPort(from)
	if err != nil {
		return from // a path, or a name
	}
	ip := a.Addr().Unmap().WithZone("")
	if ip.Is6() {
		p, _ := ip.Prefix(64) // never fails
		return p.String()
	}
	return ip.String()
}
