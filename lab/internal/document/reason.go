package document

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// A room is one critical section, as seen by the processes that take part in it.
type room struct {
	*recorder
	section string         // empty if there is only one
	members []algorithm.ID // by seat; nil means all processes
}

func (o *room) size() int {
	if o.members == nil {
		return len(o.lanes)
	}
	return len(o.members)
}

// proc returns the process in a seat, or None.
func (o *room) proc(seat algorithm.ID) algorithm.ID {
	switch {
	case seat < 0 || int(seat) >= o.size():
		return algorithm.None
	case o.members == nil:
		return seat
	}
	return o.members[seat]
}

// place returns the seat of a process; below 0 if it has none.
func (o *room) place(p algorithm.ID) int {
	if o.members == nil {
		return int(p)
	}
	return slices.Index(o.members, p)
}

// field returns the value of a field, or nothing.
func (o *room) field(p algorithm.ID, name string) string {
	if name != "" && o.section != "" {
		name = o.section + " " + name
	}
	return o.lanes[p].field(name)
}

// one parses a process, and many a list of them.
func (o *room) one(s string) (algorithm.ID, bool) { return one(s, len(o.lanes)) }

func (o *room) many(s string) []algorithm.ID { return many(s, len(o.lanes)) }

// phase returns what a process does here.
func (o *room) phase(p algorithm.ID) phase {
	if x := o.lanes[p].at(o.section); x != nil {
		return *x
	}
	return phase{}
}

// is returns the status of a process here.
func (o *room) is(p algorithm.ID) string {
	if l := &o.lanes[p]; l.status == Crashed || l.status == Paused {
		return l.status
	}
	return o.phase(p).is
}

// who names a process, and says what it is doing if that matters.
func (o *room) who(p algorithm.ID) string {
	if o.rewriter.short || int(p) >= len(o.lanes) || p < 0 {
		return p.String()
	}
	switch o.is(p) {
	case Inside:
		return p.String() + ", which is inside"
	case Crashed:
		return p.String() + ", which has crashed"
	case Paused:
		return p.String() + ", which is paused"
	}
	return p.String()
}

// aside is like who, for use within a sentence that continues.
func (o *room) aside(p algorithm.ID) string {
	s := o.who(p)
	if strings.Contains(s, ", which") {
		s += ","
	}
	return s
}

// manyNames is the maximum number of processes that a sentence names.
const manyNames = 4

// names lists processes; if they are few, with what they are doing.
func (o *room) names(p algorithm.ID, who []algorithm.ID) string {
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
		case o.tells(q, p) || len(who) > manyNames && o.is(q) != Crashed:
			s.WriteString(q.String())
		case o.spec.Shape.Vote != "" && o.is(q) == Inside: // the votes already say so
			s.WriteString(q.String())
		case i == len(who)-1:
			s.WriteString(o.who(q))
		default:
			s.WriteString(o.aside(q))
		}
	}
	return s.String()
}

// between returns a message in flight in this section, of the given kind if name is set.
func (o *room) between(from, to algorithm.ID, name string) (message, bool) {
	return o.wire.between(from, to, o.section, name)
}

// why says why a process waits.
func (o *room) why(p algorithm.ID) string {
	shape := &o.spec.Shape
	if all := o.many(o.field(p, shape.Members)); len(all) > 0 {
		o.members = all
	}
	switch {
	case o.field(p, shape.Fresh) == "yes":
		return "is new, and waits until the group admits it"
	case o.field(p, shape.Stopped) == "yes":
		return o.whyStopped(p)
	case shape.Pointer != "" && shape.Asked != "":
		return o.whyPointer(p)
	case shape.Carrier != "":
		return o.whyToken(p)
	case shape.Picture == algorithm.Flags && shape.Answer != "":
		return o.whyFlag(p)
	case shape.Picture == algorithm.Star:
		return o.whyHub(p)
	}
	if who := o.awaited(p); len(who) > 0 {
		return o.whyAwaited(p, who)
	}
	if q := o.first(p); q != algorithm.None {
		return o.whyOlder(p, q)
	}
	return o.whyElse(p)
}

// whyLost names the last lost message that a waiting process still feels: one to or from it
// since it asked, or the token. It is empty if there is none.
func (o *room) whyLost(p algorithm.ID) string {
	if o.rewriter.short {
		return ""
	}
	x := o.phase(p)
	name := func(q algorithm.ID) string {
		if q == p {
			return q.String()
		}
		return o.aside(q)
	}
	for i := len(o.wire.lost) - 1; i >= 0; i-- {
		m := o.wire.lost[i]
		if m.section == o.section && (m.at >= x.askedAt && o.misses(p, m) || m.name == o.wire.carrier && !o.tokenExists()) {
			return "; " + m.name + " from " + name(m.from) + " to " + name(m.to) + " was lost"
		}
	}
	return ""
}

// misses reports whether a process still waits for what a lost message was about: one that it
// sent to, or that came from, a process whose answer it needs, and that was not sent again.
func (o *room) misses(p algorithm.ID, m loss) bool {
	peer := m.to
	if m.to == p {
		peer = m.from
	} else if m.from != p {
		return false
	}
	if who := o.awaited(p); len(who) > 0 && !slices.Contains(who, peer) {
		return false
	}
	_, again := o.between(m.from, m.to, m.name)
	return !again
}

// tokenExists reports whether the token is in flight, or a process has it.
func (o *room) tokenExists() bool {
	for i := range o.size() {
		q := o.proc(algorithm.ID(i))
		if to, ok := o.pointed(q); o.field(q, o.spec.Shape.Token) == "yes" || ok && to == q {
			return true
		}
	}
	return len(o.wire.tokens) > 0
}

// whyPointer follows the arrows to the token.
func (o *room) whyPointer(p algorithm.ID) string {
	asked := o.spec.Shape.Asked
	s := "waits for the token"
	q, ok := o.pointed(p)
	switch {
	case !ok || q == p:
		return s
	case o.field(p, asked) != "yes":
		return s + ": it has not asked " + o.aside(q) + " yet"
	}
	s += ": it asked " + o.who(q)
	if o.rewriter.short {
		return s
	}
	for seen := []algorithm.ID{p, q}; ; seen = append(seen, q) {
		next, ok := o.pointed(q)
		switch {
		case !ok || o.is(q) == Crashed:
			return s
		case next == q && o.is(q) != Inside:
			return s + "; " + q.String() + " holds it"
		case next == q:
			return s
		case o.carried(next, q) || o.carried(q, next):
			return s + "; the token is in flight between " + q.String() + " and " + o.who(next)
		case o.field(q, asked) != "yes":
			return s + "; " + q.String() + " has not asked " + o.aside(next) + " yet"
		}
		s += "; " + q.String() + " asked " + o.who(next)
		if q = next; slices.Contains(seen, q) {
			return s + "; and so on, in a circle"
		}
	}
}

// pointed returns the process that the arrow of a process leads to.
func (o *room) pointed(p algorithm.ID) (algorithm.ID, bool) {
	return o.one(o.field(p, o.spec.Shape.Pointer))
}

// carried reports whether the token is in flight from one process to another.
func (o *room) carried(from, to algorithm.ID) bool {
	_, ok := o.between(from, to, o.spec.Shape.Carrier)
	return ok
}

// whyToken says where the token is.
func (o *room) whyToken(p algorithm.ID) string {
	s := "waits for the token"
	if o.rewriter.short {
		return s
	}
	for _, t := range o.wire.tokens {
		if t.section == o.section {
			return s + ", which is in flight from " + o.aside(t.from) + " to " + o.who(t.to)
		}
	}
	shape := &o.spec.Shape
	for i := range o.size() {
		q := o.proc(algorithm.ID(i))
		if shape.Next != "" && o.field(q, shape.Next) == itoa(int(p)+1) {
			if o.tells(q, p) {
				return s
			}
			return s + ": " + o.aside(q) + " passes it on to " + p.String()
		}
	}
	for i := range o.size() {
		q := o.proc(algorithm.ID(i))
		if q != p && o.field(q, shape.Token) == "yes" {
			return s + o.whoHas(p, q)
		}
	}
	return s + ", which no process holds"
}

// whoHas says what the holder of the token is doing, and what it knows of waiting
// processes.
func (o *room) whoHas(p, q algorithm.ID) string {
	s := ", held by " + q.String()
	switch o.is(q) {
	case Inside:
		if !o.tells(q, p) {
			s += ": " + q.String() + " is inside"
		}
	case Crashed:
		s += ": " + q.String() + " has crashed"
	case Paused:
		s += ": " + q.String() + " is paused"
	}
	if at := o.queued(p, q); at > 0 {
		return s + "; " + p.String() + " is number " + itoa(at) + " in the queue at " + q.String()
	}
	return s + o.asks(p, q)
}

// queued returns the position of a process in the queue of another, from 1; 0 if it is not
// queued.
func (o *room) queued(p, at algorithm.ID) int {
	return slices.Index(strings.Fields(o.field(at, o.spec.Shape.Queue)), itoa(int(p)+1)) + 1
}

// sent returns the message by which a process asked another, if it is in flight.
func (o *room) sent(p, to algorithm.ID) (message, bool) {
	by := o.phase(p).by
	if by == "" {
		return message{}, false
	}
	return o.between(p, to, by)
}

// asks says that the message by which a process asked another is in flight, if it is.
func (o *room) asks(p, to algorithm.ID) string {
	if m, ok := o.sent(p, to); ok {
		return "; " + m.name + " is in flight from " + p.String() + " to " + to.String()
	}
	return ""
}

// whyHub says what the process in the middle is doing.
func (o *room) whyHub(p algorithm.ID) string {
	shape := &o.spec.Shape
	hub := o.proc(0)
	if shape.Hub != nil {
		hub = o.proc(shape.Hub(o.size()))
	}
	if asked := o.phase(p).asked; len(asked) == 1 {
		hub = asked[0]
	}
	s := "waits for " + shape.Answer + " from "
	if hub == algorithm.None || o.rewriter.short {
		return s + hub.String()
	}
	if is := o.is(hub); hub != p && (is == Crashed || is == Paused) {
		return s + o.who(hub)
	}
	if m := o.asks(p, hub); m != "" {
		return s + hub.String() + m
	}
	if m, ok := o.between(hub, p, ""); ok {
		return s + hub.String() + "; " + m.name + " is in flight from there"
	}
	q, ok := o.one(o.field(hub, shape.Vote))
	switch first := ok && q != p; {
	case o.reasons(p) != "" && hub == p:
		s += "itself"
	case o.reasons(p) != "":
		s += hub.String()
	case first && hub == p:
		s = "waits because it has let " + o.aside(q) + " go first"
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
		s += "; " + p.String() + " is number " + itoa(at) + " in the queue at " + hub.String()
	}
	return s
}

// awaited returns the processes whose answers a process still needs.
func (o *room) awaited(p algorithm.ID) []algorithm.ID {
	shape := &o.spec.Shape
	for _, name := range shape.Awaited {
		if who := o.many(o.field(p, name)); len(who) > 0 {
			return who
		}
	}
	if shape.Got == "" {
		return nil
	}
	got := o.many(o.field(p, shape.Got))
	ask := slices.Clone(o.phase(p).asked)
	if shape.Sets != nil {
		sets, me := shape.Sets(o.size()), o.place(p)
		if me >= 0 && me < len(sets) {
			ask = nil
			for q := range sets[me].All() {
				ask = append(ask, o.proc(q))
			}
		}
	}
	if shape.Enough != nil && !slices.Contains(ask, p) {
		ask = append(ask, p) // its own answer counts, too
	}
	return slices.DeleteFunc(ask, func(q algorithm.ID) bool { return slices.Contains(got, q) })
}

// whyAwaited says whose answers are missing, and what those processes are doing.
func (o *room) whyAwaited(p algorithm.ID, who []algorithm.ID) string {
	shape := &o.spec.Shape
	s := "waits for " + shape.Answer + " from "
	switch more := o.more(p); {
	case more == 1 && len(who) > 1:
		s += "one of "
	case more > 0 && more < len(who):
		s += itoa(more) + " of "
	}
	s += o.names(p, who)
	if o.rewriter.short {
		return s
	}
	if len(who) == 1 {
		if m := o.asks(p, who[0]); m != "" {
			return s + m
		}
		if _, ok := o.between(who[0], p, shape.Answer); ok {
			return s + "; " + shape.Answer + " is in flight"
		}
	}
	s += o.votes(p, who)
	if in := o.insider(); len(who) > manyNames && in != algorithm.None {
		s += "; " + in.String() + " is inside"
	}
	return s
}

// more returns how many answers are enough for a process; 0 if it needs all of them.
func (o *room) more(p algorithm.ID) int {
	shape := &o.spec.Shape
	if shape.Enough == nil {
		return 0
	}
	return shape.Enough(o.size()) - len(o.many(o.field(p, shape.Got)))
}

// mostVotes is the maximum number of candidates that a sentence names.
const mostVotes = 3

// votes says which other candidates have received the missing votes.
func (o *room) votes(p algorithm.ID, who []algorithm.ID) string {
	var whom []algorithm.ID
	by := map[algorithm.ID][]string{}
	for _, q := range who {
		v, ok := voted(o.field(q, o.spec.Shape.Vote), len(o.lanes))
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

// insider returns a process that is inside, or None.
func (o *room) insider() algorithm.ID {
	for i := range o.size() {
		if p := o.proc(algorithm.ID(i)); o.phase(p).is == Inside {
			return p
		}
	}
	return algorithm.None
}
