package storm

import (
	"fmt"

	talk "github.com/stile-lock/stile/internal/session"

	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/process"
)

// A thief is a client with an identity of its own that has learned the secret of another
// one's session, and tries to resume it.
type thief struct {
	chance  kernel.Rand
	session uint64 // of the client, at the process
	secret  talk.Secret
	at      *proc
	boots   int // how often the process had been started then
}

// identity returns who a client is. Two clients share an identity.
func (c *client) identity() string { return fmt.Sprint("client/", c.number/2) }

// overheard notes what a process sends to a client about its session. It reports whether the
// frame is for a thief, and judges what that is told.
func (l *line) overheard(frame []byte) bool {
	if len(frame) == 0 || talk.Kind(frame[0]) != talk.Welcome {
		return l.prey != 0
	}
	f, err := talk.Parse(frame)
	switch {
	case err != nil: // its client reports it
	case l.prey == 0:
		t := &l.c.thief
		t.session, t.secret, t.at, t.boots = f.Session, f.Secret, l.q, l.q.boots
	case f.Session == l.prey:
		l.w.broken(Owners, "%s lets client/thief resume session %x of %s, which is %s", l.w.Name(l.q.id), f.Session, l.w.Name(l.c.id), l.c.identity())
	}
	return l.prey != 0
}

// robbed lets a thief try now and then to resume the session of a client at a process that
// has just heard from it. The thief's connection has no delays: it would only come too late.
func (q *proc) robbed(l *line) {
	t, w := &l.c.thief, q.w
	if t.at != q || t.boots != q.boots || q.state == dead || w.phase != stormy || t.chance.Below(20) > 0 {
		return
	}
	x := &line{w: w, no: len(w.lines) + 1, c: l.c, q: q, boots: q.boots, prey: t.session}
	w.lines = append(w.lines, x)
	hello := talk.Frame{Kind: talk.Hello, Number: 1 << 40, Protocol: talk.Protocol, Oldest: talk.OldestProtocol, Session: t.session, Secret: t.secret, Name: "thief"}
	for _, in := range []process.Input{
		{Kind: process.Opened, Number: uint64(x.no), Text: "client/thief"},
		{Kind: process.Frame, Number: uint64(x.no), Bytes: hello.AppendTo(nil)},
		{Kind: process.Frame, Number: uint64(x.no), Bytes: (&talk.Frame{Kind: talk.Close}).AppendTo(nil)}, // of its own session, which it got instead
		{Kind: process.Closed, Number: uint64(x.no)},
	} {
		if q.state != dead {
			q.step(in)
		}
	}
}
