package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

func TestUnary(t *testing.T) {
	a := serve(t, nil)
	s := a.open(object{"label": "one"})
	held := a.call("Locks/Acquire", object{"session": s, "name": "x"})
	token := held.at("held", "token")
	if v := span(t, held.at("held", "validFor")); v <= 0 || v > 10*time.Second {
		t.Errorf("held for %v", v)
	}
	other := a.open(object{})
	if out := a.call("Locks/TryAcquire", object{"session": other, "name": "x"}); out.at("busy") == nil {
		t.Errorf("a second holder: %v", out)
	}
	if out := a.call("Locks/KeepAlive", object{"session": s}); span(t, out.at("validFor")) <= 0 || out.at("lost") != nil {
		t.Errorf("kept alive: %v", out)
	}
	if out := a.call("Cluster/ListLocks", object{"prefix": "x"}); !strings.Contains(fmt.Sprint(out.at("locks")), "one") {
		t.Errorf("the list does not show the holder: %v", out)
	}
	if out := a.call("Locks/Release", object{"session": s, "name": "x", "token": token}); out.at("token") != token {
		t.Errorf("released: %v, want token %v", out, token)
	}
	if out := a.call("Locks/TryAcquire", object{"session": other, "name": "x"}); out.at("held", "token") == token || out.at("held") == nil {
		t.Errorf("the next holder: %v, after token %v", out, token)
	}
	a.call("Locks/CloseSession", object{"session": other})
	a.fails(noSession, "Locks/KeepAlive", object{"session": other})
	if out := a.call("Locks/TryAcquire", object{"session": s, "name": "x"}); out.at("held") == nil {
		t.Errorf("a closed session holds its lock: %v", out)
	}
	if out := a.call("Cluster/Members", nil); !strings.Contains(fmt.Sprint(out), "name:a") {
		t.Errorf("members: %v", out)
	}
	if out := a.call("Cluster/Status", nil); out.at("state") != "member" || out.at("lease") != "10s" {
		t.Errorf("status: %v", out)
	}
}

// A call that is repeated, because its answer was lost, changes nothing.
func TestRepeatedCalls(t *testing.T) {
	a := serve(t, nil)
	s := a.open(nil)
	acquire, release := object{"session": s, "name": "x", "key": "k1"}, object{"session": s, "key": "k1"}
	first := a.call("Locks/Acquire", acquire).at("held", "token")
	if again := a.call("Locks/Acquire", acquire).at("held", "token"); again != first {
		t.Errorf("token %v, then %v", first, again)
	}
	if again := a.call("Locks/TryAcquire", acquire).at("held", "token"); again != first {
		t.Errorf("token %v, then %v", first, again)
	}
	a.fails(badRequest, "Locks/Acquire", object{"session": s, "name": "y", "key": "k1"})
	for range 2 {
		if out := a.call("Locks/Release", release); out.at("token") != first {
			t.Errorf("released: %v", out)
		}
	}
	a.fails(isReleased, "Locks/Acquire", acquire) // delayed on its way
	a.fails(noRequest, "Locks/Release", object{"session": s, "key": "k2"})
	other := a.open(nil)
	if out := a.call("Locks/TryAcquire", object{"session": other, "name": "x"}); out.at("held") == nil {
		t.Errorf("the lock leaked: %v", out)
	}
	for range 2 { // without a key, a name can be used again
		a.release(s, a.acquire(s, "z"))
	}
}

// request returns a session's request for a lock.
func (a *api) request(session, name string) *request {
	a.g.sessions.mu.Lock()
	s := a.g.sessions.all[session]
	a.g.sessions.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[requestKey{"", name}]
}

// A client that polls sees its place, keeps it, and loses it only if it stops polling.
func TestPolling(t *testing.T) {
	a := serve(t, nil)
	holder, first, second := a.open(nil), a.open(nil), a.open(nil)
	waits := func(s string) any {
		return a.call("Locks/Acquire", object{"session": s, "name": "x", "wait": "0s"}).at("waiting", "position")
	}
	held := a.acquire(holder, "x")
	eventually(t, "the first waits", func() bool { return waits(first) == 1.0 })
	eventually(t, "the second waits", func() bool { return waits(first) == 1.0 && waits(second) == 2.0 })
	a.request(first, "x").idle.Reset(0) // as if a lease had passed
	eventually(t, "the first has given up", func() bool { return waits(second) == 1.0 })
	a.call("Locks/Release", object{"session": second, "name": "x"}) // it waits no longer
	a.release(holder, held)
	eventually(t, "no request that was withdrawn has the lock", func() bool {
		return a.call("Locks/TryAcquire", object{"session": holder, "name": "x"}).at("held") != nil
	})
}

// A grant of which no call has heard is given back.
func TestUnheardGrant(t *testing.T) {
	a := serve(t, nil)
	holder, waiter := a.open(nil), a.open(nil)
	held := a.acquire(holder, "x")
	if out := a.call("Locks/Acquire", object{"session": waiter, "name": "x", "wait": "0s"}); out.at("waiting") == nil {
		t.Fatalf("a second holder: %v", out)
	}
	r := a.request(waiter, "x")
	a.release(holder, held)
	<-r.done
	if out := a.call("Locks/TryAcquire", object{"session": holder, "name": "x"}); out.at("busy") == nil {
		t.Errorf("it was not granted: %v", out)
	}
	r.idle.Reset(0) // as if a lease had passed
	eventually(t, "the lock is free again", func() bool {
		return a.call("Locks/TryAcquire", object{"session": holder, "name": "x"}).at("held") != nil
	})
}

// A holder attaches a value to its lock, which lists show until it is released.
func TestValue(t *testing.T) {
	a := serve(t, nil)
	s, other := a.open(nil), a.open(nil)
	a.fails(noRequest, "Locks/SetValue", object{"session": s, "name": "x", "value": "row 7"})
	a.call("Locks/Acquire", object{"session": s, "name": "x", "key": "k"})
	a.call("Locks/Acquire", object{"session": other, "name": "x", "wait": "0s"})
	shown := func() any {
		all, _ := a.call("Cluster/ListLocks", object{"prefix": "x"}).at("locks").([]any)
		if len(all) != 1 {
			t.Fatalf("%d locks", len(all))
		}
		return object(all[0].(map[string]any)).at("holder", "value")
	}
	for _, value := range []string{"row 7", "row 8"} {
		a.call("Locks/SetValue", object{"session": s, "key": "k", "value": value})
		eventually(t, "the value is shown", func() bool { return shown() == value })
	}
	a.fails(noRequest, "Locks/SetValue", object{"session": other, "name": "x", "value": "mine"}) // it waits
	a.fails(badRequest, "Locks/SetValue", object{"session": s, "key": "k", "value": strings.Repeat("x", 257)})
	a.fails(noSession, "Locks/SetValue", object{"session": "x", "key": "k"})
	if v := shown(); v != "row 8" {
		t.Errorf("shown: %v", v)
	}
	a.call("Locks/Release", object{"session": s, "key": "k"})
	a.call("Locks/Acquire", object{"session": other, "name": "x"})
	if v := shown(); v != nil {
		t.Errorf("the next holder has value %v", v)
	}
	a.call("Cluster/ForceRelease", object{"name": "x"})
	eventually(t, "the loss is known", func() bool {
		return a.call("Locks/KeepAlive", object{"session": other}).at("lost") != nil
	})
	a.fails(isLost, "Locks/SetValue", object{"session": other, "name": "x", "value": "late"})
}

func TestLoss(t *testing.T) {
	a := serve(t, nil)
	s := a.open(nil)
	token := a.call("Locks/Acquire", object{"session": s, "name": "x"}).at("held", "token")
	a.call("Locks/Acquire", object{"session": s, "name": "y"})
	if out := a.call("Cluster/ForceRelease", object{"name": "x"}); out.at("token") != token {
		t.Errorf("force-released: %v", out)
	}
	a.fails(isDeclined, "Cluster/ForceRelease", object{"name": "x"})
	for range 2 { // until it is released
		out := a.call("Locks/KeepAlive", object{"session": s})
		lost, _ := out.at("lost").([]any)
		if len(lost) != 1 || object(lost[0].(map[string]any)).at("token") != token || span(t, out.at("validFor")) <= 0 {
			t.Errorf("kept alive: %v", out)
		}
		a.fails(isLost, "Locks/Acquire", object{"session": s, "name": "x"})
	}
	for range 2 {
		a.fails(isLost, "Locks/Release", object{"session": s, "name": "x", "token": token})
	}
	if out := a.call("Locks/KeepAlive", object{"session": s}); out.at("lost") != nil {
		t.Errorf("lost for ever: %v", out)
	}
	if out := a.call("Locks/Acquire", object{"session": s, "name": "x"}); out.at("held") == nil {
		t.Errorf("not acquired again: %v", out)
	}
}

// A node that refuses a session is not asked again, and its reason is the answer.
func TestRefusedSession(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rights.toml")
	if err := os.WriteFile(file, []byte("[[rule]]\nwho = 'anyone'\nlocks = '*'\nmay = 'lock'\nquota = { sessions = 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := serve(t, func(c *node.Config) { c.Rights = file })
	refused := func(p problem, who node.Caller) {
		t.Helper()
		s, err := a.g.sessions.open(t.Context(), a.g.node, who, "", 0)
		if err == nil {
			s.end()
			t.Fatal("opened")
		}
		var e *connect.Error
		if !errors.As(err, &e) || e.Meta().Get(ReasonHeader) != p.reason || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: want %s, and no timeout", err, p.reason)
		}
	}
	revoked := node.Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "ci", Token: true}, From: "192.0.2.1:9"}
	refused(isDenied, revoked)
	a.open(nil)
	refused(overQuota, node.Caller{})
	a.g.node.Kill()
	refused(noNode, node.Caller{})
}

// A session without calls ends, and frees its locks.
func TestSilence(t *testing.T) {
	a := serve(t, nil)
	s, other := a.open(object{"length": "1s"}), a.open(nil)
	a.call("Locks/Acquire", object{"session": s, "name": "x"})
	if out := a.call("Locks/Acquire", object{"session": other, "name": "x"}); out.at("held") == nil {
		t.Errorf("a silent session keeps its lock: %v", out)
	}
	a.fails(noSession, "Locks/KeepAlive", object{"session": s})
}

// No call begins in a session that has expired, even if its locks are not released yet: its
// answer would grant time that the caller does not have.
func TestExpiredBeforeItEnds(t *testing.T) {
	a := serve(t, nil)
	id := a.open(nil)
	a.call("Locks/Acquire", object{"session": id, "name": "x"})
	a.g.sessions.mu.Lock()
	s := a.g.sessions.all[id]
	a.g.sessions.mu.Unlock()
	if s.expire() {
		t.Error("it expires before its time")
	}
	s.mu.Lock()
	s.until = 0
	s.mu.Unlock()
	if !s.expire() {
		t.Fatal("it does not expire")
	}
	a.fails(noSession, "Locks/KeepAlive", object{"session": id})
	s.finish((*client.Client).Close)
	if out := a.call("Locks/TryAcquire", object{"session": a.open(nil), "name": "x"}); out.at("held") == nil {
		t.Errorf("an expired session keeps its lock: %v", out)
	}
}

func TestBadCalls(t *testing.T) {
	a := serve(t, nil)
	s := a.open(nil)
	long := strings.Repeat("x", 513)
	a.fails(badRequest, "Locks/Acquire", object{"session": s, "name": ""})
	a.fails(badRequest, "Locks/Acquire", object{"session": s, "name": long})
	a.fails(badRequest, "Locks/Acquire", object{"session": s, "name": "x", "key": long})
	a.fails(badRequest, "Locks/Acquire", object{"session": s, "name": "x", "wait": "-1s"})
	a.fails(badRequest, "Locks/OpenSession", object{"label": long})
	a.fails(badRequest, "Locks/OpenSession", object{"length": "-1s"})
	a.fails(badRequest, "Cluster/ForceRelease", object{"name": long})
	a.fails(badRequest, "Cluster/ListLocks", object{"pageToken": long})
	a.fails(noSession, "Locks/Acquire", object{"name": "x"})
	if _, status, _ := a.try("Locks/Acquire", object{"nme": "x"}); status != 400 {
		t.Errorf("an unknown field: status %d", status)
	}
	if _, status, _ := a.try("Locks/Acquire", object{"session": s, "name": strings.Repeat("x", maxBody)}); status != 429 {
		t.Errorf("a body too long: status %d", status)
	}
	for p, of := range map[problem]*pool{manySessions: &a.g.sessions.places, manyCalls: &a.g.door.pools[calls]} {
		most := of.resize(0)
		a.fails(p, "Locks/OpenSession", nil)
		of.resize(most)
		a.call("Locks/OpenSession", nil)
	}
}

// The last values are remembered.
func TestRecent(t *testing.T) {
	var r recent[string, int]
	for i := range 3 * maxRecent {
		r.add(fmt.Sprint(i), i)
		r.add("again", i)
		again, _ := r.find("again")
		if one, ok := r.find(fmt.Sprint(i)); !ok || one != i || again != i {
			t.Fatalf("value %d: %d, %d", i, one, again)
		}
	}
	if _, ok := r.find("1"); ok || len(r.by) > maxRecent {
		t.Errorf("%d values are known, and the first: %v", len(r.by), ok)
	}
}
