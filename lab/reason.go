package lab

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// A room is one critical section: it knows how the states of its own group are
// to be read.
type room struct {
	*recorder
	section string    // empty if there is only one
	members []core.ID // nil means everybody
}

func (o *room) size() int {
	if o.members == nil {
		return len(o.lanes)
	}
	return len(o.members)
}

// proc returns who has a seat, or None.
func (o *room) proc(seat core.ID) core.ID {
	switch {
	case seat < 0 || int(seat) >= o.size():
		return core.None
	case o.members == nil:
		return seat
	}
	return o.members[seat]
}

// number returns how states write a process.
func (o *room) number(p core.ID) string {
	if o.members == nil {
		return itoa(int(p) + 1)
	}
	return itoa(slices.Index(o.members, p) + 1)
}

// field returns the value of a field, or nothing.
func (o *room) field(p core.ID, name string) string {
	if name != "" && o.section != "" {
		name = o.section + " " + name
	}
	return o.lanes[p].field(name)
}

// seat reads a process, and seats a list of them.
func (o *room) seat(s string) (core.ID, bool) {
	x, ok := seat(s, o.size())
	return o.proc(x), ok
}

func (o *room) seats(s string) []core.ID {
	all := seats(s, o.size())
	for i := range all {
		all[i] = o.proc(all[i])
	}
	return all
}

// phase returns what a process does here.
func (o *room) phase(p core.ID) phase {
	if x := o.lanes[p].at(o.section); x != nil {
		return *x
	}
	return phase{}
}

// is returns the status of a process here.
func (o *room) is(p core.ID) string {
	if l := &o.lanes[p]; l.status == Crashed || l.status == Paused {
		return l.status
	}
	return o.phase(p).is
}

// who names a process, with what it is doing if that matters.
func (o *room) who(p core.ID) string {
	if o.clerk.short || int(p) >= len(o.lanes) || p < 0 {
		return p.String()
	}
	switch o.is(p) {
	case Inside:
		return p.String() + ", which is inside"
	case Crashed:
		return p.String() + ", which has crashed"
	case Paused:
		return p.String() + ", which stands still"
	}
	return p.String()
}

// aside is who within a sentence that goes on.
func (o *room) aside(p core.ID) string {
	s := o.who(p)
	if strings.Contains(s, ", which") {
		s += ","
	}
	return s
}

// manyNames is how many processes a sentence names.
const manyNames = 4

// names lists processes; with what they do if they are few.
func (o *room) names(p core.ID, who []core.ID) string {
	var s strings.Builder
	for i, q := range who {
		many := i == manyNames && len(who) > manyNames+1
		switch {
		case i == 0:
		case i == len(who)-1 || many:
			s.WriteString(" and ")
		case strings.HasSuffix(s.String(), ","):
			s.WriteString(" ")
		default:
			s.WriteString(", ")
		}
		switch {
		case many:
			return s.String() + itoa(len(who)-manyNames) + " others"
		case q == p:
			s.WriteString("itself")
		case len(who) > manyNames:
			s.WriteString(q.String())
		case o.spec.Shape.Vote != "" && o.is(q) == Inside: // the votes say it
			s.WriteString(q.String())
		case i == len(who)-1:
			s.WriteString(o.who(q))
		default:
			s.WriteString(o.aside(q))
		}
	}
	return s.String()
}

// between returns a message under way in this section, of a kind if one is named.
func (o *room) between(from, to core.ID, name string) (letter, bool) {
	return o.wire.between(from, to, o.section, name)
}

// why says why a process waits.
func (o *room) why(p core.ID) string {
	shape := &o.spec.Shape
	switch {
	case shape.Pointer != "" && shape.Asked != "":
		return o.whyPointer(p)
	case shape.Carrier != "":
		return o.whyToken(p)
	case shape.Picture == core.Star:
		return o.whyHub(p)
	}
	if who := o.awaited(p); len(who) > 0 {
		return o.whyAwaited(p, who)
	}
	return o.whyElse(p)
}

// whyPointer follows the arrows to the token.
func (o *room) whyPointer(p core.ID) string {
	asked := o.spec.Shape.Asked
	s := "waits for the token"
	q, ok := o.pointed(p)
	switch {
	case !ok || q == p:
		return s
	case o.field(p, asked) != "yes":
		return s + ": it has not asked " + q.String() + " yet"
	}
	s += ": it asked " + o.who(q)
	if o.clerk.short {
		return s
	}
	for seen := []core.ID{p, q}; ; seen = append(seen, q) {
		next, ok := o.pointed(q)
		switch {
		case !ok:
			return s
		case next == q && o.is(q) != Inside:
			return s + "; " + q.String() + " has it"
		case next == q:
			return s
		case o.carried(next, q) || o.carried(q, next):
			return s + "; the token is on its way between " + q.String() + " and " + next.String()
		case o.field(q, asked) != "yes":
			return s + "; " + q.String() + " has not asked " + next.String() + " yet"
		}
		s += "; " + q.String() + " asked " + o.who(next)
		if q = next; slices.Contains(seen, q) {
			return s + "; and so on round in a circle"
		}
	}
}

// pointed returns where the arrow of a process leads.
func (o *room) pointed(p core.ID) (core.ID, bool) {
	return o.seat(o.field(p, o.spec.Shape.Pointer))
}

// carried reports whether the token is on its way from one to another.
func (o *room) carried(from, to core.ID) bool {
	_, ok := o.between(from, to, o.spec.Shape.Carrier)
	return ok
}

// whyToken says where the token is.
func (o *room) whyToken(p core.ID) string {
	s := "waits for the token"
	if o.clerk.short {
		return s
	}
	for _, t := range o.wire.tokens {
		if t.section == o.section {
			return s + ", which is on its way from " + t.from.String() + " to " + o.who(t.to)
		}
	}
	shape := &o.spec.Shape
	for i := range o.size() {
		q := o.proc(core.ID(i))
		if shape.Next != "" && o.field(q, shape.Next) == o.number(p) {
			return s + ": " + o.aside(q) + " passes it on to it"
		}
	}
	for i := range o.size() {
		q := o.proc(core.ID(i))
		if o.field(q, shape.Token) == "yes" {
			return s + o.whoHas(p, q)
		}
	}
	return s + ", which nobody has"
}

// whoHas says what who has the token is doing, and what it knows of who waits.
func (o *room) whoHas(p, q core.ID) string {
	s := ", which " + q.String() + " has"
	switch o.is(q) {
	case Inside:
		s += ": it is inside"
	case Crashed:
		s += ": it has crashed"
	case Paused:
		s += ": it stands still"
	}
	if at := o.queued(p, q); at > 0 {
		return s + "; " + p.String() + " is number " + itoa(at) + " in its queue"
	}
	if m, ok := o.sent(p, q); ok {
		return s + "; its " + m.name + " is on its way there"
	}
	return s
}

// queued returns which place a process has in the queue of another, from 1; 0
// if none.
func (o *room) queued(p, at core.ID) int {
	return slices.Index(strings.Fields(o.field(at, o.spec.Shape.Queue)), o.number(p)) + 1
}

// sent returns the message by which a process asked another, if it is on its way.
func (o *room) sent(p, to core.ID) (letter, bool) {
	by := o.phase(p).by
	if by == "" {
		return letter{}, false
	}
	return o.between(p, to, by)
}

// whyHub says what the one in the middle is doing.
func (o *room) whyHub(p core.ID) string {
	shape := &o.spec.Shape
	hub := o.proc(0)
	if shape.Hub != nil {
		hub = o.proc(shape.Hub(o.size()))
	}
	if asked := o.phase(p).asked; len(asked) == 1 {
		hub = asked[0]
	}
	s := "waits for " + shape.Answer + " from "
	if hub == core.None || o.clerk.short {
		return s + hub.String()
	}
	if is := o.is(hub); is == Crashed || is == Paused {
		return s + o.who(hub)
	}
	if m, ok := o.sent(p, hub); ok {
		return s + hub.String() + "; its " + m.name + " is on its way"
	}
	if m, ok := o.between(hub, p, ""); ok {
		return s + hub.String() + "; " + m.name + " is on its way from there"
	}
	q, ok := o.seat(o.field(hub, shape.Vote))
	switch first := ok && q != p; {
	case first && hub == p:
		s = "waits, for it has let " + o.aside(q) + " go first"
	case hub == p:
		s += "itself"
	case first && q == hub:
		s += hub.String() + ", which has gone first itself"
	case first:
		s += hub.String() + ", which has let " + o.aside(q) + " go first"
	default:
		s += hub.String()
	}
	if at := o.queued(p, hub); at > 0 {
		s += "; " + p.String() + " is number " + itoa(at) + " in its queue"
	}
	return s
}

// awaited returns whose answers a process still needs.
func (o *room) awaited(p core.ID) []core.ID {
	shape := &o.spec.Shape
	for _, name := range shape.Awaited {
		if who := o.seats(o.field(p, name)); len(who) > 0 {
			return who
		}
	}
	if shape.Got == "" {
		return nil
	}
	got := o.seats(o.field(p, shape.Got))
	ask := slices.Clone(o.phase(p).asked)
	if shape.Sets != nil {
		sets, me := shape.Sets(o.size()), slices.Index(o.members, p)
		if o.members == nil {
			me = int(p)
		}
		if me >= 0 && me < len(sets) {
			ask = nil
			for q := range sets[me].All() {
				ask = append(ask, o.proc(q))
			}
		}
	}
	if shape.Enough != nil && !slices.Contains(ask, p) {
		ask = append(ask, p) // its own counts, too
	}
	return slices.DeleteFunc(ask, func(q core.ID) bool { return slices.Contains(got, q) })
}

// whyAwaited says whose answers are missing, and what these are doing.
func (o *room) whyAwaited(p core.ID, who []core.ID) string {
	shape := &o.spec.Shape
	s := "waits for " + shape.Answer + " from "
	switch more := o.more(p); {
	case more == 1 && len(who) > 1:
		s += "one of "
	case more > 0 && more < len(who):
		s += itoa(more) + " of "
	}
	s += o.names(p, who)
	if o.clerk.short {
		return s
	}
	if len(who) == 1 {
		if m, ok := o.sent(p, who[0]); ok {
			return s + "; its " + m.name + " is on its way there"
		}
		if _, ok := o.between(who[0], p, shape.Answer); ok {
			return s + "; it is on its way"
		}
	}
	s += o.votes(p, who)
	if in := o.insider(); len(who) > manyNames && in != core.None {
		s += "; " + in.String() + " is inside"
	}
	return s
}

// more returns how many answers are enough for a process; 0 if it needs all.
func (o *room) more(p core.ID) int {
	shape := &o.spec.Shape
	if shape.Enough == nil {
		return 0
	}
	return shape.Enough(o.size()) - len(seats(o.field(p, shape.Got), o.size()))
}

// mostVotes is how many candidates a sentence names.
const mostVotes = 3

// votes says for whom else those have voted whose votes are missing.
func (o *room) votes(p core.ID, who []core.ID) string {
	var whom []core.ID
	by := map[core.ID][]string{}
	for _, q := range who {
		x, ok := voted(o.field(q, o.spec.Shape.Vote), o.size())
		v := o.proc(x)
		if !ok || v == p {
			continue
		}
		if by[v] == nil {
			whom = append(whom, v)
		}
		by[v] = append(by[v], q.String())
	}
	s := ""
	for _, v := range whom[:min(mostVotes, len(whom))] {
		voters, has, for_ := by[v], "have", o.who(v)
		if len(voters) == 1 {
			if has = "has"; voters[0] == v.String() {
				for_ = "itself"
				if o.is(v) == Inside {
					for_ += ", and is inside"
				}
			}
		}
		s += "; " + list(voters) + " " + has + " voted for " + for_
	}
	return s
}

// insider returns somebody who is inside, or None.
func (o *room) insider() core.ID {
	for i := range o.size() {
		if p := o.proc(core.ID(i)); o.is(p) == Inside {
			return p
		}
	}
	return core.None
}

// whyElse says what can be said of any algorithm.
func (o *room) whyElse(p core.ID) string {
	asked := o.phase(p).askedAt
	s := "waits, since " + scenario.FormatTime(asked)
	if o.sc.Steps {
		s = "waits, since step " + strconv.FormatInt(asked, 10)
	}
	if o.clerk.short {
		return s
	}
	if in := o.insider(); in != core.None {
		return s + ": " + in.String() + " is inside"
	}
	switch len(o.wire.letters) {
	case 0:
		return s + ": nobody is inside, and nothing is under way"
	case 1:
		return s + ": nobody is inside, and a message is under way"
	}
	return s + ": nobody is inside, and " + itoa(len(o.wire.letters)) + " messages are under way"
}
