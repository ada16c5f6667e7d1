package node

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/session"
)

// replace replaces a file in one step.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatal("never: " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// often is how often files are checked in tests.
const often = 5 * time.Millisecond

func rule(who, locks, may, quota string) string {
	return "[[rule]]\nwho = '" + who + "'\nlocks = '" + locks + "'\nmay = ['" + may + "', 'read']\n" + quota + "\n"
}

// A changed rights file is in force soon, for connections that are open too. An invalid one
// is reported, and the rules before stay; a node does not start with one.
func TestRightsChange(t *testing.T) {
	dir := authority(t)
	file := filepath.Join(dir, "rights.toml")
	replace(t, file, rule("client/backup", "x*", "lock", "quota.locks = 1"))
	backup, _ := issued(t, dir, "backup", cert.Client)
	var log auditLog
	c := Config{Name: "a", Listen: "127.0.0.1:0", TLS: certify(t, dir, "a"), Rights: file, Log: log.jsonLogger(), check: often}
	n := run(t, c)
	ready(t, n)
	ctx, cancel := soon(t)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, TLS: backup.files})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	try := func(name string) error {
		l, err := x.Lock(ctx, name, lock.Options{})
		if err == nil {
			err = l.Unlock()
		}
		return err
	}
	held, err := x.Lock(ctx, "x1", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := try("y"); !errors.Is(err, lock.ErrDenied) {
		t.Error(err)
	}
	if err := try("x2"); !errors.Is(err, lock.ErrQuota) {
		t.Error(err)
	}
	replace(t, file, rule("client/backup", "y*", "lock", ""))
	eventually(t, "the new rule is in force", func() bool { return try("y") == nil })
	if err := try("x2"); !errors.Is(err, lock.ErrDenied) {
		t.Error(err)
	}
	if err := held.Err(); err != nil {
		t.Errorf("a lock that is held is lost with the right to acquire it: %v", err)
	}
	replace(t, file, "[[rule]]\nwho = 'client/backup'\n")
	log.says(t, "not reloaded")
	if err := try("y"); err != nil {
		t.Errorf("without a valid file the rules before are gone: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	log.says(t, "no such file")
	if err := try("x2"); !errors.Is(err, lock.ErrDenied) {
		t.Errorf("without a file everything is allowed: %v", err)
	}
	replace(t, file, rule("client/backup", "y*", "lock", "quota.locks = 2"))
	eventually(t, "the quota is in force", func() bool {
		l, err := x.Lock(ctx, "y1", lock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Unlock()
		return errors.Is(try("y2"), lock.ErrQuota)
	})
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
	replace(t, file, "nonsense")
	for _, change := range []func(*Config){
		func(*Config) {}, func(c *Config) { c.Rights = file + ".none" }, func(c *Config) { c.Rights, c.Tokens = "", file }, func(c *Config) { c.Rights, c.Revoked = "", file },
		func(c *Config) { c.Rights, c.TLS, c.Revoked = "", cert.Config{}, os.DevNull }, func(c *Config) { c.Rights, c.TLS = "", backup.files },
	} {
		bad := c
		change(&bad)
		if n, err := Start(bad); err == nil {
			n.Kill()
			t.Errorf("a node starts with %+v", bad)
		}
	}
}

// A client to which a lock is delegated acquires it without asking the node, but not after its
// right was taken away or its quota lowered.
func TestRightsRecall(t *testing.T) {
	for name, c := range map[string]struct {
		then     string
		want     error
		releases bool // before it acquires the lock again
	}{
		"right": {rule("anyone", "other", "lock", ""), lock.ErrDenied, true},
		"quota": {rule("anyone", "*", "lock", "quota.locks = 1"), lock.ErrQuota, false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rights.toml")
			replace(t, file, rule("anyone", "*", "lock", ""))
			n := start(t, 1, func(i int, c *Config) { c.Rights, c.check = file, often })[0]
			ctx, cancel := soon(t)
			defer cancel()
			x, err := client.Dial(ctx, client.Config{Nodes: []string{n.Address()}})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			acquire := func(name string) (lock.Handle, error) { return x.Lock(ctx, name, lock.Options{}) }
			var held lock.Handle
			for range 8 { // after some of these it is delegated
				if held != nil {
					release(t, held)
				}
				if held, err = acquire("x"); err != nil {
					t.Fatal(err)
				}
			}
			replace(t, file, c.then)
			eventually(t, "the new rules are in force", func() bool {
				l, err := acquire("y")
				if err == nil {
					release(t, l)
				}
				return errors.Is(err, c.want)
			})
			if err := held.Err(); err != nil {
				t.Errorf("a lock that is held is lost: %v", err)
			}
			if c.releases {
				release(t, held)
			}
			if _, err := acquire("x"); !errors.Is(err, c.want) {
				t.Errorf("acquired again: %v, want %v", err, c.want)
			}
		})
	}
}

// Without TLS, callers have no identity, and rules can be about all of them.
func TestRightsWithoutTLS(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rights.toml")
	replace(t, file, rule("anyone", "x*", "lock", "quota = { sessions = 1, names = 1 }"))
	n := start(t, 1, func(i int, c *Config) { c.Rights = file })[0]
	anyone := &caller{name: "anyone", who: &Caller{From: "here"}}
	for op, want := range map[string]string{"status": yes, "lock x": yes, "lock y": no, "force-release x": no, "leave": no, "backup": no} {
		if got := anyone.try(t, n, op); got != want {
			t.Errorf("%s: %s, want %s", op, got, want)
		}
	}
	ctx, cancel := soon(t)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, Name: "first"})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if y, err := client.Dial(short, client.Config{Nodes: []string{n.Address()}}); !errors.Is(err, lock.ErrQuota) {
		if err == nil {
			y.Close()
		}
		t.Error(err)
	}
	if _, err := x.Lock(ctx, "x", lock.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Lock(ctx, "xx", lock.Options{}); !errors.Is(err, lock.ErrQuota) {
		t.Error(err)
	}
}

// A revoked certificate ends the connections of clients and nodes, and allows no others.
func TestRevocation(t *testing.T) {
	dir := authority(t)
	list := filepath.Join(dir, "revoked")
	replace(t, list, "")
	var log auditLog
	all := start(t, 2, func(i int, c *Config) {
		c.TLS, c.Revoked, c.check = certify(t, dir, c.Name), list, often
		if i == 0 {
			c.Log = log.jsonLogger()
		}
	})
	n := all[0]
	backup, made := issued(t, dir, "backup", cert.Client)
	other, _ := issued(t, dir, "other", cert.Client)
	ctx, cancel := soon(t)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, TLS: backup.files})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Kill()
	l, err := x.Lock(ctx, "x", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	replace(t, list, made.Serial+"\n")
	log.has(t, "the end of the connection", func(e *entry) bool { return e.Who == "client backup" && e.Result == "denied" })
	eventually(t, "no node talks to it", func() bool { _, err := backup.ask(ctx, all[1], AskStatus, ""); return err == errOut })
	<-l.Context().Done() // when the session expires
	if err := other.lock(ctx, n, "x"); err != nil {
		t.Error(err)
	}
	serial, err := cert.Show(filepath.Join(dir, "b.crt"))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, list, made.Serial+"\n"+serial.Serial+" # node b\n")
	becomes(t, n, "without the other node", func(s Status) bool { return len(s.Members) == 1 || !s.Members[0].Linked || !s.Members[1].Linked })
}

// The end of a token ends the sessions of its owner.
func TestTokenEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.toml")
	replace(t, file, "")
	n := start(t, 1, func(i int, c *Config) { c.Tokens, c.check = file, often })[0]
	if _, err := n.tokens.Load().Find("x", time.Now()); !errors.Is(err, rights.ErrToken) {
		t.Error(err)
	}
	tokens, bearer, err := n.tokens.Load().Create("ci", cert.IsClient, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, file, tokens.Text())
	var who cert.Identity
	eventually(t, "the token is known", func() bool { who, err = n.tokens.Load().Find(bearer, time.Now()); return err == nil })
	ctx, cancel := soon(t)
	defer cancel()
	x, err := n.Connect(ctx, Caller{Identity: who, From: "here"}, client.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Kill()
	l, err := x.Lock(ctx, "x", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	replace(t, file, "# none\n")
	<-l.Context().Done()
	if err := l.Err(); !errors.Is(err, lock.ErrLost) {
		t.Error(err)
	}
}

// Lists name clients by their certificates. What they call themselves is only a label.
func TestIdentityInLists(t *testing.T) {
	dir := authority(t)
	n := start(t, 1, func(i int, c *Config) { c.TLS = certify(t, dir, c.Name) })[0]
	backup, _ := issued(t, dir, "backup", cert.Client)
	ctx, cancel := soon(t)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, TLS: backup.files, Name: "admin root\x1b[2J"})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Lock(ctx, "x", lock.Options{}); err != nil {
		t.Fatal(err)
	}
	b, err := backup.ask(ctx, n, AskLocks, "{}")
	var page LockPage[LockInfo]
	if err != nil || json.Unmarshal(b, &page) != nil || len(page.Locks) != 1 {
		t.Fatalf("%s, %v", b, err)
	}
	h := page.Locks[0].Holder
	if h.Identity != "client/backup" || !strings.HasPrefix(h.Who, `client backup (label "admin root\x1b[2J")`) || h.Label != "admin root\x1b[2J" {
		t.Errorf("%+v", h)
	}
}

// greets begins or resumes a session over TLS, and returns it.
func (c *caller) greets(t *testing.T, n *Node, f session.Frame) session.Frame {
	t.Helper()
	keys, err := cert.Load(c.files, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := soon(t)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	l, err := transport.DialClient(ctx, n.Address(), transport.ClientConfig{TLS: keys.Client}, &wg)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Fail(errOut)
	f.Kind, f.Protocol, f.Number = session.Hello, session.Protocol, f.Number+1
	if err := l.Send(f.AppendTo(nil), false); err != nil {
		t.Fatal(err)
	}
	l.Flush()
	var got session.Frame
	_ = l.Run(func(b []byte) (err error) {
		if got, err = session.Parse(b); err == nil {
			err = errOut
		}
		return err
	})
	if got.Kind != session.Welcome {
		t.Fatalf("%+v", got)
	}
	return got
}

// The secret of a session is of no use to another identity.
func TestSessionOfAnother(t *testing.T) {
	dir := authority(t)
	n := start(t, 1, func(i int, c *Config) { c.TLS = certify(t, dir, c.Name) })[0]
	backup, _ := issued(t, dir, "backup", cert.Client)
	alice, _ := issued(t, dir, "alice", cert.Admin)
	w := backup.greets(t, n, session.Frame{})
	if got := alice.greets(t, n, w); got.Session == w.Session {
		t.Error("another identity resumes the session")
	}
	if got := backup.greets(t, n, w); got.Session != w.Session {
		t.Error("the session is not resumed")
	}
}
