package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/ticket"
)

const jobRules = `
[[rule]]
who = ["client/holder", "client/thief"]
locks = "jobs/*"
may = ["lock", "read"]
quota = { locks = 5 }
`

// A raw is a client whose frames the test sends, over TLS.
type raw struct {
	t     *testing.T
	link  *transport.Link
	heard chan session.Frame
}

// rawClient connects a client and begins a session.
func rawClient(t *testing.T, n *Node, files cert.Config) *raw {
	t.Helper()
	keys, err := cert.Load(files, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := soon(t)
	defer cancel()
	var wg sync.WaitGroup
	link, err := transport.DialClient(ctx, n.Address(), transport.ClientConfig{TLS: keys.Client}, &wg)
	if err != nil {
		t.Fatal(err)
	}
	x := &raw{t, link, make(chan session.Frame, 1024)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = link.Run(func(b []byte) error {
			f, err := session.Parse(slices.Clone(b))
			if f.Kind != session.Renewed {
				x.heard <- f
			}
			return err
		})
	}()
	t.Cleanup(func() { link.Fail(errClosed); <-ended; wg.Wait() })
	if f := x.says(session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol, Oldest: session.OldestProtocol}); f.Kind != session.Welcome {
		t.Fatalf("no session: %+v", f)
	}
	return x
}

// says sends a frame, and returns what the node says next.
func (x *raw) says(f session.Frame) session.Frame {
	x.t.Helper()
	x.send(f)
	return x.hears()
}

func (x *raw) send(f session.Frame) {
	x.t.Helper()
	if err := x.link.Send(f.AppendTo(nil), false); err != nil {
		x.t.Fatal(err)
	}
	x.link.Flush()
}

// hears returns what the node says next. Until then the session is renewed.
func (x *raw) hears() session.Frame {
	x.t.Helper()
	ctx, cancel := soon(x.t)
	defer cancel()
	for {
		x.send(session.Frame{Kind: session.Renew, Number: 2})
		select {
		case f := <-x.heard:
			return f
		case <-ctx.Done():
			x.t.Fatal("the node says nothing")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A hostile client that may acquire locks of a name tries to get the one that another client
// holds, and more than its quota: with tickets of others, changed ones, those of other locks,
// names and clusters, and its own old ones; before and after a view change. All is refused and
// audited, and the holder keeps its lock.
func TestHostileClient(t *testing.T) {
	dir := authority(t)
	rights := filepath.Join(dir, "rights.toml")
	if err := os.WriteFile(rights, []byte(jobRules), 0o600); err != nil {
		t.Fatal(err)
	}
	var audit auditLog
	config := func(c *Config) {
		own, _ := issued(t, dir, c.Name, cert.Node)
		c.TLS, c.Rights, c.Log = own.files, rights, audit.jsonLogger()
	}
	nodes := start(t, 3, func(_ int, c *Config) { config(c) })
	honest, _ := issued(t, dir, "holder", cert.Client)
	hostile, _ := issued(t, dir, "thief", cert.Client)
	holder, thief := rawClient(t, nodes[0], honest.files), rawClient(t, nodes[1], hostile.files)
	held := holder.says(session.Frame{Kind: session.Lock, Number: 1, Name: "jobs/1"})
	old := thief.says(session.Frame{Kind: session.Lock, Number: 1, Name: "jobs/2"})
	if held.Kind != session.Held || old.Kind != session.Held {
		t.Fatalf("%+v, %+v", held, old)
	}
	if f := thief.says(session.Frame{Kind: session.Unlock, Number: 1}); f.Kind != session.Done {
		t.Fatalf("%+v", f)
	}
	if f := holder.says(session.Frame{Kind: session.Lock, Number: 2, Name: "jobs/2"}); f.Kind != session.Held {
		t.Fatalf("%+v", f)
	}
	flipped := bytes.Clone(held.Ticket)
	flipped[len(flipped)-1] ^= 1
	var made ticket.Office
	made.Set(7, []ticket.Key{{Epoch: held.Token.Epoch}})
	higher := ticket.Ticket{Token: member.Token{Epoch: held.Token.Epoch, Count: 999_999_999}, Last: 999_999_999, Through: []uint64{64 * held.Token.Epoch}}
	forged := made.AppendTo(nil, &higher, "client/thief", "jobs/1")
	number := uint64(100)
	attack := func(when string) {
		for _, x := range []struct {
			what, name string
			count      uint64
			proof      []byte
		}{
			{"the holder's ticket", "jobs/1", held.Token.Count, held.Ticket},
			{"a higher count", "jobs/1", 999_999_999, held.Ticket},
			{"a changed ticket", "jobs/1", held.Token.Count, flipped},
			{"a ticket under an invented key", "jobs/1", higher.Last, forged},
			{"its own ticket of another lock", "jobs/1", old.Token.Count, old.Ticket},
			{"its own old ticket", "jobs/2", old.Token.Count, old.Ticket},
			{"no ticket", "jobs/1", held.Token.Count, nil},
		} {
			number++
			if f := thief.says(session.Frame{Kind: session.Claim, Number: number, Name: x.name, Count: x.count, Ticket: x.proof}); f.Kind != session.Lost || f.Number != number {
				t.Errorf("%s, a claim with %s: %+v", when, x.what, f)
			}
		}
		if f := holder.says(session.Frame{Kind: session.Check, Number: 1}); f.Kind != session.Held || f.Token != held.Token {
			t.Errorf("%s, the holder is told %+v", when, f)
		}
	}
	// A claim waits for a view after that of its token: these come before one, and those after.
	thief.send(session.Frame{Kind: session.Claim, Number: 50, Name: "jobs/2", Count: old.Token.Count, Ticket: old.Ticket})
	last := Config{Name: "d", Listen: "127.0.0.1:0", Join: []string{nodes[0].Address()}, Lease: nodes[0].c.Lease}
	config(&last)
	ready(t, run(t, last))
	if f := thief.hears(); f.Kind != session.Lost || f.Number != 50 {
		t.Errorf("a claim that has waited for the view: %+v", f)
	}
	attack("after a view change")
	for i := range uint64(20) {
		number++
		name := fmt.Sprint("jobs/free", i)
		f := thief.says(session.Frame{Kind: session.Lock, Number: number, Name: name})
		if want := session.Held; i >= 5 && f.Why != session.OverQuota || i < 5 && f.Kind != want {
			t.Errorf("request %d: %+v", i, f)
		}
	}
	if f := thief.says(session.Frame{Kind: session.Claim, Number: number + 1, Name: "jobs/2", Count: old.Token.Count, Ticket: old.Ticket}); f.Kind != session.Over || f.Why != session.OverQuota {
		t.Errorf("a claim beyond the quota: %+v", f)
	}
	if f := thief.says(session.Frame{Kind: session.Claim, Number: number + 2, Name: "other/1", Count: 1, Ticket: held.Ticket}); f.Kind != session.Over || f.Why != session.Denied {
		t.Errorf("a claim without the right: %+v", f)
	}
	for _, x := range []struct{ lock, result string }{{"jobs/1", "refused"}, {"jobs/2", "refused"}, {"other/1", "denied"}} {
		audit.has(t, "the claim of "+x.lock, func(e *entry) bool {
			return e.Who == "client thief" && e.What == "claim" && e.Lock == x.lock && e.Result == x.result && e.Why != ""
		})
	}
}
