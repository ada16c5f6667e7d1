package node

import (
	"crypto/rand"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/views"
)

// certify makes a certificate of a node, by the authority in a folder.
func certify(t *testing.T, dir, name string) cert.Config {
	t.Helper()
	made, err := cert.Node(cert.Order{Dir: dir, Name: name, Hosts: []string{"127.0.0.1"}, Days: 1, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return cert.Config{CA: filepath.Join(dir, "ca.crt"), Cert: made.Cert, Key: made.Key}
}

func authority(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := cert.CA(cert.Order{Dir: dir, Days: 1, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Three nodes with certificates are a cluster; one of another authority is refused,
// and so is one without; both sides say why.
func TestCertificates(t *testing.T) {
	dir := authority(t)
	var logs [4]journal
	all := start(t, 3, func(i int, c *Config) {
		c.TLS = certify(t, dir, c.Name)
		c.Log = logs[i].logger()
	})
	for _, n := range all {
		release(t, acquire(t, n, "x"))
	}
	join := []string{all[0].Address()}
	run(t, Config{Name: "d", Listen: "127.0.0.1:0", Join: join, TLS: certify(t, authority(t), "d"), Log: logs[3].logger()})
	logs[3].says(t, "unknown authority")
	logs[0].says(t, "TLS handshake")
	var log journal
	run(t, Config{Name: "e", Listen: "127.0.0.1:0", Join: join, Log: log.logger()})
	log.says(t, "no link")
	logs[0].says(t, "first record does not look like a TLS handshake")
	// A certificate is for one name.
	if n, err := Start(Config{Name: "f", Listen: "127.0.0.1:0", Join: join, TLS: certify(t, dir, "g")}); err == nil || !strings.Contains(err.Error(), "certificate of node g") {
		n.Kill()
		t.Error(err)
	}
	if s := all[0].Status(); len(s.Members) != 3 {
		t.Errorf("%+v", s.Members)
	}
}

// A node that does not run the cluster's version of the algorithm is refused.
func TestOtherVersion(t *testing.T) {
	var one, two journal
	a := start(t, 1, func(i int, c *Config) { c.Log = one.logger() })[0]
	name := catalog.Live()[0].Name
	a.mu.Lock()
	a.p.Record().Choices = []member.Choice{{Algorithm: name, Version: 99}} // as if it were of a later build
	a.mu.Unlock()
	run(t, Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{a.Address()}, Log: two.logger()})
	one.says(t, "version 99 of "+name)
	two.says(t, "version 99")
}

// An algorithm that the node's build does not have stops the node.
func TestAlgorithmThatIsMissing(t *testing.T) {
	n, err := Start(Config{Name: "a", Listen: "127.0.0.1:0", Spec: func(string, int) (algorithm.Spec, error) {
		return algorithm.Spec{}, io.ErrUnexpectedEOF
	}})
	if err == nil {
		t.Cleanup(n.Kill)
		err = n.Ready(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) {
		t.Error(err)
	}
}

// Whatever arrives at its address, the node continues.
func TestGarbage(t *testing.T) {
	var log journal
	all := start(t, 2, func(i int, c *Config) {
		if i == 0 {
			c.Log = log.logger()
		}
	})
	noise := make([]byte, 1<<16)
	_, _ = rand.Read(noise)
	for _, first := range []string{"", "G", "STILEP\r\n", "STILEC\r\n", "\x16\x03\x01\x00\x05hello", "GET / HTTP/1.1\r\n\r\n"} {
		conn, err := net.Dial("tcp", all[0].Address())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(append([]byte(first), noise...))
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}
	log.says(t, "connection refused")
	log.says(t, "node refused")
	log.says(t, "client disconnected")
	log.says(t, "uses TLS")
	release(t, acquire(t, all[1], "x"))
}

func TestGreeting(t *testing.T) {
	known := &views.Record{Epoch: 9, Earlier: []uint64{5, 6}}
	g, err := readGreeting(greeting(7, known))
	if err != nil || g.cluster != 7 || g.epoch != 9 || !slices.Equal(g.earlier, known.Earlier) || !g.knows(catalog.Live()[0].Name, catalog.Live()[0].Version) || g.knows("x", 1) {
		t.Errorf("%+v, %v", g, err)
	}
	b := greeting(7, known)
	for _, bad := range [][]byte{nil, {0x80}, b[:len(b)-1], append(b[:1:1], 200), append(greeting(7, known), 1, 'x')} {
		if _, err := readGreeting(bad); err == nil {
			t.Errorf("%x is read", bad)
		}
	}
}

func FuzzGreeting(f *testing.F) {
	f.Add(greeting(7, &views.Record{Epoch: 9, Earlier: []uint64{5, 6}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if g, err := readGreeting(b); err == nil && len(g.runs) > len(b) {
			t.Errorf("%d versions of %d bytes", len(g.runs), len(b))
		}
	})
}
