package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node"
)

// Probes have an address of their own, at which nothing else is served. Connections from one
// address do not keep others from being answered.
func TestHealth(t *testing.T) {
	n := startNode(t, nil)
	s, err := ServeHealth(n, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	from := func(address string) *http.Client {
		d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
		tr := &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}
		return &http.Client{Transport: tr, Timeout: patience}
	}
	ask := func(c *http.Client, path, origin string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		x, err := c.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer x.Body.Close()
		b, err := io.ReadAll(x.Body)
		if err != nil {
			return 0, err.Error()
		}
		return x.StatusCode, strings.TrimSpace(string(b))
	}
	here := from("127.0.0.1")
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 404, "/": 404, "/stile.v1.Cluster/Status": 404, profilesPath: 404} {
		if status, body := ask(here, path, ""); status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body := ask(here, "/readyz", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("another site: %d %s", status, body)
	}

	const many = 64 // more than there are places
	var opened atomic.Int64
	flood, cancel := context.WithCancel(t.Context())
	var ended = make(chan struct{})
	go func() { // connections that say nothing, as many as it can have
		defer close(ended)
		var all []net.Conn
		for flood.Err() == nil {
			if c, err := net.Dial("tcp", s.listener.Addr().String()); err == nil {
				all = append(all, c)
				opened.Add(1)
			}
			if len(all) > many {
				all[0].Close()
				all = all[1:]
			}
			time.Sleep(time.Millisecond)
		}
		for _, c := range all {
			c.Close()
		}
	}()
	defer func() { cancel(); <-ended }()
	eventually(t, "the flood has all that it can have", func() bool { return opened.Load() > many })
	other, err := net.Listen("tcp", "127.0.0.2:0") // not on every system
	if err != nil {
		t.Skip(err)
	}
	other.Close()
	if status, body := ask(from("127.0.0.2"), "/readyz", ""); status != 200 {
		t.Errorf("while there is a flood: %d %s", status, body)
	}
}

// A node that is not ready says so, and why.
func TestHealthUnready(t *testing.T) {
	n, err := node.Start(node.Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Kill()
	s, err := ServeHealth(n, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503} {
		if code, body := get(t, s.URL()+path); code != want || body == "" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
