package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/stile-lock/stile/internal/node"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(crowdAt); address != "" {
		crowd(address)
		return
	}
	if order := os.Getenv(floodAt); order != "" {
		flood(order)
		return
	}
	goleak.VerifyTestMain(m)
}

// startNode starts a node that is a cluster of its own.
func startNode(t testing.TB, change func(c *node.Config)) *node.Node {
	t.Helper()
	c := node.Config{Name: "a", Listen: "127.0.0.1:0", Voters: 1, Lease: 10 * time.Second}
	if change != nil {
		change(&c)
	}
	n, err := node.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return n
}

// An api is a gateway, as a client that speaks JSON sees it.
type api struct {
	t      testing.TB
	g      *Gateway
	client *http.Client
	url    string
}

// serve starts a node and its gateway.
func serve(t testing.TB, change func(c *node.Config)) *api {
	t.Helper()
	return gate(t, startNode(t, change))
}

// gate starts the gateway of a node.
func gate(t testing.TB, n *node.Node) *api {
	t.Helper()
	return gateWith(t, n, Config{Listen: "127.0.0.1:0"})
}

// gateWith is gate with a configuration.
func gateWith(t testing.TB, n *node.Node, c Config) *api {
	t.Helper()
	g, err := New(n, c)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	a := &api{t, g, &http.Client{Transport: transport}, g.URL()}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Errorf("close the gateway: %v", err)
		}
	})
	return a
}

// An object is one of JSON.
type object map[string]any

// at returns what is at a path of keys; nil if nothing is.
func (o object) at(keys ...string) any {
	var v any = map[string]any(o)
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// try calls a method. The status is that of HTTP, and the reason that of an error.
func (a *api) try(method string, in object) (out object, status int, reason string) {
	a.t.Helper()
	if in == nil {
		in = object{}
	}
	b, err := json.Marshal(in)
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := a.client.Post(a.url+"/stile.v1."+method, "application/json", bytes.NewReader(b))
	if err != nil {
		a.t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err = io.ReadAll(r.Body); err != nil {
		a.t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		a.t.Fatalf("%s: %v: %s", method, err, b)
	}
	return out, r.StatusCode, r.Header.Get(ReasonHeader)
}

// call calls a method that succeeds.
func (a *api) call(method string, in object) object {
	a.t.Helper()
	out, status, _ := a.try(method, in)
	if status != http.StatusOK {
		a.t.Fatalf("%s %v: %d: %v", method, in, status, out)
	}
	return out
}

// fails calls a method that fails for a reason.
func (a *api) fails(p problem, method string, in object) {
	a.t.Helper()
	out, _, reason := a.try(method, in)
	if reason != p.reason || out.at("code") != p.code.String() {
		a.t.Errorf("%s %v: %v, reason %q: want %s %s", method, in, out, reason, p.code, p.reason)
	}
}

// open opens a session.
func (a *api) open(in object) string {
	a.t.Helper()
	return a.call("Locks/OpenSession", in).at("session").(string)
}

// acquire acquires a lock, and returns what names the hold.
func (a *api) acquire(session, name string) (held object) {
	a.t.Helper()
	token := a.call("Locks/Acquire", object{"session": session, "name": name}).at("held", "token")
	return object{"name": name, "token": token}
}

// release releases a lock.
func (a *api) release(session string, held object) {
	a.t.Helper()
	a.call("Locks/Release", object{"session": session, "name": held["name"], "token": held["token"]})
}

// span reads a duration.
func span(t testing.TB, v any) time.Duration {
	t.Helper()
	s, _ := v.(string)
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("%v is not a duration: %v", v, err)
	}
	return d
}

// patience is how long something may take on a machine that has much else to do.
const patience = 30 * time.Second

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never so: %s", what)
		}
	}
}

func asProto(d time.Duration) *durationpb.Duration { return durationpb.New(d) }
