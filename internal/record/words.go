package record

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/peer"
	"github.com/stile-lock/stile/internal/station"
)

// A deed is something that a station does. Its bytes are kept, and it is only put into
// words if somebody wants to know.
type deed struct {
	kind   deedKind
	to     string
	number uint64 // of a connection or an epoch, or how it ends
	event  member.Event
	bytes  []byte
}

type deedKind uint8

const (
	sends deedKind = iota
	posts
	tells
	views
	ends
)

// note keeps a deed of this input.
func (p *player) note(k deedKind, to string, number uint64, b []byte) *deed {
	if p.deeds == len(p.did) {
		p.did = append(p.did, deed{})
	}
	d := &p.did[p.deeds]
	p.deeds++
	d.kind, d.to, d.number, d.bytes = k, to, number, append(d.bytes[:0], b...)
	return d
}

// String says what was done.
func (d *deed) String() string {
	switch d.kind {
	case sends:
		return fmt.Sprintf("sends %s to %s", message(d.bytes), Plain(d.to))
	case posts:
		return fmt.Sprintf("sends %s to the client of connection %d", frame(d.bytes), d.number)
	case tells:
		return told(&d.event)
	case views:
		return fmt.Sprintf("begins epoch %d", d.number)
	}
	return "is a member no more: " + [...]string{"it goes on", "the others go on without it", "it has left", "its voters are of another cluster"}[d.number]
}

// message says what nodes say to each other.
func message(b []byte) string {
	kind := "an unknown message"
	switch {
	case len(b) == 0:
	case b[0] == peer.Packet:
		kind = "a packet"
	case b[0] == peer.Post:
		kind = "a letter among voters"
	case b[0] == peer.Service && len(b) > 1:
		kind = engine.Kind(b[1]).String()
	}
	return fmt.Sprintf("%s of %d bytes", kind, len(b))
}

// frame says what clients and nodes say to each other.
func frame(b []byte) string {
	if len(b) == 0 {
		return "nothing, and closes it,"
	}
	f, err := client.Parse(b)
	if err != nil {
		return fmt.Sprintf("%d bytes that are no frame", len(b))
	}
	text := f.Kind.String()
	if f.Kind != client.Close && f.Kind != client.Bye {
		text += fmt.Sprintf(" %d", f.Number)
	}
	if f.Kind == client.Lock {
		text += fmt.Sprintf(" of %q", f.Name)
	}
	return text
}

func told(e *member.Event) string {
	what := [...]string{
		member.Held: "holds its lock, with token " + e.Token.String(), member.Lost: "has lost its lock, with token " + e.Token.String(),
		member.Busy: "is refused: somebody is inside, or waits", member.Recovering: "is refused: nobody knows whether somebody is inside",
		member.Late: "is late", member.Stopped: "waits in vain",
	}[e.Kind]
	return fmt.Sprintf("tells that request %d %s", e.Ticket, what)
}

// describe says what an input is.
func describe(in *station.Input) string {
	switch in.Kind {
	case station.Found:
		return "it founds a cluster"
	case station.Join:
		return "it asks to join"
	case station.Leave:
		return "it leaves"
	case station.Wake:
		return "time has passed"
	case station.Up:
		return "there is a connection to " + Plain(in.Text)
	case station.Down:
		return "the connection to " + Plain(in.Text) + " has broken"
	case station.Message:
		return fmt.Sprintf("%s came from %s", message(in.Bytes), Plain(in.Text))
	case station.Frame:
		return fmt.Sprintf("%s came from the client of connection %d", frame(in.Bytes), in.Number)
	case station.Closed:
		return fmt.Sprintf("connection %d, of a client, is closed", in.Number)
	case station.Lock:
		if in.Try {
			return fmt.Sprintf("an application tries to lock %q", in.Text)
		}
		return fmt.Sprintf("an application asks for %q", in.Text)
	case station.Cancel:
		return fmt.Sprintf("an application takes back request %d", in.Number)
	case station.Unlock:
		return fmt.Sprintf("an application lets go of %q, with token %v", in.Text, in.Token)
	case station.Release:
		return fmt.Sprintf("somebody takes %q away from who holds it with token %v", in.Text, in.Token)
	}
	return fmt.Sprintf("the node is about to leave, and takes back %d requests", len(in.Tickets))
}

// answered says what a station answers to who has handed in something.
func answered(o *station.Outcome) string {
	switch {
	case o.Refused:
		return "a refusal"
	case o.Ticket != 0:
		return fmt.Sprintf("request %d", o.Ticket)
	case o.Freed:
		return "that it was held until then"
	}
	return "nothing in particular"
}

// moment says when something is, since the recording began.
func (p *player) moment(at member.Instant) string {
	if at == member.Never {
		return "never"
	}
	return fmt.Sprintf("at %.6f s", float64(at-p.result.Header.Begin.At)/float64(member.Second))
}

// Plain is a text that somebody else has written, as it can be shown.
func Plain(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// clipped is a text as it was recorded.
func clipped(s string) string { return s[:min(len(s), maxText)] }
