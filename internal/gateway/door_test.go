package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
)

// dialTLS opens a connection with a certificate, with HTTP/1.1 or HTTP/2, and returns it when the
// node has answered a request.
func (w *street) dialTLS(c cert.Config, proto string) net.Conn {
	w.t.Helper()
	config := w.api.as(c).client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{proto}
	conn, err := tls.Dial("tcp", w.api.g.Address().String(), config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	if proto == "http/1.1" {
		fmt.Fprint(conn, "GET /console/api/hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || r.StatusCode != http.StatusOK {
			w.t.Fatal(r, err)
		}
		return conn
	}
	fmt.Fprint(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00") // and no settings
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// closes waits until the node has closed a connection.
func closes(t *testing.T, what string, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("%s is still open: %v", what, err)
	}
}

// The connections of a certificate that is revoked are closed, with streams or idle, and those
// of others are not. Streams and profiles with a token that is revoked end.
func TestRevoked(t *testing.T) {
	w := newStreet(t)
	thief, other := w.order(cert.Admin, "revoked"), w.order(cert.Client, "read")
	bearer := w.api.as(cert.Config{CA: thief.CA}).with(w.bearer["revoked"])
	one, two, three := w.dialTLS(thief, "http/1.1"), w.dialTLS(thief, "h2"), w.dialTLS(other, "http/1.1")
	stream := func(v *api) chan error {
		s, err := pb.NewClusterClient(v.client, v.url).WatchLocks(t.Context(), watchOf("mine/"))
		if err != nil {
			t.Fatal(err)
		}
		if !s.Receive() {
			t.Fatal(s.Err())
		}
		ended := make(chan error, 1)
		go func() {
			for s.Receive() {
			}
			ended <- s.Err()
		}()
		return ended
	}
	streams := map[string]chan error{"certificate": stream(w.api.as(thief)), "token": stream(bearer), "call": make(chan error, 1)}
	session, holder := bearer.open(nil), w.callers("lock")[0].api
	holder.acquire(holder.open(nil), "mine/x")
	go func() {
		out, _, reason := bearer.try("Locks/Acquire", object{"session": session, "name": "mine/x"})
		if reason != noIdentity.reason {
			t.Errorf("a call that waits: %v", out)
		}
		streams["call"] <- errors.New(reason)
	}()
	profile := make(chan string, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.api.url+profilesPath+"profile?seconds=60", nil)
		if err != nil {
			profile <- err.Error()
			return
		}
		x, err := bearer.client.Do(r)
		if err != nil {
			profile <- "it ends: " + err.Error()
			return
		}
		defer x.Body.Close()
		b, err := io.ReadAll(x.Body)
		profile <- fmt.Sprintf("%d bytes: %v", len(b), err)
	}()
	eventually(t, "a profile is being made", func() bool { return w.api.g.door.pools[profiles].taken() == 1 })

	eventually(t, "the call waits", func() bool { return w.node.Status().Waiting == 1 })

	w.revoke(thief, "revoked")
	closes(t, "HTTP/1.1", one)
	closes(t, "HTTP/2", two)
	for what, ended := range streams {
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: the stream ended well", what)
			}
		case <-time.After(patience):
			t.Errorf("%s: the stream has not ended", what)
		}
	}
	select {
	case got := <-profile:
		if strings.HasSuffix(got, "<nil>") {
			t.Errorf("the profile was sent: %s", got)
		}
	case <-time.After(patience):
		t.Error("the profile goes on")
	}
	w.audited(0, map[string]string{"who": "admin revoked", "what": "stay connected", "why": "is revoked", "result": "denied"})
	w.audited(0, map[string]string{"who": "admin revoked (token)", "what": "profile", "why": "revoked", "result": "denied"})
	fmt.Fprint(three, "GET /console/api/hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if r, err := http.ReadResponse(bufio.NewReader(three), nil); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("the connection of another certificate: %v, %v", r, err)
	}
	three.Close()
	holder.client.CloseIdleConnections()
	eventually(t, "no connection is remembered", func() bool {
		w.api.g.door.mu.Lock()
		defer w.api.g.door.mu.Unlock()
		return len(w.api.g.door.chains)+len(w.api.g.door.inside) == 0
	})
}

// bearing adds a token to all requests.
type bearing struct {
	http.RoundTripper
	bearer string
}

// RoundTrip implements http.RoundTripper.
func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.bearer)
	return b.RoundTripper.RoundTrip(r)
}

// with returns the API as the owner of a token sees it.
func (a *api) with(bearer string) *api {
	return &api{a.t, a.g, &http.Client{Transport: bearing{a.client.Transport, bearer}}, a.url}
}

// A revoked certificate does not learn the value of a leader through another node, and whoever
// loses the right to read does not learn more of it.
func TestLeaderElsewhere(t *testing.T) {
	w := newTown(t, townRights)
	if err := w.hold(2, "mine/1").SetValue("v"); err != nil {
		t.Fatal(err)
	}
	of := w.order(cert.Client, "reader")
	reader := w.api.as(of)
	eventually(t, "the reader sees the leader", func() bool {
		return reader.call("Cluster/Leader", object{"name": "mine/1"}).at("leader", "value") == "v"
	})
	s, err := pb.NewClusterClient(reader.client, reader.url).ObserveLeader(t.Context(), &pb.ObserveLeaderRequest{Name: "mine/1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Receive() {
		t.Fatal(s.Err())
	}
	list, err := cert.ParseRevoked(cert.Serial(leaf(t, of)), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.nodes[0].OnRecheck(nil)
	w.nodes[0].Keys().Revoke(list)
	reader.fails(noIdentity, "Cluster/Leader", object{"name": "mine/1"})
	w.audited(0, map[string]string{"who": "client reader", "what": "leader", "result": "denied", "why": "revoked"})
	w.api.g.door.recheck()
	for s.Receive() {
	}
	if err := s.Err(); err == nil || err == io.EOF {
		t.Errorf("the stream ended with %v", err)
	}
}

// A hold whose call the node has ended is not released at once: its reader may still count on it.
func TestHoldRevoked(t *testing.T) {
	w := newStreet(t)
	bearer := w.api.as(cert.Config{CA: filepath.Join(w.dir, "ca.crt")}).with(w.bearer["revoked"])
	s, err := pb.NewLocksClient(bearer.client, bearer.url).Hold(t.Context(), &pb.HoldRequest{Name: "mine/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for s.Receive() && s.Msg().GetHeld() == nil {
	}
	if s.Msg().GetHeld() == nil {
		t.Fatal(s.Err())
	}
	granted := time.Now().Add(s.Msg().GetHeld().GetValidFor().AsDuration())
	var c *call
	w.api.g.door.mu.Lock()
	for c = range w.api.g.door.inside {
	}
	w.api.g.door.mu.Unlock()
	c.cancel(noIdentity.errorf("revoked"))
	for s.Receive() {
	}
	if got := connect.CodeOf(s.Err()); got != connect.CodeUnauthenticated {
		t.Errorf("the stream ended with %v", s.Err())
	}
	if w.node.Status().Held != 1 && time.Now().Before(granted) {
		t.Error("the lock was released before its reader has counted to the end")
	}
}

// Whatever the door refuses is audited.
func TestRefusalsAudited(t *testing.T) {
	w := newStreet(t)
	none := w.api.as(cert.Config{CA: filepath.Join(w.dir, "ca.crt")})
	noRule := w.callers("no-rule")
	page := map[string]string{"Origin": "https://evil.example"}
	for name, x := range map[string]struct {
		as      *api
		headers map[string]string
		path    string
		audited map[string]string
	}{
		"no identity":  {none, nil, "/metrics", map[string]string{"who": "anyone", "what": "metrics", "why": "does not say who makes it"}},
		"wrong bearer": {none, map[string]string{"Authorization": "Bearer x"}, "/console/api/stream", map[string]string{"who": "anyone", "what": "console", "why": "unknown or revoked"}},
		"two owners":   {w.api.as(twoOwners(t, w.dir)), nil, "/debug/pprof/heap", map[string]string{"what": "profile", "why": "want one owner"}},
		"other site":   {noRule[0].api, page, "/console/api/hello", map[string]string{"who": "client no-rule", "what": "console", "why": "another site"}},
		"no right":     {noRule[0].api, nil, "/metrics", map[string]string{"who": "client no-rule", "what": "metrics", "why": "read all locks"}},
		"unknown path": {none, nil, "/nothing", map[string]string{"who": "anyone", "what": "unknown path", "why": "does not say"}},
	} {
		if r, body := x.as.ask(http.MethodGet, x.path, "", x.headers); r.StatusCode != http.StatusUnauthorized && r.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, r.StatusCode, body)
		}
		x.audited["result"], x.audited["from"] = "denied", "127.0.0.1:"
		w.audited(0, x.audited) // the node writes its log beside what it does
	}
	w.api.g.door.pools[calls].resize(0)
	if r, body := noRule[0].ask(http.MethodGet, "/console/api/hello", "", nil); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%d %s", r.StatusCode, body)
	}
	w.audited(0, map[string]string{"who": "client no-rule", "what": "console", "why": "too many calls", "result": "denied"})
}

// Without TLS, profiles need --pprof, a caller on the same machine, and the right to administer
// if there is a rights file: a proxy with TLS on the machine does not open them to the world.
func TestProfiles(t *testing.T) {
	const onlyLocks = "[[rule]]\nwho = \"anyone\"\nlocks = \"*\"\nmay = [\"lock\", \"read\"]\n"
	for _, x := range []struct {
		rights string
		on     bool
		from   string
		want   int
	}{
		{"", true, "127.0.0.1:5", 200},
		{"", true, "[::1]:5", 200},
		{"", true, "[::ffff:127.0.0.1]:5", 200},
		{"", true, "10.0.0.1:5", 403},
		{"", true, "@", 403},
		{"", false, "127.0.0.1:5", 404},
		{onlyLocks, true, "127.0.0.1:5", 403},
		{strings.Replace(onlyLocks, "read", "admin", 1), true, "127.0.0.1:5", 200},
		{strings.Replace(onlyLocks, "read", "admin", 1), true, "10.0.0.1:5", 403},
	} {
		n := startNode(t, func(c *node.Config) {
			if x.rights != "" {
				c.Rights = (&town{t: t, dir: t.TempDir()}).write("rights.toml", x.rights)
			}
		})
		for _, path := range []string{"", "cmdline", "heap", "goroutine?debug=2"} {
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+profilesPath+path, nil)
			r.RemoteAddr = x.from
			w := httptest.NewRecorder()
			newGateway(n, Config{Profiles: x.on}).door.ServeHTTP(w, r)
			if w.Code != x.want || w.Body.Len() == 0 {
				t.Errorf("%+v %s: %d", x, path, w.Code)
			}
		}
	}
}

// A token over plain HTTP is refused where others can listen in, and not on this machine.
func TestTokenOverheard(t *testing.T) {
	tokens, bearer, err := (&rights.Tokens{}).Create("ci", cert.IsClient, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	file := (&town{t: t, dir: t.TempDir()}).write("tokens.toml", tokens.Text())
	n := startNode(t, func(c *node.Config) { c.Tokens = file })
	for listen, want := range map[string]int{"127.0.0.1:0": http.StatusOK, "0.0.0.0:0": http.StatusUnauthorized} {
		a := gateWith(t, n, Config{Listen: listen, Insecure: true})
		a.url = strings.Replace(a.url, "[::]", "127.0.0.1", 1)
		if r, body := a.ask(http.MethodGet, "/console/api/hello", "", map[string]string{"Authorization": "bearer " + bearer}); r.StatusCode != want {
			t.Errorf("%s: %d %s", listen, r.StatusCode, body)
		}
	}
}

// Streams end when the right to them is withdrawn. What is held stays held.
func TestRightWithdrawn(t *testing.T) {
	w := newStreet(t)
	reader, holder := w.callers("read")[0].api, w.callers("lock")[0].api
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watch, err := pb.NewClusterClient(reader.client, reader.url).WatchLocks(ctx, watchOf("mine/"))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	hold, err := pb.NewLocksClient(holder.client, holder.url).Hold(ctx, &pb.HoldRequest{Name: "mine/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	for hold.Receive() && hold.Msg().GetHeld() == nil {
	}
	w.write("rights.toml", strings.NewReplacer("client/read\"", "client/reader\"", "client/lock\"", "client/locker\"").Replace(cellRights))
	for watch.Receive() {
	}
	if got := connect.CodeOf(watch.Err()); got != connect.CodePermissionDenied {
		t.Errorf("the stream ended with %v", watch.Err())
	}
	holder.fails(isDenied, "Locks/OpenSession", nil)
	for range 2 {
		if !hold.Receive() || hold.Msg().GetRenewed() == nil {
			t.Fatalf("the hold ended with %v, %v", hold.Msg(), hold.Err())
		}
	}
}
