package transport

import (
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// echo is a handler that repeats what it reads, after its name.
func echo(name string) func(net.Conn) {
	return func(c net.Conn) {
		b := make([]byte, 8)
		if _, err := io.ReadFull(c, b); err == nil {
			io.WriteString(c, name+" "+string(b))
		}
	}
}

func newMux(t *testing.T, config *tls.Config) *Mux {
	t.Helper()
	m, err := Listen("127.0.0.1:0", MuxConfig{TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	for _, proto := range []string{PeerProto, ClientProto, HTTPProto} {
		m.Handle(proto, echo(proto))
	}
	m.Start()
	t.Cleanup(func() { m.Close() })
	return m
}

// One address serves all protocols: by the first bytes, which the handler reads
// again, or by ALPN.
func TestMux(t *testing.T) {
	plain := newMux(t, nil)
	for proto, first := range map[string]string{PeerProto: peerMagic, ClientProto: clientMagic, HTTPProto: "GET / HT"} {
		s := connect(t, plain.Addr().String())
		s.write(t, []byte(first))
		if got, err := io.ReadAll(s); err != nil || string(got) != proto+" "+first {
			t.Errorf("%q: %q, %v", first, got, err)
		}
	}
	k := newAuthority(t).load(t, "a")
	secure := newMux(t, k.Server())
	for offer, proto := range map[string]string{PeerProto: PeerProto, ClientProto: ClientProto, "h2 http/1.1": HTTPProto, "": HTTPProto} {
		config := k.Client("127.0.0.1")
		config.NextProtos = strings.Fields(offer)
		c, err := tls.Dial("tcp", secure.Addr().String(), config)
		if err != nil {
			t.Fatal(offer, err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(safety))
		if _, err := io.WriteString(c, "12345678"); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(c); err != nil || string(got) != proto+" 12345678" {
			t.Errorf("%q: %q, %v", offer, got, err)
		}
	}
}

// Close ends all connections, those with and those before a handler, and waits for
// the handlers.
func TestMuxClose(t *testing.T) {
	m, err := Listen("127.0.0.1:0", MuxConfig{})
	if err != nil {
		t.Fatal(err)
	}
	begun, cut, release, closed := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	m.Handle(ClientProto, func(c net.Conn) {
		close(begun)
		io.Copy(io.Discard, c)
		close(cut)
		<-release
	})
	m.Start()
	served, silent := connect(t, m.Addr().String()), connect(t, m.Addr().String())
	served.write(t, []byte(clientMagic))
	<-begun
	go func() {
		m.Close()
		close(closed)
	}()
	<-cut
	for range 10_000 { // give one that does not wait the time to be found
		select {
		case <-closed:
			t.Fatal("the handler still runs")
		default:
			runtime.Gosched()
		}
	}
	close(release)
	take(t, "end of Close", closed)
	served.over(t)
	silent.over(t)
	if _, err := net.Dial("tcp", m.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}
