package page

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"

	"github.com/stile-lock/stile"
)

// cert is a file of a certificate or key.
func (l *live) cert(file string) string { return filepath.Join(l.certs, file) }

// origin is the origin of the console of a node.
func (l *live) origin(i int) string {
	if l.certs != "" {
		return "https://" + l.http[i]
	}
	return "http://" + l.http[i]
}

// browser calls nodes as a browser does that trusts their certificates.
func (l *live) browser() *http.Client {
	if l.certs == "" {
		return http.DefaultClient
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

// secure makes the nodes talk over TLS.
func (l *live) secure() {
	l.t.Helper()
	l.certs = l.t.TempDir()
	l.run("cert", "ca", "--dir", l.certs)
	for i := range l.nodes {
		l.run("cert", "node", string(rune('a'+i)), "--host", "127.0.0.1", "--dir", l.certs)
	}
}

// named dials a node with a certificate that the authority has given to a client of any common
// name: 'stile cert' refuses those that are not plain, but others may make certificates.
func (l *live) named(name, label string) *stile.Client {
	l.t.Helper()
	ca, err := tls.LoadX509KeyPair(l.cert("ca.crt"), l.cert("ca.key"))
	if err != nil {
		l.t.Fatal(err)
	}
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, ca.Leaf, ca.Leaf.PublicKey, ca.PrivateKey) // it has the key of the authority
	if err != nil {
		l.t.Fatal(err)
	}
	file := l.cert("named.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		l.t.Fatal(err)
	}
	d, err := stile.Dial(l.t.Context(), stile.DialConfig{Nodes: l.listen, Name: label, TLS: stile.Certificates{CA: l.cert("ca.crt"), Cert: file, Key: l.cert("ca.key")}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = d.Close() })
	return d
}

// The name of a certificate and the label of a client that look like markup are text on all
// pages, also where they come from other nodes, over TLS.
func TestLiveNames(t *testing.T) {
	t.Parallel()
	l := prepared(t, "raymond")
	l.secure()
	token := l.grants(grant{"reader", "*", false})[0]
	for i := range l.nodes {
		l.start(i)
	}
	c := l.named(markup, markup)
	if err := l.lock(c, "job").SetValue(markup); err != nil {
		t.Fatal(err)
	}
	l.wait(c, "job")

	p := open(t, "about:blank")
	p.refused = true // until it bears the token
	if _, err := chromedp.Call(p.ctx, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}); err != nil {
		t.Fatal(err)
	}
	p.goes(l.console(1, "#lock/job"))
	p.see(".identify")
	p.bears(token)
	for _, view := range []struct{ hash, shown string }{
		{"#lock/job", ".holder header"}, {"#lock/job", ".queue-who"}, {"#locks", ".list td"}, {"#graph", ".vertex"}, {"#graph", ".waits td"}, {"#elections", ".list td"},
	} {
		p.goes(l.console(1, view.hash))
		for _, what := range []string{"client/" + markup, markup} {
			p.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => [...e.querySelectorAll(".name-text")].some((n) => n.textContent === %q))`, view.shown, what))
		}
		if n := eval[int](p, `document.querySelectorAll("#app img, #app script").length`); n != 0 {
			t.Errorf("%s: %d elements were made of names", view.hash, n)
		}
	}
}
