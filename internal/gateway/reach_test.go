package gateway

import (
	"context"
	"encoding/json"
	"net"
	"testing"

	"github.com/stile-lock/stile/internal/node"
)

// A node tells others where they reach its gateway, as long as there is one. If the gateway
// listens on all addresses, that is the host at which others reach the node.
func TestReach(t *testing.T) {
	n := startNode(t, func(c *node.Config) { c.Advertise = "node-a.example:7420" })
	told := func() string {
		var p node.Pulse
		b, err := n.QueryFor(t.Context(), node.Caller{}, node.AskPulse, []byte("{}"))
		if err != nil || json.Unmarshal(b, &p) != nil {
			t.Fatalf("%s: %v", b, err)
		}
		return p.HTTP
	}
	if got := told(); got != "" {
		t.Errorf("before there is a gateway: %s", got)
	}
	for listen, host := range map[string]string{"127.0.0.1:0": "127.0.0.1", "0.0.0.0:0": "node-a.example"} {
		g, err := New(n, Config{Listen: listen, Insecure: true})
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(g.Address().String())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := told(), "http://"+host+":"+port; got != want {
			t.Errorf("%s: others reach it at %s, want %s", listen, got, want)
		}
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if got := told(); got != "" {
			t.Errorf("when it is closed: %s", got)
		}
	}
}
