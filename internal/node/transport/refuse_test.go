package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
)

// logs waits until a node has logged something.
func logs(t *testing.T, n *node, what string) {
	t.Helper()
	eventually(t, "the log says "+what, func() bool { return strings.Contains(n.log.String(), what) })
}

// Another cluster is refused by either side, and both log it.
func TestOtherCluster(t *testing.T) {
	other := func(text string) func(p *plan) {
		return func(p *plan) { p.owner.check = func(*Peer) error { return errors.New(text) } }
	}
	t.Run("acceptor", func(t *testing.T) {
		a, b := newNode(t, "a"), newNode(t, "b", other("cluster 12 is not 14"))
		a.pool.Dial(b.addr)
		err := take(t, "refusal", a.downs)
		var r *Refused
		if !errors.As(err, &r) {
			t.Errorf("it is no refusal: %v", err)
		}
		says(t, err, "refused by b ("+b.addr+"): cluster 12 is not 14")
		logs(t, a, "cluster 12 is not 14")
		logs(t, b, "cluster 12 is not 14")
	})
	t.Run("dialler", func(t *testing.T) {
		a, b := newNode(t, "a", other("cluster 14 is not 12")), newNode(t, "b")
		a.pool.Dial(b.addr)
		says(t, take(t, "refusal", a.downs), "cluster 14 is not 12")
		logs(t, b, "refused by a (")
		logs(t, b, "cluster 14 is not 12")
		if len(b.ups) > 0 {
			t.Error("b was linked to who did not want it")
		}
	})
}

// Nodes without a version in common say so, on both sides.
func TestOtherVersion(t *testing.T) {
	newer := func(p *plan) { p.config.min, p.config.max = 3, 4 }
	for _, dialler := range []string{"older", "newer"} {
		a, b := newNode(t, "a"), newNode(t, "b", newer)
		if dialler == "newer" {
			a, b = b, a
		}
		a.pool.Dial(b.addr)
		take(t, "refusal", a.downs)
		for _, n := range []*node{a, b} {
			logs(t, n, "upgrade the older node")
			logs(t, n, "1 to 1")
			logs(t, n, "3 to 4")
		}
	}
	a, b := newNode(t, "a", func(p *plan) { p.config.max = 7 }), newNode(t, "b", func(p *plan) { p.config.max = 9 })
	a.pool.Dial(b.addr)
	if p := take(t, "link", a.ups); p.Version != 7 {
		t.Errorf("version %d, where 7 is the highest that both speak", p.Version)
	}
	if p := take(t, "link", b.ups); p.Version != 7 {
		t.Errorf("version %d there", p.Version)
	}
}

// A node cannot link to itself, nor have the address of another.
func TestOwnAddress(t *testing.T) {
	a := newNode(t, "a")
	a.pool.Dial(a.addr)
	says(t, take(t, "refusal", a.downs), "this node itself")
	b := newNode(t, "b")
	link(t, a, b)
	thief := newNode(t, "c", func(p *plan) { p.config.Addr = b.addr })
	thief.pool.Dial(a.addr)
	says(t, take(t, "refusal", thief.downs), "node c claims the address "+b.addr)
	if err := a.say(b.addr, "you"); err != nil {
		t.Fatal(err)
	}
	take(t, "message", b.got)
}

// A node can have only the name of its certificate.
func TestOtherName(t *testing.T) {
	ca := newAuthority(t)
	a, b := newNode(t, "a", ca.keyed(t, "a")), newNode(t, "b", ca.keyed(t, "x"))
	b.pool.Dial(a.addr)
	says(t, take(t, "refusal", b.downs), "node b has the certificate of node x")
	logs(t, a, "certificate of node x")
	a.pool.Dial(b.addr)
	says(t, take(t, "refusal", a.downs), "certificate of node x")
}

// A client or an administrator is not a node, whichever side dials.
func TestNotANode(t *testing.T) {
	ca := newAuthority(t)
	a := newNode(t, "a", ca.keyed(t, "a"))
	for kind, issue := range map[string]func(cert.Order) (*cert.Made, error){"client": cert.Client, "admin": cert.Admin} {
		m, err := issue(cert.Order{Dir: ca.dir, Name: kind, Hosts: []string{"127.0.0.1"}, Days: 1, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		k, err := cert.Load(cert.Config{CA: filepath.Join(ca.dir, "ca.crt"), Cert: m.Cert, Key: m.Key}, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		b := newNode(t, kind, func(p *plan) { p.keys = k })
		b.pool.Dial(a.addr)
		says(t, take(t, "refusal", b.downs), "certificate of "+kind)
		logs(t, a, "certificate of "+kind)
		a.pool.Dial(b.addr)
		says(t, take(t, "refusal", a.downs), "usage")
	}
}

// A link ends if its certificate is revoked, and the other links go on.
func TestRecheck(t *testing.T) {
	ca := newAuthority(t)
	a, b, c := newNode(t, "a", ca.keyed(t, "a")), newNode(t, "b", ca.keyed(t, "b")), newNode(t, "c", ca.keyed(t, "c"))
	link(t, a, b)
	link(t, a, c)
	gone := errors.New("revoked a moment ago")
	a.pool.Recheck(func(x *x509.Certificate) error {
		if cert.Fits(x, "b") == nil {
			return gone
		}
		return nil
	})
	says(t, take(t, "end of the link", a.downs), gone.Error())
	if err := a.say(c.addr, "you"); err != nil {
		t.Fatal(err)
	}
	take(t, "message", c.got)
}

// Certificates of another authority, of other hosts, and of before are refused.
func TestOtherCertificates(t *testing.T) {
	ca, foreign := newAuthority(t), newAuthority(t)
	good := newNode(t, "a", ca.keyed(t, "a"))

	other := newNode(t, "b", foreign.keyed(t, "b"))
	other.pool.Dial(good.addr)
	says(t, take(t, "refusal", other.downs), "another authority")
	good.pool.Dial(other.addr)
	says(t, take(t, "refusal", good.downs), "another authority")

	// One that trusts the node, but is not trusted by it.
	believer := foreign.node(t, "c", nil)
	roots, err := os.ReadFile(filepath.Join(ca.dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(believer.CA)
	if err != nil {
		t.Fatal(err)
	}
	believer.CA = filepath.Join(t.TempDir(), "both.crt")
	if err := os.WriteFile(believer.CA, append(roots, own...), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := cert.Load(believer, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	c := newNode(t, "c", func(p *plan) { p.keys = k })
	c.pool.Dial(good.addr)
	says(t, take(t, "refusal", c.downs), "refused the certificate")
	logs(t, good, "TLS handshake")

	elsewhere := ca.node(t, "d", func(o *cert.Order) { o.Hosts = []string{"10.9.8.7"} })
	if k, err = cert.Load(elsewhere, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	d := newNode(t, "d", func(p *plan) { p.keys = k })
	good.pool.Dial(d.addr)
	says(t, take(t, "refusal", good.downs), "is for other hosts")
}

// A certificate that has expired is refused though its node still uses it.
func TestExpiredCertificate(t *testing.T) {
	ca := newAuthority(t)
	good := newNode(t, "a", ca.keyed(t, "a"))
	files := ca.node(t, "old", func(o *cert.Order) { o.Now = time.Now().Add(-30 * time.Hour) })
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	k := ca.load(t, "b")
	old := newNode(t, "old", func(p *plan) {
		p.mux.TLS, p.config.TLS = k.Server(), func(host string) *tls.Config {
			c := k.Client(host)
			c.Certificates = []tls.Certificate{pair}
			return c
		}
		p.mux.TLS.GetConfigForClient = nil
		p.mux.TLS.Certificates = []tls.Certificate{pair}
	})
	good.pool.Dial(old.addr)
	says(t, take(t, "refusal", good.downs), "expired")
	old.pool.Dial(good.addr)
	says(t, take(t, "refusal", old.downs), "expired certificate")
	logs(t, good, "expired")
}

// A connection without TLS, or with an unknown protocol, gets an error.
func TestOtherProtocols(t *testing.T) {
	ca := newAuthority(t)
	plain, secure := newNode(t, "a"), newNode(t, "b", ca.keyed(t, "b"))
	plain.pool.Dial(secure.addr)
	take(t, "refusal", plain.downs)
	logs(t, secure, "TLS handshake")
	secure.pool.Dial(plain.addr)
	take(t, "refusal", secure.downs)
	logs(t, plain, "uses TLS")

	k := ca.load(t, "c")
	for _, protos := range [][]string{nil, {"http/1.1"}, {"stile-peer/99"}} {
		config := k.Client("127.0.0.1")
		config.NextProtos = protos
		c, err := tls.Dial("tcp", secure.addr, config)
		if err == nil {
			c.SetDeadline(time.Now().Add(safety))
			if _, err = c.Read(make([]byte, 1)); err == nil {
				t.Errorf("%q is spoken", protos)
			}
			c.Close()
		}
	}
	logs(t, secure, "protocol http/1.1")
}

// Nothing is sent over a network where others can listen, unless that is meant.
func TestInsecure(t *testing.T) {
	if _, err := Listen("0.0.0.0:0", MuxConfig{}); err == nil || !strings.Contains(err.Error(), "--insecure") {
		t.Errorf("everybody may listen: %v", err)
	}
	m, err := Listen("0.0.0.0:0", MuxConfig{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if _, err := Listen("256.0.0.1:0", MuxConfig{}); err == nil {
		t.Error("there is such an address")
	}
	p := &Pool{c: Config{Timeout: time.Second}}
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	_, err = p.secure(t.Context(), elsewhere{near}, "10.0.0.5:7420")
	says(t, err, "--insecure")
	p.c.Insecure = true
	if _, err = p.secure(t.Context(), elsewhere{near}, "10.0.0.5:7420"); err != nil {
		t.Error(err)
	}
}

// elsewhere is a connection to another machine.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 7420} }

// A refusal that is long, or not for screens, is cut to what can be shown.
func TestLongRefusal(t *testing.T) {
	a := newNode(t, "a")
	b := newNode(t, "b", func(p *plan) {
		p.owner.check = func(*Peer) error { return fmt.Errorf("\x1b[2J%s", strings.Repeat("no ", 10_000)) }
	})
	a.pool.Dial(b.addr)
	if text := take(t, "refusal", a.downs).Error(); len(text) > 2*maxReason || strings.Contains(text, "\x1b") {
		t.Errorf("%d bytes: %.60q", len(text), text)
	}
}
