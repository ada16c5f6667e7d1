package cert

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
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

// Keys are the certificates of a process. They are read again when their files change, which
// is checked before every handshake.
type Keys struct {
	config  Config
	report  func(error)
	revoked atomic.Pointer[Revoked]

	mu    sync.Mutex
	now   *material
	files [3]Stamp // state of the files when they were last read, even if that failed
}

// material is what was read from the files.
type material struct {
	pair  *tls.Certificate
	owner Identity
	roots *x509.CertPool
}

// A Stamp detects whether a file has changed.
type Stamp struct {
	time time.Time
	size int64
	err  bool
}

// StampOf returns the stamp of a file.
func StampOf(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{err: true}
	}
	return Stamp{time: info.ModTime(), size: info.Size()}
}

// Load reads the certificates. Later errors, after the files have changed, are passed to
// report, and the previous certificates stay in use.
func Load(c Config, report func(error)) (*Keys, error) {
	files := c.stamps()
	m, err := c.read(time.Now())
	if err != nil {
		return nil, err
	}
	return &Keys{config: c, report: report, now: m, files: files}, nil
}

// read reads all files. A certificate that no peer would accept is an error.
func (c Config) read(now time.Time) (*material, error) {
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("cannot read the authority's certificate %s: %w: create one with 'stile cert ca', and copy ca.crt to every node", c.CA, reason(err))
	}
	m := &material{roots: x509.NewCertPool()}
	if !m.roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s contains no certificate: give the ca.crt that 'stile cert ca' created", c.CA)
	}
	if m.pair, err = loadPair(c.Cert, c.Key); err != nil {
		return nil, err
	}
	leaf := m.pair.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("%s expired on %s: create a new one with 'stile cert'", c.Cert, leaf.NotAfter.Format(time.DateTime))
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("%s is not valid before %s: check the clock", c.Cert, leaf.NotBefore.Format(time.DateTime))
	}
	if m.owner, err = Of(leaf); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Cert, err)
	}
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if m.owner.Kind == IsNode {
		usages = append(usages, x509.ExtKeyUsageServerAuth)
	}
	for _, usage := range usages {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: m.roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			return nil, fmt.Errorf("%s is not signed by %s: %w: create it with 'stile cert' in the directory of that authority", c.Cert, c.CA, err)
		}
	}
	return m, nil
}

// stamps returns the stamps of all files.
func (c Config) stamps() (all [3]Stamp) {
	for i, path := range []string{c.CA, c.Cert, c.Key} {
		all[i] = StampOf(path)
	}
	return all
}

// current returns the contents of the files, or the last valid contents.
func (k *Keys) current() *material {
	k.mu.Lock()
	defer k.mu.Unlock()
	files := k.config.stamps()
	if files == k.files {
		return k.now
	}
	k.files = files // before reading them: a change in between is seen the next time
	m, err := k.config.read(time.Now())
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
		VerifyConnection:            func(s tls.ConnectionState) error { return k.verify(s.PeerCertificates) },
	}
}

// verify refuses revoked certificates.
func (k *Keys) verify(chain []*x509.Certificate) error {
	for _, c := range chain {
		if err := k.Check(Serial(c)); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error if a certificate is revoked.
func (k *Keys) Check(serial string) error { return k.revoked.Load().Check(serial) }

// Revoke replaces the list of revoked certificates. It holds for handshakes from now on.
func (k *Keys) Revoke(r *Revoked) { k.revoked.Store(r) }

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

// Client returns the configuration for dialling a host once; each dial calls it again.
func (k *Keys) Client(host string) *tls.Config {
	m := k.current()
	c := k.base(m)
	c.RootCAs, c.ServerName = m.roots, host
	return c
}
