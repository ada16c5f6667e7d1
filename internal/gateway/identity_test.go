package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// certificates makes an authority and the certificates of two nodes.
func certificates(t *testing.T) (ca, one, two cert.Config) {
	t.Helper()
	dir := t.TempDir()
	if _, err := cert.CA(cert.Order{Dir: dir, Days: 1, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	var all []cert.Config
	for _, name := range []string{"one", "two"} {
		m, err := cert.Node(cert.Order{Dir: dir, Name: name, Hosts: []string{"127.0.0.1"}, Days: 1, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cert.Config{CA: filepath.Join(dir, "ca.crt"), Cert: m.Cert, Key: m.Key})
	}
	return cert.Config{CA: all[0].CA}, all[0], all[1]
}

// as returns the API as the owner of a certificate sees it.
func (a *api) as(c cert.Config) *api {
	a.t.Helper()
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		a.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			a.t.Fatal(err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	a.t.Cleanup(t.CloseIdleConnections)
	return &api{a.t, a.g, &http.Client{Transport: t}, a.url}
}

// With TLS, callers are the owners of their certificates, and no other caller can use their sessions.
func TestTLS(t *testing.T) {
	ca, one, two := certificates(t)
	n := startNode(t, func(c *node.Config) { c.Name, c.TLS = "one", one })
	base := gateWith(t, n, Config{Listen: "127.0.0.1:0", TLS: n.Keys()})
	base.as(ca).fails(noIdentity, "Cluster/Status", nil)
	a, b := base.as(one), base.as(two)
	s := a.open(nil)
	a.call("Locks/Acquire", object{"session": s, "name": "x"})
	b.fails(noSession, "Locks/Acquire", object{"session": s, "name": "x"})
	b.fails(noSession, "Locks/Release", object{"session": s, "name": "x"})
	b.fails(noSession, "Locks/CloseSession", object{"session": s})
	a.call("Locks/CloseSession", object{"session": s})
}

// Without TLS, only this machine can connect.
func TestPlainElsewhere(t *testing.T) {
	n := startNode(t, nil)
	if g, err := New(n, Config{Listen: "0.0.0.0:0"}); err == nil {
		t.Errorf("it listens on %s", g.Address())
		_ = g.Close(context.Background())
	}
	g, err := New(n, Config{Listen: "0.0.0.0:0", Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
