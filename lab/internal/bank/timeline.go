package bank

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/trace"
)

// Kinds returns the kinds of messages to and from the account.
func Kinds() []string { return []string{"READ", "VALUE", "WRITE", "DONE"} }

// Refusal is an additional answer of an account with a fence.
const Refusal = "REFUSED"

// mostDrawn is the maximum number of events kept of a scene that is too long for a
// diagram as text: more than a picture can show.
const mostDrawn = 100_000

func (b *branch) observe(e trace.Event) {
	if len(b.events) < mostDrawn || Fits(b.Machines, b.Deposits) {
		b.events = append(b.events, e)
		return
	}
	b.seen = min(b.seen, b.events[mostDrawn-1].At)
}

// A moment is an event and its place among those of the same tick: an answer of the
// account comes before what it leads to, and a call after that.
type moment struct {
	trace.Event
	place int
}

// The places.
const (
	answer = iota
	lock
	calling
)

// timeline returns what happened among the machines and at the account, in order of time.
// The account is the process after the last machine.
func (b *branch) timeline() []trace.Event {
	if !b.Record {
		return nil
	}
	var all []moment
	last := 0
	for _, e := range b.events {
		all = append(all, moment{e, lock})
		last = max(last, e.Msg)
	}
	for _, c := range b.calls {
		for _, m := range b.tell(c, last+1) {
			if m.At <= min(b.over, b.seen) {
				all = append(all, m)
			}
		}
		last += 2
	}
	slices.SortStableFunc(all, func(x, y moment) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.place, y.place))
	})
	events := make([]trace.Event, len(all))
	for i, m := range all {
		events[i] = m.Event
		events[i].Step = i
	}
	return events
}

// tell returns the events of a call, whose messages are n and n+1.
func (b *branch) tell(c call, n int) []moment {
	account := algorithm.ID(b.Machines)
	sum := []host.Field{{Name: "balance", Value: strconv.FormatInt(c.sum, 10)}}
	var asked, told []host.Field
	kinds := Kinds()
	if c.write {
		kinds, asked = kinds[2:], sum
	} else {
		told = sum
	}
	event := func(at int64, k trace.Kind, p, peer algorithm.ID, n int, name string, f []host.Field) trace.Event {
		return trace.Event{At: at, Kind: k, Proc: p, Peer: peer, Msg: n, Name: name, Fields: f}
	}
	if c.refused {
		kinds[1] = Refusal
	}
	last := moment{event(c.back, trace.Receive, c.machine, account, n+1, kinds[1], told), answer}
	if c.orphan {
		last.Event = event(c.back, trace.Drop, account, c.machine, n+1, kinds[1], told)
	}
	return []moment{
		{event(c.sent, trace.Send, c.machine, account, n, kinds[0], asked), calling},
		{event(c.reached, trace.Receive, account, c.machine, n, kinds[0], asked), answer},
		{event(c.reached, trace.Send, account, c.machine, n+1, kinds[1], told), calling},
		last,
	}
}
