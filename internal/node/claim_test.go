package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
)

// speak connects a client of an identity whose frames the test sends, and returns the
// connection and what the node says on it.
func speak(t *testing.T, n *Node, who Caller, says ...session.Frame) chan session.Frame {
	t.Helper()
	theirs, ours := transport.Pipe()
	n.visits.Go(func() { n.host(ours, who, true) })
	heard, ended := make(chan session.Frame, 16), make(chan struct{})
	go func() {
		defer close(ended)
		_ = theirs.Run(func(b []byte) error {
			f, err := session.Parse(slices.Clone(b))
			heard <- f
			return err
		})
	}()
	t.Cleanup(func() { theirs.Fail(errClosed); <-ended })
	for _, f := range says {
		if err := theirs.Send(f.AppendTo(nil), false); err != nil {
			t.Fatal(err)
		}
	}
	theirs.Flush()
	return heard
}

// Every claim is audited: one without the right, one that is refused, and one that is honoured,
// also if the client has disconnected. Without the right to acquire a lock none is made.
func TestClaimsAreAudited(t *testing.T) {
	dir := authority(t)
	own, _ := issued(t, dir, "a", cert.Node)
	file := filepath.Join(dir, "rights.toml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	var audit auditLog
	n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", TLS: own.files, Rights: file, Log: audit.jsonLogger()})
	ready(t, n)
	acquire(t, n, "theirs/x")
	locker := Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "locker"}, From: "192.0.2.1:99"}
	heard := speak(t, n, locker,
		session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol},
		session.Frame{Kind: session.Claim, Number: 1, Name: "theirs/x", Count: 99, Ticket: []byte("made up")},
		session.Frame{Kind: session.Claim, Number: 2, Name: "mine/x", Count: 7, Ticket: []byte("made up")})
	for _, want := range []session.Frame{{Kind: session.Welcome}, {Kind: session.Over, Why: session.Denied}, {Kind: session.Lost}} {
		if f := <-heard; f.Kind != want.Kind || f.Why != want.Why {
			t.Errorf("heard %+v, want %+v", f, want)
		}
	}
	audit.has(t, "the claim without the right", func(e *entry) bool {
		return e.Who == "client locker" && e.What == "claim" && e.Lock == "theirs/x" && e.Result == "denied" && e.Why != ""
	})
	audit.has(t, "the claim that is refused", func(e *entry) bool {
		return e.Who == "client locker" && e.From == locker.From && e.What == "claim" && e.Lock == "mine/x" && e.Result == "refused" && e.Why != ""
	})
	locks := make([]string, 30)
	n.mu.Lock()
	for i := range locks {
		locks[i] = fmt.Sprint("mine/y", i)
		made := process.Effect{Conn: 1 << 40, To: "mine/z", Client: &session.Owner{Who: "client/locker"}, Err: errors.New("made up")}
		n.claimed(&made)
		made.To, made.Err = locks[i], nil
		n.claimed(&made)
	}
	n.mu.Unlock()
	for _, name := range locks { // also behind many that are refused
		audit.has(t, "the claim of "+name+", which is honoured", func(e *entry) bool {
			return e.Who == "client locker" && e.What == "claim" && e.Lock == name && e.Result == "done" && e.Why == ""
		})
	}
}
