package cert

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Config names the certificate files of a node.
type Config struct {
	CA   string // certificate of the authority
	Cert string // certificate of the node
	Key  string // key of the node
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

// Keys are the certificates of a node. They are read again when their files change, which
// is checked before every handshake.
type Keys struct {
	config Config
	report func(error)

	mu    sync.Mutex
	now   *material
	files [3]stamp // state of the files when they were last read, even if that failed
}

// material is what was read from the files.
type material struct {
	pair  *tls.Certificate
	roots *x509.CertPool
}

// A stamp detects whether a file has changed.
type stamp struct {
	time time.Time
	size int64
	err  bool
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
		return nil, fmt.Errorf("%s expired on %s: create a new one with 'stile cert node'", c.Cert, leaf.NotAfter.Format(time.DateTime))
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("%s is not valid before %s: check the clock", c.Cert, leaf.NotBefore.Format(time.DateTime))
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: m.roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			return nil, fmt.Errorf("%s is not signed by %s: %w: create it with 'stile cert node' in the directory of that authority", c.Cert, c.CA, err)
		}
	}
	return m, nil
}

// stamps returns the stamps of all files.
func (c Config) stamps() (all [3]stamp) {
	for i, path := range []string{c.CA, c.Cert, c.Key} {
		info, err := os.Stat(path)
		if err != nil {
			all[i].err = true
			continue
		}
		all[i] = stamp{time: info.ModTime(), size: info.Size()}
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
func (m *material) base() *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{*m.pair},
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
	}
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
	c := m.base()
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, m.roots
	return c
}

// Client returns the configuration for dialling a host once; each dial calls it again.
func (k *Keys) Client(host string) *tls.Config {
	m := k.current()
	c := m.base()
	c.RootCAs, c.ServerName = m.roots, host
	return c
}
