package replay

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/words"
)

// describe describes an input.
func (p *player) describe(in *process.Input) string {
	switch in.Kind {
	case process.Start:
		return "the node starts"
	case process.Leave:
		return "the node begins to leave"
	case process.Stop:
		return "the node begins to stop"
	case process.Wake:
		return "the wake time is reached"
	case process.Up:
		return "a connection to " + words.Quoted(in.Text) + " is established"
	case process.Down:
		return "the connection to " + words.Quoted(in.Text) + " breaks"
	case process.Message:
		return fmt.Sprintf("%s arrives from %s", message(in.Bytes), words.Quoted(in.Text))
	case process.Frame:
		return fmt.Sprintf("%s arrives from the client on connection %d", frame(in.Bytes), in.Number)
	case process.Opened:
		return fmt.Sprintf("the client on connection %d is %s", in.Number, words.Quoted(cmp.Or(in.Text, "anyone")))
	case process.Closed:
		return fmt.Sprintf("the client on connection %d disconnects", in.Number)
	case process.Lock:
		return p.request(in)
	case process.Cancel:
		return fmt.Sprintf("an application withdraws request %d", in.Number)
	case process.Unlock:
		return fmt.Sprintf("an application releases %q with token %v", in.Text, in.Token)
	case process.Recall:
		return "rights or quotas of clients have changed"
	case process.Trail:
		return fmt.Sprintf("an operator looks at the trail of %q", in.Text)
	case process.Saved:
		if in.Text != "" {
			return fmt.Sprintf("save %d fails: %s", in.Number, words.Quoted(in.Text))
		}
		return fmt.Sprintf("save %d is durable", in.Number)
	}
	return order(in)
}

// request describes a request of an application.
func (p *player) request(in *process.Input) string {
	s := fmt.Sprintf("an application requests %q", in.Text)
	if in.Try {
		s = fmt.Sprintf("an application tries to acquire %q", in.Text)
	}
	if t := in.Terms; t != (member.Terms{}) {
		if s += ", " + t.Mode.String(); t.Units > 0 {
			s += fmt.Sprintf(" of %d", t.Units)
		}
		if t.Tx != 0 {
			s += fmt.Sprintf(", in transaction %d", t.Tx)
		}
	}
	if in.Late != 0 && in.Late != member.Never {
		s += ", with its deadline " + p.moment(in.Late)
	}
	return s
}

// order describes an order of an operator.
func order(in *process.Input) string {
	switch in.Kind {
	case process.Release:
		return fmt.Sprintf("an operator takes %q from the holder with token %v", in.Text, in.Token)
	case process.Evict:
		return fmt.Sprintf("an operator evicts member %d", in.Number)
	case process.Choose:
		var all []string
		for _, c := range in.Choice {
			all = append(all, fmt.Sprintf("%q %s", c.Prefix, words.Quoted(c.Algorithm)))
		}
		return "an operator chooses algorithms by prefix: " + cmp.Or(strings.Join(all, ", "), "none")
	case process.Refresh:
		return "an operator asks for a view of the same members"
	case process.Resize:
		return fmt.Sprintf("an operator sets the number of voters to %d", in.Number)
	case process.Move:
		return fmt.Sprintf("an operator asks the client of session %d to use another node", in.Number)
	}
	return in.Kind.String()
}

// did describes an effect; it is empty for effects that only an oracle sees.
func did(e *process.Effect) string {
	switch e.Kind {
	case process.Notify:
		return "notifies an application: " + event(&e.Event)
	case process.ClientEvent:
		return "a client's " + event(&e.Event)
	case process.View:
		return fmt.Sprintf("installs the view of epoch %d", e.Record.Epoch)
	case process.Ended:
		return "is no longer a member: " + ending(e.How)
	case process.RolledBack:
		return fmt.Sprintf("finds that epoch %d is not in the history of the view of epoch %d", e.Number, e.Record.Epoch)
	case process.Send:
		return fmt.Sprintf("sends %s to %s", message(e.Bytes), words.Quoted(e.To))
	case process.Reply:
		return reply(e)
	case process.Ask:
		return fmt.Sprintf("forwards question %d from the client on connection %d", e.Question.Number, e.Conn)
	case process.Save:
		return fmt.Sprintf("saves %d bytes, as save %d", len(e.Bytes), e.Number)
	case process.Erase:
		return fmt.Sprintf("erases its storage, as save %d", e.Number)
	case process.Remember:
		return fmt.Sprintf("saves what it must remember, as save %d", e.Number)
	case process.HangUp:
		return fmt.Sprintf("closes the connection to %s: %s", words.Quoted(e.To), words.Quoted(e.Err.Error()))
	case process.Cut:
		return fmt.Sprintf("closes client connection %d: %s", e.Conn, words.Quoted(e.Err.Error()))
	case process.LinkEnded:
		return fmt.Sprintf("ends the link to member %d at %s: %s", e.Peer, words.Quoted(e.To), words.Quoted(e.Err.Error()))
	case process.Failed:
		return "fails: " + words.Quoted(e.Err.Error())
	}
	return ""
}

// reply describes a frame for a client.
func reply(e *process.Effect) string {
	switch {
	case len(e.Bytes) == 0:
		return fmt.Sprintf("closes client connection %d", e.Conn)
	case e.Last:
		return fmt.Sprintf("sends %s to the client on connection %d, and closes the connection", frame(e.Bytes), e.Conn)
	}
	return fmt.Sprintf("sends %s to the client on connection %d", frame(e.Bytes), e.Conn)
}

// ending says why a process is no longer a member.
func ending(how views.Ending) string {
	switch how {
	case views.Evicted:
		return "it was evicted"
	case views.Left:
		return "it left"
	case views.Stopped:
		return "it stopped"
	case views.Replaced:
		return "its voters now belong to another cluster"
	}
	return fmt.Sprintf("ending %d", how)
}

// message describes a message between nodes.
func message(b []byte) string {
	kind := "an unknown message"
	if len(b) > 0 {
		service, ok := process.IsService(b)
		switch {
		case b[0] == process.Packet:
			kind = "a packet"
		case process.IsVoters(b):
			kind = "a message between voters"
		case ok && len(service) > 0:
			kind = views.Kind(service[0]).String()
		}
	}
	return fmt.Sprintf("%s of %d bytes", kind, len(b))
}

// frame describes a frame to or from a client.
func frame(b []byte) string {
	f, err := session.Parse(b)
	if err != nil {
		return fmt.Sprintf("an invalid frame of %d bytes", len(b))
	}
	text := f.Kind.String()
	if f.Kind != session.Close && f.Kind != session.Bye {
		text += fmt.Sprintf(" %d", f.Number)
	}
	if f.Kind == session.Lock {
		text += fmt.Sprintf(" of %q", f.Name)
	}
	return text
}

// event describes the outcome of a request.
func event(e *member.Event) string {
	what := "has an unknown outcome"
	switch e.Kind {
	case member.Held:
		what = "acquires its lock, with token " + e.Token.String()
	case member.Lost:
		what = "loses its lock, with token " + e.Token.String()
	case member.Busy:
		what = "is refused: the lock is held or waited for"
	case member.Recovering:
		what = "is refused: it is not known yet whether the lock is held"
	case member.Late:
		what = "misses its deadline"
	case member.Stopped:
		what = "is stopped and will not be granted"
		if e.Victim != nil {
			what = "is stopped, because its transaction must abort: " + e.Victim.String()
		}
	case member.Wanted:
		what = "must return its delegated lock, which is wanted"
	case member.Doomed:
		what = "must release its lock, because its transaction must abort: " + e.Victim.String()
	}
	return fmt.Sprintf("request %d %s", e.Ticket, what)
}

// answer describes what the caller of an input gets.
func (o *Outcome) answer() string {
	switch {
	case o.Refused:
		return "refused"
	case o.Ticket != 0:
		return fmt.Sprintf("request %d", o.Ticket)
	}
	return "accepted"
}

// failure says whether the process has failed, and why.
func (o *Outcome) failure() string {
	if o.Failed == "" {
		return "none"
	}
	return strconv.Quote(o.Failed)
}

// moment returns a time relative to the first input.
func (p *player) moment(at member.Instant) string {
	if at == member.Never {
		return "never"
	}
	return fmt.Sprintf("at %.6f s", float64(at-p.result.First)/float64(member.Second))
}
