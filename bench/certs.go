package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files are the certificates that a client or a server uses.
type files struct {
	CA, Cert, Key string
}

// makeCerts makes an authority and one certificate for all servers and clients of the
// other services, and a file with both parts of it, as Java reads it.
func makeCerts(dir string) (files, error) {
	f := files{filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return f, err
	}
	ca := template(1, "race authority")
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	rawCA, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		return f, err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return f, err
	}
	one := template(2, "race")
	one.IPAddresses, one.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	one.KeyUsage = x509.KeyUsageDigitalSignature
	one.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	raw, err := x509.CreateCertificate(rand.Reader, one, ca, &own.PublicKey, key)
	if err != nil {
		return f, err
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return f, err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs})
	for path, b := range map[string][]byte{
		f.CA:                          pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rawCA}),
		f.Cert:                        cert,
		f.Key:                         private,
		filepath.Join(dir, "all.pem"): append(append([]byte{}, private...), cert...),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return f, err
		}
	}
	return f, nil
}

func template(serial int64, name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(48 * time.Hour),
	}
}

// config returns the TLS settings of a client, or nil without certificates.
func (f files) config() (*tls.Config, error) {
	if f.CA == "" {
		return nil, nil
	}
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !c.RootCAs.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s has no certificate", f.CA)
	}
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
