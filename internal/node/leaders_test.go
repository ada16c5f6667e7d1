package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
)

// askLeader asks a node for a leader, as a client does or as its own process.
func askLeader(t *testing.T, n *Node, here bool, q LeaderQuery) (r LeaderReport) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	about, err := json.Marshal(&q)
	if err != nil {
		t.Fatal(err)
	}
	if here {
		err = n.AskAt(ctx, n.Address(), AskLeader, about, &r)
	} else {
		var b []byte
		if b, _, err = client.Query(ctx, client.Config{Nodes: []string{n.Address()}}, AskLeader, about); err == nil {
			err = json.Unmarshal(b, &r)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// waitsFor waits until so many queries wait.
func waitsFor(t *testing.T, n *Node, want int) {
	t.Helper()
	becomes(t, n, fmt.Sprint(want, " queries wait"), func(Status) bool { return polls(n) == want })
}

// polls returns how many queries wait.
func polls(n *Node) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.leaders.polls["x"])
}

// A node reports a leader once its value is attached, wakes those that wait for another one,
// and remembers leaders that have ended, for applications and for clients alike.
func TestLeaders(t *testing.T) {
	n := start(t, 1, nil)[0]
	ctx, cancel := soon(t)
	defer cancel()
	c, err := client.Dial(ctx, client.Config{Nodes: []string{n.Address()}, Name: "me"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var terms []string
	for i, campaign := range []func() (lock.Handle, error){
		func() (lock.Handle, error) { return n.Lock(ctx, "x", lock.Options{}) },
		func() (lock.Handle, error) { return c.Lock(ctx, "x", lock.Options{}) },
	} {
		h, err := campaign()
		if err != nil {
			t.Fatal(err)
		}
		r := askLeader(t, n, i == 0, LeaderQuery{Name: "x"})
		if r.Leader != nil || len(r.Past) != 0 || r.Lease != 2 {
			t.Errorf("without a value: %+v", r)
		}
		for _, value := range []string{"", "v"} {
			news := make(chan LeaderReport, 2)
			for _, here := range []bool{false, true} {
				go func() { news <- askLeader(t, n, here, LeaderQuery{Name: "x", Known: r.State, Wait: 1000}) }()
			}
			waitsFor(t, n, 2)
			if err := h.SetValue(value); err != nil {
				t.Error(err)
			}
			if i == 0 && polls(n) != 0 {
				t.Error("queries still wait")
			}
			for range 2 {
				if r = <-news; r.Leader == nil || r.Leader.Value != value || r.Leader.Token != h.Token().String() || i == 1 && r.Leader.Label != "me" {
					t.Errorf("%q: %+v", value, r)
				}
			}
		}
		again := askLeader(t, n, false, LeaderQuery{Name: "x", Known: r.State, Wait: 0.001})
		if again.State != r.State || again.Leader == nil {
			t.Errorf("after the wait: %+v", again)
		}
		next := make(chan lock.Handle)
		go func() { next <- acquire(t, n, "x") }()
		becomes(t, n, "waiting", func(s Status) bool { return s.Waiting == 1 })
		release(t, h)
		silent := <-next // holds the lock without a value
		terms = append(terms, h.Token().String())
		r = askLeader(t, n, true, LeaderQuery{Name: "x", Since: "0.0", Known: r.State, Wait: 1000})
		var past []string
		for _, l := range r.Past {
			past = append(past, l.Token)
		}
		if r.Leader != nil || strings.Join(past, " ") != strings.Join(terms, " ") {
			t.Errorf("leaders %v, want %v; %+v", past, terms, r.Leader)
		}
		release(t, silent)
	}
	if r := askLeader(t, n, false, LeaderQuery{Name: "x", Since: terms[0]}); len(r.Past) != 1 || r.Past[0].Token != terms[1] {
		t.Errorf("%+v", r)
	}
}

// Only so many leaders are remembered, queries of a connection that has ended are forgotten,
// and the answer to one that waits is for those who may still read it.
func TestLeadersBounded(t *testing.T) {
	n := start(t, 1, nil)[0]
	for range maxPast + 2 {
		h := acquire(t, n, "y")
		if err := h.SetValue(strings.Repeat("<", 256)); err != nil { // JSON needs six bytes for each
			t.Fatal(err)
		}
		release(t, h)
	}
	if r := askLeader(t, n, false, LeaderQuery{Name: "y", Since: "0.0"}); len(r.Past) != maxPast {
		t.Errorf("%d are remembered", len(r.Past))
	}
	known := askLeader(t, n, false, LeaderQuery{Name: "x"}).State
	about, _ := json.Marshal(LeaderQuery{Name: "x", Known: known, Wait: 1000})
	ctx, cancel := soon(t)
	defer cancel()
	reader := Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "backup"}} // it may read mine/*, by the rules
	c, err := n.Connect(ctx, reader, client.Config{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, maxPolls+1)
	ask := func() {
		_, err := c.Ask(ctx, AskLeader, about)
		done <- err
	}
	for range maxPolls + 1 {
		go ask()
	}
	if err := <-done; err != nil {
		t.Errorf("one too many is answered at once: %v", err)
	}
	waitsFor(t, n, maxPolls)
	rules, err := rights.Parse(rules, true)
	if err != nil {
		t.Fatal(err)
	}
	n.enter()
	n.rules = rules
	n.wakeAllPolls()
	n.leave()
	for range maxPolls {
		if err := <-done; !errors.Is(err, lock.ErrDenied) {
			t.Errorf("without the right to read: %v", err)
		}
	}
	if _, err := c.Ask(ctx, AskLeader, about); !errors.Is(err, lock.ErrDenied) {
		t.Errorf("without the right to read: %v", err)
	}
	if _, err := c.Ask(ctx, AskLeader, []byte(`{"name": "mine/x"}`)); err != nil {
		t.Errorf("with the right to read: %v", err)
	}
	for _, about := range []string{"", "[]", `{"name":1}`} {
		if _, err := c.Ask(ctx, AskLeader, []byte(about)); err == nil {
			t.Errorf("%q is answered", about)
		}
	}
	n.enter()
	n.rules = rights.Default(false)
	n.leave()
	go ask()
	waitsFor(t, n, 1)
	c.Close()
	becomes(t, n, "without connections", func(Status) bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(n.conns) == 0 && len(n.leaders.polls) != 0 {
			t.Error("a query waits whose connection has ended")
		}
		return len(n.conns) == 0
	})
}
