package gateway

import (
	"testing"

	"connectrpc.com/connect"
)

// A release that was delayed on its way, or sent twice, changes nothing about the next hold,
// nor about its loss, nor about the next request.
func TestLateRelease(t *testing.T) {
	a := serve(t, nil)
	s, other := a.open(nil), a.open(nil)
	first := a.acquire(s, "x")
	late := func() {
		t.Helper()
		out := a.call("Locks/Release", object{"session": s, "name": "x", "token": first["token"]})
		if out.at("token") != first["token"] {
			t.Errorf("released: %v", out)
		}
	}
	late()
	late() // before there is a next hold
	second := a.acquire(s, "x")
	late()
	a.fails(badRequest, "Locks/Release", object{"session": s, "name": "x"}) // it says of no hold
	if out := a.call("Locks/TryAcquire", object{"session": other, "name": "x"}); out.at("busy") == nil {
		t.Errorf("a late release released the next hold: %v", out)
	}
	if out := a.call("Locks/KeepAlive", object{"session": s}); out.at("lost") != nil || span(t, out.at("validFor")) <= 0 {
		t.Errorf("kept alive: %v", out)
	}
	a.call("Cluster/ForceRelease", object{"name": "x"})
	a.call("Locks/Acquire", object{"session": other, "name": "x"})
	for range 2 {
		lost, _ := a.call("Locks/KeepAlive", object{"session": s}).at("lost").([]any)
		if len(lost) != 1 || object(lost[0].(map[string]any)).at("token") != second["token"] {
			t.Errorf("the loss is not reported: %v", lost)
		}
		late()
	}
	second["session"] = s
	a.fails(isLost, "Locks/Release", second)
	a.call("Locks/Acquire", object{"session": s, "name": "x", "wait": "0s"})
	late()
	a.fails(isLost, "Locks/Release", second)
	if a.request(s, "x") == nil {
		t.Error("a late release withdrew the next request")
	}
	a.fails(noRequest, "Locks/Release", object{"session": s, "name": "x", "token": "1.1"})
}

// A grant that no call has reported is released without its token, which the caller cannot know,
// and then no call reports it any longer.
func TestReleaseBeforeItIsReported(t *testing.T) {
	a := serve(t, nil)
	id := a.open(nil)
	a.g.sessions.mu.Lock()
	s := a.g.sessions.all[id]
	a.g.sessions.mu.Unlock()
	key := requestKey{"", "x"}
	attach := func() *request {
		r, err := s.attach(ask{name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := attach()
	<-r.done
	o, err := s.releasing(key, "")
	if err != nil {
		t.Fatal(err)
	}
	if s.tell(r) {
		t.Error("a call reports a lock that is about to be released")
	}
	next := attach()
	if next == r {
		t.Error("a call attached to a request that is about to end")
	}
	if err := o.end(); err != nil {
		t.Error(err)
	}
	<-next.done
	if !s.tell(next) {
		t.Error("the next grant is not reported")
	}
	if _, err := s.releasing(key, ""); connect.CodeOf(err) != badRequest.code {
		t.Errorf("released without its token: %v", err)
	}
	s.detach(r)
	s.detach(next)
}
