package cert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// File names of certificates in their folder, and how long they are valid.
const (
	CAName   = "ca"
	CADays   = 3650
	NodeDays = 365
	MaxDays  = 36500

	day    = 24 * time.Hour
	before = time.Hour // tolerance for clocks that differ
)

// Order describes a certificate to be made.
type Order struct {
	Dir   string   // folder to write to, which also has the authority
	Name  string   // of the owner; not used for an authority
	Hosts []string // IP addresses and host names of a node
	Days  int      // days of validity
	Force bool     // replace existing files
	Now   time.Time
}

// Made describes a certificate that was made.
type Made struct {
	Name   string
	Kind   Kind   // of its owner; Anyone for an authority
	Cert   string // file of the certificate
	Key    string // file of its key
	Hosts  []string
	Until  time.Time // end of its validity
	Serial string    // as Serial returns it
}

// CA makes the authority of a cluster.
func CA(o Order) (*Made, error) {
	m, err := o.start(CAName)
	if err != nil {
		return nil, err
	}
	key, t, err := template("stile CA", o)
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	m.Until = t.NotAfter
	return m, m.sign(t, t, key, key, o.Force)
}

// Node makes the certificate of a node, signed by the authority in the folder. Nodes both
// accept and dial connections.
func Node(o Order) (*Made, error) {
	if len(o.Hosts) == 0 {
		return nil, fmt.Errorf("node %s needs a host at which others reach it: give an IP address or a name", o.Name)
	}
	return o.issue(IsNode, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
}

// Client makes the certificate of a client, signed by the authority in the folder.
func Client(o Order) (*Made, error) { return o.issue(IsClient, x509.ExtKeyUsageClientAuth) }

// Admin makes the certificate of an administrator, signed by the authority in the folder.
func Admin(o Order) (*Made, error) { return o.issue(IsAdmin, x509.ExtKeyUsageClientAuth) }

// issue makes a certificate, signed by the authority in the folder.
func (o Order) issue(kind Kind, usage ...x509.ExtKeyUsage) (*Made, error) {
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	m, err := o.start(o.Name)
	if err != nil {
		return nil, err
	}
	ca, signer, err := loadCA(o.Dir, o.Now)
	if err != nil {
		return nil, err
	}
	key, t, err := template(o.Name, o)
	if err != nil {
		return nil, err
	}
	if t.NotAfter.After(ca.NotAfter) {
		t.NotAfter = ca.NotAfter
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = usage
	t.URIs = []*url.URL{{Scheme: "stile", Host: kind.String(), Path: "/" + o.Name}}
	for _, host := range o.Hosts {
		if err := CheckHost(host); err != nil {
			return nil, err
		}
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	m.Kind, m.Hosts, m.Until = kind, o.Hosts, t.NotAfter
	return m, m.sign(t, ca, key, signer, o.Force)
}

// start names the files, and refuses to replace existing ones unless Force is set.
func (o Order) start(name string) (*Made, error) {
	m := &Made{Name: name, Cert: filepath.Join(o.Dir, name+".crt"), Key: filepath.Join(o.Dir, name+".key")}
	if o.Days < 1 || o.Days > MaxDays {
		return nil, fmt.Errorf("validity of %d days: want 1 to %d", o.Days, MaxDays)
	}
	if err := isDir(o.Dir); err != nil {
		return nil, err
	}
	if o.Force {
		return m, nil
	}
	return m, free(m.Key, m.Cert)
}

// template returns what all certificates have in common, and a new key.
func template(name string, o Order) (*ecdsa.PrivateKey, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create a serial number: %w", err)
	}
	return key, &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      pkix.Name{Organization: []string{"stile"}, CommonName: name},
		NotBefore:    o.Now.Add(-before),
		NotAfter:     o.Now.Add(time.Duration(o.Days) * day),
	}, nil
}

// sign makes the certificate and writes it with its key.
func (m *Made) sign(t, parent *x509.Certificate, key, signer *ecdsa.PrivateKey, force bool) error {
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	if err != nil {
		return fmt.Errorf("cannot sign the certificate of %s: %w", m.Name, err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("cannot encode the key of %s: %w", m.Name, err)
	}
	m.Serial = Serial(t)
	return install(force,
		output{m.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600},
		output{m.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644})
}

var (
	ownerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	hostName  = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9]([A-Za-z0-9-]{0,62}))*$`)
)

// CheckName returns what is wrong with the name of a node, a client or an administrator.
func CheckName(name string) error {
	switch {
	case !ownerName.MatchString(name):
		return fmt.Errorf("invalid name %.60q: want up to 63 letters, digits, dots, hyphens and underscores, with a letter or digit first", name)
	case strings.EqualFold(name, CAName):
		return fmt.Errorf("invalid name %s: the authority's files have that name: choose another one", name)
	}
	return nil
}

// CheckHost returns what is wrong with a host.
func CheckHost(host string) error {
	last := host[strings.LastIndex(host, ".")+1:] // if it is numeric, it is a mistyped address
	if net.ParseIP(host) == nil && (!hostName.MatchString(host) || len(host) > 253 || strings.Trim(last, "0123456789") == "") {
		return fmt.Errorf("invalid host %.60q: want an IP address such as 10.0.0.5 or a name such as db1.example.com, without a port", host)
	}
	return nil
}
