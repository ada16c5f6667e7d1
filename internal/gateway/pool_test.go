package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// resize changes the size of a pool, and returns what it was.
func (p *pool) resize(most int) (before int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.most = p.most, most
	return before
}

// However many callers take all that they can get, there is a place for another one, and when
// all are gone, nothing is left.
func TestPool(t *testing.T) {
	for greedy := range 20 {
		p := &pool{most: 100}
		got := map[string]int{}
		for more := true; more; {
			more = false
			for i := range greedy {
				if key := fmt.Sprint(i); p.take(key, 1) {
					got[key]++
					more = true
				}
			}
		}
		for key, n := range got {
			if want := 100 / (greedy + 1); n < want-1 || n > want+1 {
				t.Errorf("%d callers: %s has %d places, want about %d", greedy, key, n, want)
			}
		}
		if !p.take("modest", 1) {
			t.Errorf("%d callers leave no place", greedy)
		}
		p.put("modest", 1)
		for key, n := range got {
			p.put(key, n)
		}
		if p.taken() != 0 || len(p.by) != 0 {
			t.Errorf("%d callers: %d places and %d callers are left", greedy, p.taken(), len(p.by))
		}
	}
}

// Places are counted for identities, and for addresses of those who have none.
func TestShareKey(t *testing.T) {
	for from, want := range map[string]string{"10.0.0.1:5": "10.0.0.1", "[::ffff:10.0.0.1]:7": "10.0.0.1", "[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64", "@": "@"} {
		if got := shareKey(&node.Caller{From: from}); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
	if got := shareKey(&node.Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "ann"}, From: "10.0.0.1:5"}); got != "client/ann" {
		t.Error(got)
	}
}

// A caller who lists all the time does not keep others from a turn.
func TestTurns(t *testing.T) {
	all := newTurns(4)
	var ends []func()
	take := func(key string) bool {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 { // of two cases that are ready, select takes any
			end, err := all.take(ctx, key)
			if err == nil {
				ends = append(ends, end)
				return true
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		return false
	}
	for _, x := range []struct {
		key string
		ok  bool
	}{{"greedy", true}, {"greedy", true}, {"greedy", false}, {"modest", true}, {"other", true}, {"third", false}} {
		if got := take(x.key); got != x.ok {
			t.Errorf("%s: %t", x.key, got)
		}
	}
	for _, end := range ends {
		end()
	}
	if len(all.by) != 0 || len(all.all) != 0 {
		t.Errorf("%d callers and %d turns are left", len(all.by), len(all.all))
	}
}

// An identity has half of the streams that watch, however few quotas allow it, and another one
// still gets one.
func TestWatchShare(t *testing.T) {
	w := newStreet(t)
	watch := func(v *api) error {
		s, err := pb.NewClusterClient(v.client, v.url).WatchLocks(t.Context(), watchOf("mine/"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if !s.Receive() {
			return s.Err()
		}
		return nil
	}
	reader, other := w.callers("read")[0].api, w.callers("read-all")[0].api
	for range shares[watches].most / 2 {
		if err := watch(reader); err != nil {
			t.Fatal(err)
		}
	}
	if err := watch(reader); err == nil || !strings.Contains(err.Error(), "too many streams that watch") {
		t.Errorf("one more: %v", err)
	}
	if err := watch(other); err != nil {
		t.Error(err)
	}
	w.audited(0, map[string]string{"who": "client read", "what": "watch-locks", "why": "too many streams that watch", "result": "denied"})
}

// An identity that opens sessions without end leaves some for others. One that is closed can be
// opened again.
func TestSessionShare(t *testing.T) {
	w := newStreet(t)
	w.api.g.sessions.places.resize(20)
	greedy, other := w.callers("lock")[0].api, w.callers("revoked")[0].api
	first := greedy.open(nil)
	for range 9 {
		greedy.open(nil)
	}
	greedy.fails(manySessions, "Locks/OpenSession", nil)
	s := other.open(nil)
	other.acquire(s, "mine/x")
	other.call("Locks/CloseSession", object{"session": s})
	greedy.fails(manySessions, "Locks/OpenSession", nil)
	greedy.call("Locks/CloseSession", object{"session": first})
	greedy.open(nil)
}

// Requests of strangers take no places of callers with an identity.
func TestStrangers(t *testing.T) {
	a := serve(t, nil)
	a.g.door.pools[strangers].resize(0)
	if status, _, body := a.get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "pages and probes") {
		t.Errorf("%d %s", status, body)
	}
	a.call("Cluster/Status", nil)
}

// The place of a body is taken before it is read, and given back as soon as it is read: a call
// that goes on does not keep it.
func TestBodies(t *testing.T) {
	a := serve(t, nil)
	places := &a.g.door.pools[bodies]
	places.resize(2 * maxBody)
	stall := func(header string) net.Conn {
		c, err := net.Dial("tcp", a.g.Address().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := fmt.Fprintf(c, "POST /stile.v1.Locks/OpenSession HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n", header); err != nil {
			t.Fatal(err)
		}
		return c
	}
	one := stall(fmt.Sprintf("Content-Length: %d", 100*maxBody))
	eventually(t, "a place is taken", func() bool { return places.taken() == maxBody })
	two := stall("Transfer-Encoding: chunked")
	r, err := http.ReadResponse(bufio.NewReader(two), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get(ReasonHeader) != manyCalls.reason || !strings.Contains(string(b), "not read yet") {
		t.Errorf("%v %s %v", r.Header, b, err)
	}
	one.Close()
	eventually(t, "the place is free", func() bool { return places.taken() == 0 })

	s, err := pb.NewLocksClient(a.client, a.url).Hold(t.Context(), &pb.HoldRequest{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Receive() {
		t.Fatal(s.Err())
	}
	if n := places.taken(); n != 0 {
		t.Errorf("a stream whose body is read keeps %d bytes", n)
	}
}
