package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
)

// journalled returns a log that goes to a journal.
func journalled(j *journal) *slog.Logger { return slog.New(slog.NewJSONHandler(j, nil)) }

// leaf returns a certificate.
func leaf(t testing.TB, c cert.Config) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

// twoOwners makes a certificate that names two owners.
func twoOwners(t testing.TB, dir string) cert.Config {
	t.Helper()
	ca, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "two"}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		URIs: []*url.URL{{Scheme: "stile", Host: "client", Path: "/ann"}, {Scheme: "stile", Host: "admin", Path: "/bob"}},
	}
	der, err := x509.CreateCertificate(rand.Reader, x, ca.Leaf, &key.PublicKey, ca.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := cert.Config{CA: filepath.Join(dir, "ca.crt"), Cert: filepath.Join(dir, "two.crt"), Key: filepath.Join(dir, "two.key")}
	for path, b := range map[string]*pem.Block{c.Cert: {Type: "CERTIFICATE", Bytes: der}, c.Key: {Type: "PRIVATE KEY", Bytes: bytes}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
