package cert

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Config names the certificate files of a process.
type Config struct {
	CA   string // certificate of the authority
	Cert string // certificate of the process
	Key  string // key of the process
}

// Given reports whether there are certificates to use. It is an error if only some of the
// files are named.
func (c Config) Given() (bool, error) {
	switch {
	case c == Config{}:
		return false, nil
	case c.CA == "" || c.Cert == "" || c.Key == "":
		return false, errors.New("TLS needs three files: the authority's certificate, the process's certificate, and its key: give all three or none")
	}
	return true, nil
}

// Keys are the certificates of a process. They are read again before every handshake, and used
// if their contents have changed.
type Keys struct {
	config  Config
	report  func(error)
	revoked atomic.Pointer[Revoked]

	mu    sync.Mutex
	now   *material
	files stamps // of the contents that were read last, even if they are not used
}

// stamps are those of all files.
type stamps [3]Stamp

// material is what was read from the files.
type material struct {
	pair        *tls.Certificate
	owner       Identity
	roots       *x509.CertPool
	authorities []*x509.Certificate // which may sign lists of revoked certificates
}

// Load reads the certificates. Later errors, after the files have changed, are passed to
// report, and the previous certificates stay in use.
func Load(c Config, report func(error)) (*Keys, error) {
	f := c.read()
	m, err := f.parse(time.Now())
	if err != nil {
		return nil, err
	}
	return &Keys{config: c, report: report, now: m, files: f.stamps}, nil
}

// contents are those of all files, or why they cannot be read.
type contents struct {
	Config
	ca, cert, key []byte
	errs          [3]error
	stamps        stamps
}

// read reads all files.
func (c Config) read() *contents {
	f := &contents{Config: c}
	f.ca, f.stamps[0], f.errs[0] = ReadStamped(c.CA)
	f.cert, f.stamps[1], f.errs[1] = ReadStamped(c.Cert)
	f.key, f.stamps[2], f.errs[2] = ReadStamped(c.Key)
	return f
}

// parse returns what the files contain. A certificate that no peer would accept is an error.
func (f *contents) parse(now time.Time) (*material, error) {
	switch {
	case f.errs[0] != nil:
		return nil, fmt.Errorf("cannot read the authority's certificate %s: %w: create one with 'stile cert ca', and copy ca.crt to every node", f.CA, reason(f.errs[0]))
	case f.errs[1] != nil:
		return nil, noCert(f.Cert, f.errs[1])
	case f.errs[2] != nil:
		return nil, noKey(f.Key, f.errs[2])
	}
	m, err := &material{roots: x509.NewCertPool()}, error(nil)
	if !m.roots.AppendCertsFromPEM(f.ca) {
		return nil, fmt.Errorf("%s contains no certificate: give the ca.crt that 'stile cert ca' created", f.CA)
	}
	if m.pair, err = pairOf(f.Cert, f.Key, f.cert, f.key); err != nil {
		return nil, err
	}
	leaf := m.pair.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("%s expired on %s: create a new one with 'stile cert'", f.Cert, leaf.NotAfter.Format(time.DateTime))
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("%s is not valid before %s: check the clock", f.Cert, leaf.NotBefore.Format(time.DateTime))
	}
	if m.owner, err = ownerOf(leaf); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Cert, err)
	}
	m.authorities = append(certificates(f.ca), certificates(f.cert)[1:]...)
	return m, f.verify(m, now)
}

// verify returns an error if others would not accept the certificate with the chain in its file.
func (f *contents) verify(m *material, now time.Time) error {
	between := x509.NewCertPool()
	for _, c := range m.authorities {
		between.AddCert(c)
	}
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if m.owner.Kind == IsNode {
		usages = append(usages, x509.ExtKeyUsageServerAuth)
	}
	for _, usage := range usages {
		o := x509.VerifyOptions{Roots: m.roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}}
		if _, err := m.pair.Leaf.Verify(o); err != nil {
			return fmt.Errorf("%s is not signed by %s: %w: create it with 'stile cert' in the directory of that authority, or append the certificates of the authorities in between to it", f.Cert, f.CA, err)
		}
	}
	return nil
}

// certificates returns the certificates in a file in PEM form, without those that cannot be
// parsed.
func certificates(text []byte) (all []*x509.Certificate) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			all = append(all, c)
		}
	}
	return all
}

// current returns the contents of the files, or the last valid contents.
func (k *Keys) current() *material {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.config.read()
	if f.stamps == k.files {
		return k.now
	}
	k.files = f.stamps
	m, err := f.parse(time.Now())
	if err == nil && m.owner != k.now.owner {
		err = fmt.Errorf("%s was the certificate of %v, and is now that of %v: restart the process to use it", k.config.Cert, k.now.owner, m.owner)
	}
	if err != nil {
		k.report(fmt.Errorf("the changed certificates cannot be used, so the previous ones stay in use: %w", err))
		return k.now
	}
	k.now = m
	return m
}

// base is the configuration common to both roles. There are no session tickets: links are
// few and live long, and each new one must be judged by the certificates valid at that
// time.
func (k *Keys) base(m *material) *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{*m.pair},
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
		VerifyConnection:            k.verify,
	}
}

// verify refuses certificates that are revoked, or signed by an authority that is.
func (k *Keys) verify(s tls.ConnectionState) error {
	for _, chain := range s.VerifiedChains {
		if err := k.Check(chain...); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error if one of some certificates is revoked.
func (k *Keys) Check(chain ...*x509.Certificate) error {
	r := k.revoked.Load()
	for _, c := range chain {
		if err := r.Check(c); err != nil {
			return err
		}
	}
	return nil
}

// Revoke replaces the list of revoked certificates. It holds for handshakes from now on.
func (k *Keys) Revoke(r *Revoked) { k.revoked.Store(r) }

// ParseRevoked is ParseRevoked with the authorities of these certificates.
func (k *Keys) ParseRevoked(text string) (*Revoked, error) {
	return ParseRevoked(text, k.current().authorities)
}

// Fits returns why a node of this name may not use these certificates.
func (k *Keys) Fits(name string) error {
	if err := Fits(k.current().pair.Leaf, name); err != nil {
		return fmt.Errorf("%s: %w", k.config.Cert, err)
	}
	return nil
}

// Server returns the configuration for accepting connections. A peer that dials must have a
// certificate.
func (k *Keys) Server() *tls.Config {
	c := k.server()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.server(), nil }
	return c
}

// HTTP returns the configuration for accepting HTTP connections. A client may identify
// itself in another way than by a certificate, but one that it gives must be valid.
func (k *Keys) HTTP() *tls.Config {
	choose := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		c := k.server()
		c.ClientAuth, c.NextProtos = tls.VerifyClientCertIfGiven, []string{"h2", "http/1.1"}
		return c, nil
	}
	c, _ := choose(nil)
	c.GetConfigForClient = choose
	return c
}

func (k *Keys) server() *tls.Config {
	m := k.current()
	c := k.base(m)
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, m.roots
	return c
}

// Client returns the configuration for dialling a host once; each dial calls it again. Only a
// node may be there: the authority may have given certificates for servers to others, too.
func (k *Keys) Client(host string) *tls.Config {
	m := k.current()
	c := k.base(m)
	c.RootCAs, c.ServerName = m.roots, host
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if err := isNode(s.PeerCertificates[0]); err != nil {
			return err
		}
		return k.verify(s)
	}
	return c
}
