package cert

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func says(t *testing.T, err error, what string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), what) {
		t.Errorf("the error is %v, want it to say %q", err, what)
	}
}

// made makes an authority and a node in a folder; change may be nil.
func made(t *testing.T, dir string, change func(o *Order)) Config {
	t.Helper()
	o := Order{Dir: dir, Name: "db1", Hosts: []string{"127.0.0.1", "db1.example.com"}, Days: 30, Now: time.Now()}
	if change != nil {
		change(&o)
	}
	if _, err := os.Stat(filepath.Join(dir, "ca.crt")); err != nil {
		if _, err := CA(Order{Dir: dir, Days: CADays, Now: o.Now}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Node(o)
	if err != nil {
		t.Fatal(err)
	}
	return Config{CA: filepath.Join(dir, "ca.crt"), Cert: m.Cert, Key: m.Key}
}

func parse(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	pair, err := loadPair(path, strings.TrimSuffix(path, ".crt")+".key")
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestMade(t *testing.T) {
	dir := t.TempDir()
	c := made(t, dir, nil)
	ca, leaf := parse(t, c.CA), parse(t, c.Cert)
	if !ca.IsCA || ca.NotAfter.Before(time.Now().AddDate(9, 11, 0)) || leaf.IsCA {
		t.Errorf("the authority is valid until %v, and is one: %t; the node is one: %t", ca.NotAfter, ca.IsCA, leaf.IsCA)
	}
	for _, host := range []string{"127.0.0.1", "db1.example.com"} {
		if err := leaf.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	if err := leaf.VerifyHostname("db2.example.com"); err == nil {
		t.Error("it is valid for any host")
	}
	for _, name := range []string{"ca.key", "db1.key", "ca.crt", "db1.crt"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want := os.FileMode(0o644)
		if strings.HasSuffix(name, ".key") {
			want = 0o600
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("left behind: %v", left)
	}
	// A node is not valid for longer than its authority.
	young := t.TempDir()
	if _, err := CA(Order{Dir: young, Days: 3, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	c = made(t, young, func(o *Order) { o.Days = 300 })
	if ca, leaf := parse(t, c.CA), parse(t, c.Cert); !leaf.NotAfter.Equal(ca.NotAfter) {
		t.Errorf("the node is valid until %v, the authority until %v", leaf.NotAfter, ca.NotAfter)
	}
}

func TestBadOrders(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	good := Order{Dir: dir, Name: "db1", Hosts: []string{"db1"}, Days: 1, Now: now}
	_, err := Node(good)
	says(t, err, "'stile cert ca'")
	made(t, dir, nil)
	for want, change := range map[string]func(o *Order){
		"--force":         func(*Order) {},
		"needs a host":    func(o *Order) { o.Name, o.Hosts = "x", nil },
		"host \"a b\"":    func(o *Order) { o.Name, o.Hosts = "x", []string{"a b"} },
		"name \"a/b":      func(o *Order) { o.Name = "a/b" },
		"name \".x":       func(o *Order) { o.Name = ".x" },
		"name CA":         func(o *Order) { o.Name = "CA" },
		"want 1 to 36500": func(o *Order) { o.Name, o.Days = "x", 0 },
		"no directory":    func(o *Order) { o.Dir = filepath.Join(dir, "none") },
		"is a file":       func(o *Order) { o.Dir = filepath.Join(dir, "ca.crt") },
		"expired on":      func(o *Order) { o.Name, o.Now = "x", now.AddDate(20, 0, 0) },
	} {
		o := good
		change(&o)
		_, err := Node(o)
		says(t, err, want)
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("left behind: %v", left)
	}
	// A node cannot sign.
	other := t.TempDir()
	for from, to := range map[string]string{"db1.crt": "ca.crt", "db1.key": "ca.key"} {
		data, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, to), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good.Dir = other
	_, err = Node(good)
	says(t, err, filepath.Join(other, "ca.crt"))
}

// A file that appeared meanwhile stays, and files placed before it are removed.
func TestInstallIsAllOrNone(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := os.WriteFile(two, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, install(false, output{one, []byte("x"), 0o600}, output{two, []byte("x"), 0o600}), two)
	if data, _ := os.ReadFile(two); string(data) != "precious" {
		t.Errorf("it is %q now", data)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := install(true, output{one, []byte("x"), 0o600}, output{two, []byte("y"), 0o600}); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(two); string(data) != "y" {
		t.Errorf("it is %q, though it was meant", data)
	}
	says(t, install(false, output{filepath.Join(dir, "no", "x"), nil, 0o600}), "cannot write "+filepath.Join(dir, "no", "x"))
}

// Only the certificate of a node fits a node, and only under its own name.
func TestFits(t *testing.T) {
	dir := t.TempDir()
	c := parse(t, made(t, dir, nil).Cert)
	if err := Fits(c, "db1"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "db2", "db1.example.com", "127.0.0.1", "/db1", "node/db1"} {
		says(t, Fits(c, name), "certificate of node db1")
	}
	for kind, issue := range map[string]func(Order) (*Made, error){"client": Client, "admin": Admin} {
		m, err := issue(Order{Dir: dir, Name: kind + "1", Days: 30, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		says(t, Fits(parse(t, m.Cert), kind+"1"), "certificate of "+kind+" "+kind+"1")
	}
	foreign := &x509.Certificate{DNSNames: []string{"db7"}, Subject: pkix.Name{CommonName: "seven"}}
	for _, name := range []string{"db7", "seven", ""} {
		says(t, Fits(foreign, name), "certificate of client seven")
	}
	if Fits(&x509.Certificate{}, "") == nil {
		t.Error("no name fits no name")
	}
}

func TestParsePath(t *testing.T) {
	for _, i := range []Identity{{IsNode, "db1", false}, {IsClient, "a/b", false}, {IsAdmin, "alice", false}, {IsClient, "ci", true}} {
		if got, err := ParsePath(i.Path()); got != i || err != nil {
			t.Errorf("%s: %+v, %v", i.Path(), got, err)
		}
	}
	for _, path := range []string{"", "client", "client/", "/x", "anyone/x", "Client/x"} {
		if got, err := ParsePath(path); err == nil {
			t.Errorf("%q: %+v", path, got)
		}
	}
}

// What a certificate says of its owner.
func TestOf(t *testing.T) {
	root := newAuthority(t, "root", nil)
	for text, want := range map[string]Identity{
		"stile://node/db1":      {Kind: IsNode, Name: "db1"},
		"stile://client/backup": {Kind: IsClient, Name: "backup"},
		"stile://admin/alice":   {Kind: IsAdmin, Name: "alice"},
		"spiffe://x/y":          {Kind: IsClient, Name: "common"},
		"stile://anyone/x":      {},
		"stile://token/x":       {},
		"stile://client/":       {},
		"stile://client/a/b":    {},
		"stile://client/a%00":   {},
		"stile:client/a":        {},
	} {
		c, _, _ := root.certificate("common", text)
		got, err := Of(c)
		if got != want || (err != nil) != (want == Identity{}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	c, _, _ := root.certificate("", "stile://client/a", "stile://admin/a")
	_, err := Of(c)
	says(t, err, "one owner")
	for _, name := range []string{"", "a\x1b[2J", strings.Repeat("x", 65)} {
		_, err := Of(&x509.Certificate{Subject: pkix.Name{CommonName: name}})
		says(t, err, "does not name its owner")
	}
	paths := map[string]bool{}
	for k := Anyone; k <= IsNode; k++ {
		for _, token := range []bool{false, true} {
			i := Identity{Kind: k, Name: "x", Token: token}
			if paths[i.Path()] && k != Anyone && !token {
				t.Errorf("%v: its path is that of another one", i)
			}
			paths[i.Path()] = true
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	good, foreign := made(t, dir, nil), made(t, other, nil)
	old := made(t, dir, func(o *Order) { o.Name, o.Now = "old", time.Now().AddDate(0, -2, 0) })
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *Config){
		"no/ca.crt":                      func(c *Config) { c.CA = "no/ca.crt" },
		"contains no certificate":        func(c *Config) { c.CA = junk },
		"cannot read the certificate no": func(c *Config) { c.Cert = "no" },
		"cannot read the key no":         func(c *Config) { c.Key = "no" },
		foreign.Key:                      func(c *Config) { c.Key = foreign.Key },
		junk + " and":                    func(c *Config) { c.Cert = junk },
		"not signed by":                  func(c *Config) { c.CA = foreign.CA },
		"expired on":                     func(c *Config) { *c = old },
	} {
		c := good
		change(&c)
		_, err := Load(c, nil)
		says(t, err, want)
	}
}

// shake lets two nodes meet, and returns the number of the certificate that the
// server showed.
func shake(server, client *tls.Config) (string, error) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	done := make(chan error, 1)
	go func() {
		s := tls.Server(far, server)
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte("x"))
		}
		done <- err
	}()
	c := tls.Client(near, client)
	_, err := io.ReadFull(c, make([]byte, 1))
	near.Close()
	if err := errors.Join(err, <-done); err != nil {
		return "", err
	}
	return c.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

func TestHandshake(t *testing.T) {
	k, err := Load(made(t, t.TempDir(), nil), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shake(k.Server(), k.Client("127.0.0.1")); err != nil {
		t.Error(err)
	}
	_, err = shake(k.Server(), k.Client("127.0.0.2"))
	says(t, err, "not 127.0.0.2")
	nobody := k.Client("127.0.0.1")
	nobody.Certificates = nil
	_, err = shake(k.Server(), nobody)
	says(t, err, "client didn't provide a certificate")
	old := k.Client("127.0.0.1")
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	_, err = shake(k.Server(), old)
	says(t, err, "protocol version")
}

// keysOf loads a certificate of a kind, signed by the authority in a folder.
func keysOf(t *testing.T, dir string, issue func(Order) (*Made, error), name string) (*Keys, *Made) {
	t.Helper()
	m, err := issue(Order{Dir: dir, Name: name, Hosts: []string{"127.0.0.1"}, Days: 30, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	k, err := Load(Config{CA: filepath.Join(dir, "ca.crt"), Cert: m.Cert, Key: m.Key}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return k, m
}

// Clients and administrators can dial but not accept connections, even with the right host.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	made(t, dir, nil)
	node, _ := keysOf(t, dir, Node, "db2")
	for kind, issue := range map[string]func(Order) (*Made, error){"client": Client, "admin": Admin} {
		k, _ := keysOf(t, dir, issue, kind)
		if _, err := shake(node.Server(), k.Client("127.0.0.1")); err != nil {
			t.Error(kind, err)
		}
		_, err := shake(k.Server(), node.Client("127.0.0.1"))
		says(t, err, "usage")
		says(t, k.Fits(kind), "cannot be a node")
	}
	if err := node.Fits("db2"); err != nil {
		t.Error(err)
	}
}

// A revoked certificate is refused from the next handshake on, whichever side presents it.
func TestRevoked(t *testing.T) {
	dir := t.TempDir()
	made(t, dir, nil)
	node, n := keysOf(t, dir, Node, "db2")
	client, c := keysOf(t, dir, Client, "backup")
	server := node.Server()
	meet := func() error {
		_, err := shake(server, client.Client("127.0.0.1"))
		return err
	}
	if err := meet(); err != nil {
		t.Fatal(err)
	}
	r, err := ParseRevoked("# lost laptop\n\n "+strings.ToUpper(c.Serial)+" # backup\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	node.Revoke(r)
	says(t, meet(), "revoked")
	numbered := func(n int64) *x509.Certificate { return &x509.Certificate{SerialNumber: big.NewInt(n)} }
	if r, err = ParseRevoked("1:2:ab\n", nil); err != nil || r.Check(numbered(0x12ab)) == nil || r.Check(numbered(0x12)) != nil {
		t.Error(err)
	}
	node.Revoke(r)
	if err := meet(); err != nil {
		t.Error(err)
	}
	if r, err = ParseRevoked(n.Serial, nil); err != nil {
		t.Fatal(err)
	}
	client.Revoke(r)
	says(t, meet(), "revoked")
	for _, bad := range []string{"x", "-1", "0", strings.Repeat("f", 41), "12 34"} {
		_, err := ParseRevoked("12\n"+bad, nil)
		says(t, err, "line 2")
	}
	if got, err := Show(c.Cert); err != nil || got.Serial != c.Serial || got.Kind != IsClient || got.Name != "backup" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{c.Key, filepath.Join(dir, "none")} {
		if _, err := Show(bad); err == nil {
			t.Error(bad)
		}
	}
}

// New files are used by the next handshake. An error in them is reported once, and the
// previous ones stay in use.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	c := made(t, dir, nil)
	var told []error
	k, err := Load(c, func(err error) { told = append(told, err) })
	if err != nil {
		t.Fatal(err)
	}
	server := k.Server()
	meet := func() string {
		t.Helper()
		serial, err := shake(server, k.Client("127.0.0.1"))
		if err != nil {
			t.Fatal(err)
		}
		return serial
	}
	stale := func(path string) { // a clock may be too coarse to tell two writes apart
		t.Helper()
		then := time.Now().Add(-time.Minute)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	first := meet()
	stale(c.Cert)
	if meet() != first || len(told) > 0 {
		t.Errorf("nothing has changed: %v", told)
	}
	made(t, dir, func(o *Order) { o.Force = true })
	second := meet()
	if second == first || len(told) > 0 {
		t.Errorf("the old certificate is used: %v", told)
	}
	good, err := os.ReadFile(c.Cert)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Cert, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if meet() != second {
			t.Error("another certificate is used")
		}
	}
	if len(told) != 1 || !strings.Contains(told[0].Error(), "previous ones") {
		t.Errorf("told %v", told)
	}
	if err := os.Remove(c.Cert); err != nil {
		t.Fatal(err)
	}
	if meet(); len(told) != 2 {
		t.Errorf("told %v", told)
	}
	if err := os.WriteFile(c.Cert, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if meet() != second || len(told) != 2 {
		t.Errorf("told %v", told)
	}
	// A certificate of another owner is not taken for a new one of this owner.
	_, other := keysOf(t, dir, Client, "other")
	for from, to := range map[string]string{other.Key: c.Key, other.Cert: c.Cert} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if meet() != second || len(told) != 3 || !strings.Contains(told[2].Error(), "client other") {
		t.Errorf("told %v", told)
	}
}
