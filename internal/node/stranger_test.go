package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
)

// With a rights file, an identity that no rule is about gets no session, neither over the nodes'
// protocol nor over HTTP: it hears so at once, and the refusal is audited. One that loses its last
// rule keeps the session that it has, also over a new connection, and gets no other one.
func TestNoRuleNoSession(t *testing.T) {
	dir := authority(t)
	backup, _ := issued(t, dir, "backup", cert.Client)
	stranger, _ := issued(t, dir, "stranger", cert.Client)
	own, _ := issued(t, dir, "a", cert.Node)
	file := filepath.Join(dir, "rights.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(rules)
	var log auditLog
	n := start(t, 1, func(_ int, c *Config) {
		c.TLS, c.Rights, c.Log, c.Lease, c.check = own.files, file, log.jsonLogger(), time.Minute, 5*time.Millisecond
	})[0]
	ctx, cancel := soon(t)
	defer cancel()
	dial := func(c *caller) (*client.Client, error) {
		return client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, TLS: c.files})
	}
	x, err := dial(&backup)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Kill()
	if _, err := dial(&stranger); !errors.Is(err, lock.ErrDenied) || ctx.Err() != nil {
		t.Errorf("the stranger is told %v", err)
	}
	log.has(t, "the stranger", func(e *entry) bool {
		return e.Who == "client stranger" && e.What == "session" && e.Result == "denied" && e.Why != ""
	})
	over := identified(cert.Identity{Kind: cert.IsClient, Name: "stranger"})
	if _, err := n.Connect(ctx, *over.who, client.Config{}); !errors.Is(err, lock.ErrDenied) || ctx.Err() != nil {
		t.Errorf("over HTTP, the stranger is told %v", err)
	}
	if got := n.Status().Clients; got != 1 {
		t.Errorf("%d sessions", got)
	}
	h, err := x.Lock(ctx, "mine/x", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known := identified(cert.Identity{Kind: cert.IsClient, Name: "backup"})
	write("[[rule]]\nwho = \"admin/alice\"\nlocks = \"*\"\nmay = \"admin\"\n")
	becomes(t, n, "reloaded", func(Status) bool { return n.May(*known.who, rights.Lock, "mine/x") != nil })
	n.mu.Lock()
	last := n.conn
	for _, v := range n.conns {
		v.Fail(errClosed)
	}
	n.mu.Unlock()
	becomes(t, n, "connected again", func(Status) bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		for conn := range n.conns {
			if conn > last && n.p.Bound(conn) {
				return true
			}
		}
		return false
	})
	if h.Err() != nil {
		t.Error(h.Err())
	}
	if _, err := dial(&backup); !errors.Is(err, lock.ErrDenied) {
		t.Errorf("another session: %v", err)
	}
}
