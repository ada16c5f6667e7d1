package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
)

const floodRights = `
[[rule]]
who = "client/greedy"
locks = "*"
may = ["lock", "read"]

[[rule]]
who = "client/honest"
locks = "*"
may = ["lock", "read"]
`

// An identity that takes all that it can get, of sessions, streams, lists and bodies that it
// never sends, costs a bounded amount of memory, and does not keep another one from its locks.
func TestFlood(t *testing.T) {
	w := newStreetWith(t, floodRights)
	greedy, honest := w.callers("greedy")[0].api, w.callers("honest")[0].api
	w.api.g.sessions.places.resize(400)
	before := memory()
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer cancel()
	for range 200 {
		greedy.open(nil)
	}
	greedy.fails(manySessions, "Locks/OpenSession", nil)
	for range shares[watches].most {
		flood.Go(func() {
			s, err := pb.NewClusterClient(greedy.client, greedy.url).WatchLocks(ctx, watchOf(""))
			if err != nil {
				return
			}
			defer s.Close()
			for s.Receive() {
			}
		})
	}
	for range 8 {
		flood.Go(func() {
			for ctx.Err() == nil {
				_, _ = pb.NewClusterClient(greedy.client, greedy.url).ListLocks(ctx, &pb.ListLocksRequest{})
			}
		})
	}
	config := greedy.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = nil
	for range 200 {
		c, err := tls.Dial("tcp", w.api.g.Address().String(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "POST /stile.v1.Locks/OpenSession HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4194304\r\n\r\n{")
	}
	eventually(t, "the streams are as many as they can be", func() bool {
		return w.api.g.door.pools[watches].taken() >= shares[watches].most/2
	})
	start := time.Now()
	s := honest.open(nil)
	for i := range 100 {
		honest.release(s, honest.acquire(s, fmt.Sprint("orders/", i)))
	}
	took, cost := time.Since(start), memory()-before
	t.Logf("100 locks in %v, with a flood that costs %d bytes", took, cost)
	if took > patience {
		t.Errorf("100 locks in %v", took)
	}
	if cost > 96<<20 {
		t.Errorf("the flood costs %d bytes", cost)
	}
}
