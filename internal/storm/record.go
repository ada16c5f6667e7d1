package storm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	talk "github.com/stile-lock/stile/internal/session"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/explain"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/lab/trace"
)

// Record repeats a run and returns what happened in the last span of time before its end,
// or before its violation, as a trace: a lane for the store, every place of a member and
// every client. It keeps the last most events.
func Record(c Config, before member.Span, most int) (*trace.Trace, *Result, error) {
	first, err := Run(c)
	if err != nil {
		return nil, nil, err
	}
	from := int64(max(0, first.Simulated-before))
	r := recorder{most: max(most, 1)}
	second, err := run(c, func(e trace.Event) {
		if e.At >= from && !housekeeping(&e) {
			r.add(e)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	t := &trace.Trace{
		N: int(firstProc) + c.Nodes + spare + c.Clients, Title: title(&c), Algorithm: c.Algorithms[0].Algorithm,
		Kinds: messageKinds(), Unit: ms, Called: "ms", Names: laneNames(&c), Inside: "inside", Beside: moneyField, Events: r.events(),
	}
	return t, second, t.Check()
}

// housekeeping reports whether a message says nothing about locks or views: an
// acknowledgement of a link, or what voters send each other all the time.
func housekeeping(e *trace.Event) bool {
	return e.Name == msgNames[process.Packet] || e.Name == msgNames[process.Messages-1]
}

func title(c *Config) string {
	return fmt.Sprintf("Storm %d: %s, %d members", c.Seed, c.Algorithms[0].Algorithm, c.Nodes)
}

// messageKinds returns the kinds of messages, those of members first.
func messageKinds() []string {
	return slices.Concat(frameNames[:], views.KindNames(), talk.KindNames(), msgNames[:])
}

// A recorder keeps the last events.
type recorder struct {
	most int
	ring []trace.Event
	next int
}

func (r *recorder) add(e trace.Event) {
	if len(r.ring) < r.most {
		r.ring = append(r.ring, e)
		return
	}
	r.ring[r.next] = e
	r.next = (r.next + 1) % r.most
}

func (r *recorder) events() []trace.Event {
	return append(append([]trace.Event(nil), r.ring[r.next:]...), r.ring[:r.next]...)
}

// describe fills in what people see of a message: of a packet, the frames in it.
func (w *world) describe(e *trace.Event, b []byte) {
	if w.network.isGarbled(b) {
		e.Name, e.Fields = malformed, []host.Field{{Name: "says", Value: fmt.Sprintf("%d bytes", len(b))}}
		return
	}
	e.Name = msgNames[b[0]]
	l := numbers(b[1:])
	if w.Bank && b[0] >= readMsg {
		w.describeMoney(e, b[0], l)
		return
	}
	switch b[0] {
	case process.Packet:
		describePacket(e, b)
	case process.Service:
		e.Name = views.Kind(b[1]).String()
		e.Fields = []host.Field{{Name: "says", Value: w.official(b[1:])}}
	case clientMsg, nodeMsg:
		if f, ok := frameOf(b); ok {
			e.Name = f.Kind.String()
			e.Section, e.Fields = inWords(&f)
		}
	case process.Messages - 1: // between voters
		e.Fields = []host.Field{{Name: "says", Value: fmt.Sprintf("%d bytes", len(l))}}
	default:
		var values []string
		for l.more() {
			values = append(values, fmt.Sprint(l.next()))
		}
		e.Fields = []host.Field{{Name: "says", Value: strings.Join(values, " ")}}
	}
}

// frameOf returns the frame in a message to or from a client.
func frameOf(b []byte) (talk.Frame, bool) {
	if !spoken(b) {
		return talk.Frame{}, false
	}
	l := numbers(b[1:])
	l.next()
	f, err := talk.Parse(l)
	return f, err == nil
}

// inWords describes what a client sends or is sent: the lock, and the content.
func inWords(f *talk.Frame) (lock string, says []host.Field) {
	var all []string
	add := func(format string, x any, is bool) {
		if is {
			all = append(all, fmt.Sprintf(format, x))
		}
	}
	add("session %d", f.Session, f.Session != 0)
	add("number %d", f.Number, f.Number != 0)
	add("for %v", f.Span, f.Kind == talk.Welcome || f.Kind == talk.Renewed)
	add("token %v", f.Token, f.Kind == talk.Held)
	add("%v", f.Why, f.Kind == talk.Over || f.Kind == talk.Bye)
	if f.Kind == talk.Lock {
		lock = f.Name
	}
	return lock, []host.Field{{Name: "says", Value: strings.Join(all, ", ")}}
}

// official describes a message between members and voters.
func (w *world) official(b []byte) string {
	m, err := views.ParseMessage(b)
	if err != nil {
		return "malformed message"
	}
	var says []string
	add := func(format string, x uint64) {
		if x != 0 {
			says = append(says, fmt.Sprintf(format, x))
		}
	}
	if no := w.no(m.Inc); no > 0 {
		says = append(says, fmt.Sprintf("m%d", no))
	}
	add("number %d", m.Number)
	add("epoch %d", m.Epoch)
	for _, inc := range m.Who {
		says = append(says, fmt.Sprintf("m%d", w.no(inc)))
	}
	if r, err := views.ParseRecord(m.Record); err == nil {
		add("epoch %d", r.Epoch)
	}
	return strings.Join(says, " ")
}

// describePacket describes the frames in a packet.
func describePacket(e *trace.Event, b []byte) {
	l := numbers(b[1:])
	epoch := l.next()
	first, says := "", []string{}
	for _, f := range framesOf(b[1:]) {
		s, err := member.Look(f)
		if err != nil {
			continue
		}
		if first == "" {
			first, e.Section = s.Kind, s.Name
		}
		says = append(says, strings.TrimSpace(strings.Join([]string{s.Kind, s.Name, explain.Frame(&s)}, " ")))
	}
	if first != "" {
		e.Name = first
	}
	e.Fields = []host.Field{{Name: "epoch", Value: fmt.Sprint(epoch)}, {Name: "says", Value: strings.Join(says, "; ")}}
}

// framesOf returns the frames of a packet: eight numbers, the last of which is the number
// of frames, and then the frames, each after its length.
func framesOf(b []byte) [][]byte {
	l := numbers(b)
	n := uint64(0)
	for range 8 {
		n = l.next()
	}
	var all [][]byte
	for range n {
		size := l.next()
		if size > uint64(len(l)) {
			break
		}
		all = append(all, l[:size])
		l = l[size:]
	}
	return all
}

// laneNames names the kernel's processes. A place is called p; the member there is called
// m, with the number of its incarnation.
func laneNames(c *Config) []string {
	names := []string{"store"}
	for i := range c.Nodes + spare {
		names = append(names, "p"+strconv.Itoa(i+1))
	}
	for i := range c.Clients {
		names = append(names, "c"+strconv.Itoa(i+1))
	}
	return names
}

// mark shows what a process does with a lock.
func (w *world) mark(kind trace.Kind, q *proc, lock int, text string) {
	if w.Observed() {
		w.Note(trace.Event{Kind: kind, Proc: q.id, Peer: algorithm.None, Name: text, Section: w.names[lock]})
	}
}

// remark writes a note beside the lane of a process.
func (w *world) remark(id algorithm.ID, format string, args ...any) {
	if w.Observed() {
		w.Note(trace.Event{Kind: trace.Note, Proc: id, Peer: algorithm.None, Name: fmt.Sprintf(format, args...)})
	}
}
