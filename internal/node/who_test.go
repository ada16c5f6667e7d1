package node

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
)

// A rights file of the same size and the same time is read again if its contents are others.
func TestRightsOfTheSameSize(t *testing.T) {
	file, then := filepath.Join(t.TempDir(), "rights.toml"), time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		replace(t, file, text)
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
	}
	write(rule("anyone", "x", "lock", ""))
	n := start(t, 1, func(_ int, c *Config) { c.Rights, c.check = file, often })[0]
	write(rule("anyone", "y", "lock", ""))
	eventually(t, "y may be locked", func() bool { return n.May(Caller{}, rights.Lock, "y") == nil })
}

// With --require-uri, a common name is no identity.
func TestRequireURI(t *testing.T) {
	dir := authority(t)
	own, _ := issued(t, dir, "a", cert.Node)
	backup, _ := issued(t, dir, "backup", cert.Client)
	plain := elsewhere(t, dir, "plain")
	ctx, cancel := soon(t)
	defer cancel()
	for _, require := range []bool{false, true} {
		var audit auditLog
		n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", TLS: own.files, RequireURI: require, Log: audit.jsonLogger()})
		ready(t, n)
		if _, err := backup.ask(ctx, n, AskStatus, ""); err != nil {
			t.Error(err)
		}
		_, err := plain.ask(ctx, n, AskStatus, "")
		if (err != nil) != require {
			t.Errorf("required: %t: %v", require, err)
		}
		if require {
			audit.has(t, "the refusal", func(e *entry) bool { return e.What == "connect" && e.Result == "denied" && e.Why != "" })
		}
	}
}

// A connection ends when the rights file gives its certificate to another identity.
func TestIdentityIsTakenBack(t *testing.T) {
	dir := authority(t)
	file := filepath.Join(dir, "rights.toml")
	all := rule("client/*", "*", "lock", "")
	replace(t, file, all)
	var audit auditLog
	n := start(t, 1, func(_ int, c *Config) {
		c.TLS, c.Rights, c.check, c.Log = certify(t, dir, c.Name), file, often, audit.jsonLogger()
	})[0]
	web := withURI(t, dir, "spiffe://example.org/ns/prod/sa/web")
	mapped := func(is string) string {
		return all + "[[identity]]\nspiffe = 'spiffe://example.org/ns/*/sa/web'\nis = 'client/" + is + "'\n"
	}
	replace(t, file, mapped("web"))
	ctx, cancel := soon(t)
	defer cancel()
	var x *client.Client
	eventually(t, "a session", func() bool {
		var err error
		x, err = client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, TLS: web, Once: true})
		return err == nil
	})
	defer x.Kill()
	replace(t, file, mapped("other"))
	audit.has(t, "the end of the connection", func(e *entry) bool {
		return e.Who == "client web" && e.What == "stay connected" && e.Result == "denied"
	})
}

// A process with the certificate of a client, which the authority allows to be a server, plays a
// node to no client.
func TestImpostor(t *testing.T) {
	dir := authority(t)
	backup, _ := issued(t, dir, "backup", cert.Client)
	mallory := withURI(t, dir, "stile://client/mallory")
	pair, err := tls.LoadX509KeyPair(mallory.Cert, mallory.Key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{transport.ClientProto}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).Handshake()
			c.Close()
		}
	}()
	ctx, cancel := soon(t)
	defer cancel()
	c := client.Config{Nodes: []string{l.Addr().String()}, TLS: backup.files, Once: true}
	x, err := client.Dial(ctx, c)
	if err == nil {
		x.Kill()
	}
	_, _, asked := client.Query(ctx, c, AskStatus, nil)
	for _, err := range []error{err, asked} {
		if err == nil || !strings.Contains(err.Error(), "that of client mallory, not that of a node") {
			t.Error(err)
		}
	}
}

// A node asks no node whose certificate is revoked, as a client of it either.
func TestRevokedNodesAreNotAsked(t *testing.T) {
	dir := authority(t)
	list := filepath.Join(dir, "revoked")
	replace(t, list, "")
	all := start(t, 2, func(i int, c *Config) {
		if c.TLS = certify(t, dir, c.Name); i == 0 {
			c.Revoked, c.check = list, often
		}
	})
	ctx, cancel := soon(t)
	defer cancel()
	ask := func() error {
		var s Status
		return all[0].AskAt(ctx, all[1].Address(), AskStatus, nil, &s)
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	made, err := cert.Show(filepath.Join(dir, "b.crt"))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, list, made.Serial+"\n")
	eventually(t, "b is not asked", func() bool {
		err := ask()
		return err != nil && strings.Contains(err.Error(), "revoked")
	})
}
