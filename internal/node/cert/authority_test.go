package cert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An authority issues certificates as tools other than 'stile cert' do.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // its own certificate, then those of the authorities above it, without the root
}

// newAuthority makes an authority, below another one unless that is nil.
func newAuthority(t *testing.T, name string, above *authority) *authority {
	t.Helper()
	a := &authority{t: t}
	c := x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	a.cert, a.key, a.pem = signed(t, &c, above)
	return a
}

// signed makes a certificate and its key, and the chain to be presented with it.
func signed(t *testing.T, c *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	x, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if by != nil {
		chain = append(chain, by.pem...)
	}
	return x, key, chain
}

// certificate makes a certificate with these URIs, byte for byte.
func (a *authority) certificate(common string, uris ...string) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	a.t.Helper()
	names := []asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: 7, Bytes: net.IPv4(127, 0, 0, 1).To4()}}
	for _, u := range uris {
		names = append(names, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tagURI, Bytes: []byte(u)})
	}
	alternatives, err := asn1.Marshal(names)
	if err != nil {
		a.t.Fatal(err)
	}
	return signed(a.t, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: common}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		ExtraExtensions: []pkix.Extension{{Id: subjectAltName, Value: alternatives}},
	}, a)
}

// files writes the certificate of an owner, with its key and its chain; root is the file of
// authorities to trust.
func (a *authority) files(dir, uri string, root *authority) (Config, *x509.Certificate) {
	a.t.Helper()
	leaf, key, chain := a.certificate("", uri)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	c := Config{CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "own.pem"), Key: filepath.Join(dir, "own.key")}
	write(a.t, c.CA, root.pem)
	write(a.t, c.Cert, chain)
	write(a.t, c.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return c, leaf
}

// load loads such files.
func (a *authority) load(uri string, root *authority) (*Keys, *x509.Certificate) {
	a.t.Helper()
	c, leaf := a.files(a.t.TempDir(), uri, root)
	k, err := Load(c, func(err error) { a.t.Error(err) })
	if err != nil {
		a.t.Fatal(err)
	}
	return k, leaf
}

// revoke makes a list of revoked certificates.
func (a *authority) revoke(change func(*x509.RevocationList), all ...*x509.Certificate) []byte {
	a.t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Minute), NextUpdate: time.Now().Add(time.Hour)}
	for _, c := range all {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: time.Now()})
	}
	if change != nil {
		change(l)
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, a.cert, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return der
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
