package node

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
)

// A caller is a process that tries what it may do: over TLS with files, or as the HTTP
// interface does it, for an identity.
type caller struct {
	name  string
	files cert.Config
	who   *Caller // nil: over TLS
}

// issued makes the certificate of a caller.
func issued(t *testing.T, dir, name string, issue func(cert.Order) (*cert.Made, error)) (caller, *cert.Made) {
	t.Helper()
	m, err := issue(cert.Order{Dir: dir, Name: name, Hosts: []string{"127.0.0.1"}, Days: 1, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return caller{m.Kind.String() + " " + name, cert.Config{CA: filepath.Join(dir, "ca.crt"), Cert: m.Cert, Key: m.Key}, nil}, m
}

// elsewhere makes a certificate as other tools do: without a URI, for both usages.
func elsewhere(t *testing.T, dir, name string) caller {
	t.Helper()
	return caller{"client " + name, foreign(t, dir, name, nil), nil}
}

// withURI makes a certificate with a URI, for both usages.
func withURI(t *testing.T, dir, uri string) cert.Config {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return foreign(t, dir, "", []*url.URL{u})
}

// foreign makes a certificate with a common name, and with URIs.
func foreign(t *testing.T, dir, name string, uris []*url.URL) cert.Config {
	t.Helper()
	read := func(file string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := pem.Decode(b)
		return p.Bytes
	}
	ca, err := x509.ParseCertificate(read("ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := x509.ParsePKCS8PrivateKey(read("ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(77), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		URIs: uris, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := cert.Config{CA: filepath.Join(dir, "ca.crt"), Cert: filepath.Join(dir, name+".pem"), Key: filepath.Join(dir, name+".pkcs8")}
	for file, block := range map[string]*pem.Block{c.Cert: {Type: "CERTIFICATE", Bytes: der}, c.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// identified is a caller that the HTTP interface has identified.
func identified(i cert.Identity) caller {
	return caller{name: i.String(), who: &Caller{Identity: i, From: "192.0.2.1:99"}}
}

// ask asks a node something.
func (c *caller) ask(ctx context.Context, n *Node, what uint64, about string) ([]byte, error) {
	if c.who == nil {
		b, at, err := client.Query(ctx, client.Config{Nodes: []string{n.Address()}, TLS: c.files}, what, []byte(about))
		if at == "" {
			err = errOut
		}
		return b, err
	}
	return n.QueryFor(ctx, *c.who, what, []byte(about))
}

// lock acquires a lock and releases it.
func (c *caller) lock(ctx context.Context, n *Node, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var x *client.Client
	var err error
	if c.who != nil {
		x, err = n.Connect(ctx, *c.who, client.Config{Name: "own label"})
	} else if _, err = c.ask(ctx, n, 1000, ""); err == errOut { // before Dial, which would go on trying
		return err
	} else {
		x, err = client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, TLS: c.files, Name: "own label"})
	}
	if err != nil {
		return err
	}
	defer x.Close()
	l, err := x.Lock(ctx, name, lock.Options{})
	if err != nil {
		return err
	}
	return l.Unlock()
}

// errOut is the error of a caller to whom the node does not talk at all.
var errOut = errors.New("no connection")

// meeting is what a pool of an impostor is told.
type meeting chan error

func (meeting) Check(*transport.Peer) error                 { return nil }
func (m meeting) Up(string, *transport.Peer)                { m <- nil }
func (m meeting) Down(_ string, err error)                  { m <- err }
func (meeting) Message(*transport.Peer, []byte, bool) error { return nil }

// join tries to link to a node as another one.
func (c *caller) join(t *testing.T, n *Node) error {
	keys, err := cert.Load(c.files, func(error) {})
	if err != nil {
		return errOut
	}
	_, name, _ := strings.Cut(c.name, " ")
	m := make(meeting, 100)
	p, err := transport.NewPool(transport.Config{Name: name, Addr: "127.0.0.1:9", TLS: keys.Client, Extra: greeting(0, n.lastRecord())}, m)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Dial(n.Address())
	err = <-m
	var r *transport.Refused
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return fmt.Errorf("%w: %w", lock.ErrDenied, err)
	}
	return errOut
}

// An entry is a line of the audit log.
type entry struct{ Logger, Who, From, What, Lock, As, Result, Why string }

// An auditLog collects the audit log.
type auditLog struct {
	journal
}

// has waits until the audit log has a line.
func (a *auditLog) has(t *testing.T, what string, is func(e *entry) bool) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	for {
		a.mu.Lock()
		all := a.b.String()
		a.mu.Unlock()
		for line := range strings.Lines(all) {
			var e entry
			if json.Unmarshal([]byte(line), &e) == nil && e.Logger == "audit" && is(&e) {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the audit log has no line about %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// The outcomes of an attempt.
const (
	yes = "yes"
	no  = "denied"
	out = "no connection"
)

// operations are what callers try, in this order. The locks begin with "mine/" and
// "theirs/".
var operations = []string{"status", "lock mine/x", "lock theirs/x", "force-release mine/y", "force-release theirs/y", "backup", "leave", "join", "pulse", "past mine/x", "past theirs/x"}

// try tries an operation, and returns its outcome.
func (c *caller) try(t *testing.T, n *Node, op string) string {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	var err error
	what, name, _ := strings.Cut(op, " ")
	switch what {
	case "status":
		_, err = c.ask(ctx, n, AskStatus, "")
	case "lock":
		err = c.lock(ctx, n, name)
	case "force-release":
		held := acquire(t, n, name)
		_, err = c.ask(ctx, n, AskRelease, name)
		if lost := held.Unlock() != nil; lost != (err == nil) {
			t.Errorf("%s, %s: %v, but the lock is lost: %t", c.name, op, err, lost)
		}
	case "pulse":
		_, err = c.ask(ctx, n, AskPulse, "{}")
	case "past":
		_, err = c.ask(ctx, n, AskPast, `{"name":"`+name+`"}`)
	case "backup":
		_, err = c.ask(ctx, n, AskBackup, "")
	case "leave":
		_, err = c.ask(ctx, n, AskLeave, "")
	case "join":
		if c.who != nil {
			return no // it has no certificate
		}
		err = c.join(t, n)
	}
	switch {
	case err == nil:
		return yes
	case errors.Is(err, lock.ErrDenied):
		return no
	case errors.Is(err, errOut):
		return out
	}
	return err.Error()
}

// visible returns which of the two locks in use a caller sees.
func (c *caller) visible(t *testing.T, n *Node) string {
	ctx, cancel := soon(t)
	defer cancel()
	b, err := c.ask(ctx, n, AskLocks, "{}")
	if errors.Is(err, errOut) {
		return out
	}
	var page LockPage[LockInfo]
	if err != nil || json.Unmarshal(b, &page) != nil {
		return fmt.Sprintf("%s, %v", b, err)
	}
	var names []string
	for _, l := range page.Locks {
		names = append(names, l.Name)
	}
	return strings.Join(names, " ")
}

const rules = `
[[rule]]
who = "client/backup"
locks = "mine/*"
may = ["lock", "read"]

[[rule]]
who = ["client/locker", "token/ci"]
locks = "mine/*"
may = "lock"

[[rule]]
who = ["admin/alice", "token/deploy"]
locks = "*"
may = ["read", "admin"]

[[rule]]
who = "admin/bob"
locks = "mine/*"
may = ["admin"]
`

// Every identity tries every operation, over TLS or as the HTTP interface does it: with the
// default rights, and with a rights file. What is denied is audited, and so is what is
// administered.
func TestWhoMayDoWhat(t *testing.T) {
	dir, other := authority(t), authority(t)
	backup, _ := issued(t, dir, "backup", cert.Client)
	locker, _ := issued(t, dir, "locker", cert.Client)
	stranger, _ := issued(t, dir, "stranger", cert.Client)
	alice, _ := issued(t, dir, "alice", cert.Admin)
	bob, _ := issued(t, dir, "bob", cert.Admin)
	own, _ := issued(t, dir, "a", cert.Node)
	peer, _ := issued(t, dir, "peer", cert.Node)
	foreign := elsewhere(t, dir, "foreign")
	wrong, _ := issued(t, other, "backup", cert.Client)
	wrong.files.CA = backup.files.CA
	lost, serial := issued(t, dir, "lost", cert.Admin)
	plain := caller{name: "anyone"}
	ci := identified(cert.Identity{Kind: cert.IsClient, Name: "ci", Token: true})
	deploy := identified(cert.Identity{Kind: cert.IsAdmin, Name: "deploy", Token: true})
	nobody := identified(cert.Identity{})
	list, err := rights.ParseTokens("")
	for _, c := range []*caller{&ci, &deploy} {
		if err == nil {
			list, _, err = list.Create(c.who.Name, c.who.Kind, time.Now().Add(time.Hour))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	file, revoked, tokens := filepath.Join(dir, "rights.toml"), filepath.Join(dir, "revoked"), filepath.Join(dir, "tokens.toml")
	for path, text := range map[string]string{file: rules, tokens: list.Text(), revoked: "# a laptop\n" + serial.Serial + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const both = "mine/held theirs/held"
	type row struct {
		caller
		sees string
		may  []string // in the order of operations
	}
	outside := []string{out, out, out, out, out, out, out, out, out, out, out}
	nothing := []string{no, no, no, no, no, no, no, no, no, no, no}
	client := []string{yes, yes, yes, no, no, no, no, no, yes, yes, yes}
	admin := []string{yes, yes, yes, yes, yes, yes, yes, no, yes, yes, yes}
	node := []string{yes, yes, yes, no, no, no, no, yes, yes, yes, yes}
	for name, table := range map[string][]row{
		"default": {
			{backup, both, client}, {foreign, both, client}, {alice, both, admin}, {peer, both, node}, {ci, both, client}, {deploy, both, admin},
			{nobody, "", nothing}, {plain, out, outside}, {wrong, out, outside}, {lost, out, outside},
		},
		"rules": {
			{backup, "mine/held", []string{yes, yes, no, no, no, no, no, no, yes, yes, no}},
			{locker, "", []string{no, yes, no, no, no, no, no, no, no, no, no}},
			{stranger, "", nothing}, {foreign, "", nothing}, {nobody, "", nothing},
			{alice, both, []string{yes, no, no, yes, yes, yes, yes, no, yes, yes, yes}},
			{bob, "", []string{no, no, no, yes, no, no, no, no, no, no, no}},
			{ci, "", []string{no, yes, no, no, no, no, no, no, no, no, no}},
			{deploy, both, []string{yes, no, no, yes, yes, yes, yes, no, yes, yes, yes}},
			{peer, both, node}, {plain, out, outside}, {wrong, out, outside}, {lost, out, outside},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var audit auditLog
			begin := func() *Node {
				c := Config{Name: "a", Listen: "127.0.0.1:0", TLS: own.files, Revoked: revoked, Tokens: tokens, Log: audit.jsonLogger()}
				if name == "rules" {
					c.Rights = file
				}
				n := run(t, c)
				ready(t, n)
				return n
			}
			n := begin()
			acquire(t, n, "mine/held")
			acquire(t, n, "theirs/held")
			for _, r := range table {
				if got := r.visible(t, n); got != r.sees {
					t.Errorf("%s sees %q, want %q", r.name, got, r.sees)
				}
				for i, op := range operations {
					at := n
					if op == "leave" && r.may[i] == yes {
						at = begin()
					}
					if got := r.try(t, at, op); got != r.may[i] {
						t.Errorf("%s, %s: %s, want %s", r.name, op, got, r.may[i])
					}
					what, lock, _ := strings.Cut(op, " ")
					if what == "lock" && !slices.Contains(r.may, yes) {
						what, lock = "session", "" // it does not even get one
					}
					audited := r.may[i] == no && !(what == "join" && r.who != nil) || r.may[i] == yes && slices.Contains([]string{"force-release", "backup", "leave"}, what)
					if audited {
						result := map[string]string{yes: "done", no: "denied"}[r.may[i]]
						audit.has(t, r.name+", "+op, func(e *entry) bool {
							return e.Who == r.name && e.What == what && e.Lock == lock && e.Result == result && e.From != "" && (e.Why != "") == (result == "denied")
						})
					}
				}
			}
			if s := n.Status(); len(s.Members) != 1 || s.State != Member.String() {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Connections that fail in the TLS handshake are audited, with the reason, at a limited rate.
func TestFailedHandshakes(t *testing.T) {
	dir := authority(t)
	own, _ := issued(t, dir, "a", cert.Node)
	wrong, _ := issued(t, authority(t), "wrong", cert.Client)
	lost, serial := issued(t, dir, "lost", cert.Client)
	old, err := cert.Client(cert.Order{Dir: dir, Name: "old", Days: 1, Now: time.Now().Add(-48 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	revoked := filepath.Join(dir, "revoked")
	if err := os.WriteFile(revoked, []byte(serial.Serial), 0o600); err != nil {
		t.Fatal(err)
	}
	for why, files := range map[string]cert.Config{"unknown authority": wrong.files, "is revoked": lost.files, "expired": {Cert: old.Cert, Key: old.Key}} {
		var audit auditLog
		n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", TLS: own.files, Revoked: revoked, Log: audit.jsonLogger()})
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			t.Fatal(err)
		}
		c, err := tls.Dial("tcp", n.Address(), &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}})
		if err == nil {
			_, err = c.Read(make([]byte, 1)) // the client is done before the node has decided
			c.Close()
		}
		if err == nil {
			t.Errorf("%s: accepted", why)
		}
		audit.has(t, why, func(e *entry) bool {
			return e.Who == "anyone" && e.What == "connect" && e.Result == "denied" && strings.HasPrefix(e.From, "127.0.0.1:") && strings.Contains(e.Why, why)
		})
		for range 100 {
			n.DeniedHandshake("192.0.2.7:1", "flood")
		}
		n.DeniedHandshake("192.0.2.8:1", "the next address")
		audit.has(t, "another address", func(e *entry) bool { return e.Why == "the next address" })
		audit.mu.Lock()
		if lines := strings.Count(audit.b.String(), "flood"); lines != 1 {
			t.Errorf("%d lines for one address", lines)
		}
		audit.mu.Unlock()
	}
}
