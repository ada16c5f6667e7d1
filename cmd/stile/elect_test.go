//go:build linux || darwin

package main

import (
	"encoding/json"
	"strings"
	"testing"

	lib "github.com/stile-lock/stile"
)

// Leaders run their commands one after the other, and an observer sees each of them.
func TestLiveElect(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a")
	at(t, a, 1, "elect", "x")
	observer := begin(t, nil, "elect", "x", "--observe", "--addr", a)
	observer.waitFor("^no leader$")
	leader := begin(t, nil, "elect", "x", "--value", "here", "--addr", a, "--", "sh", "-c", `echo $STILE_ELECTION $STILE_LOCK $STILE_TOKEN $STILE_TERM; cat`)
	term := leader.waitFor(`^x x \S+ (\S+)$`)
	observer.waitFor(`^term ` + term + `: a client \(label "sh@.*"\) at a, value here$`)
	if said := at(t, a, 0, "elect", "x"); !strings.Contains(said, "term "+term) {
		t.Errorf("stile elect says %q", said)
	}
	var r leaderReport
	if err := json.Unmarshal([]byte(at(t, a, 0, "elect", "x", "--json")), &r); err != nil || r.Election != "x" || r.Leader == nil || r.Leader.Term != term || r.Leader.Value != "here" || r.Leader.Node != "a" {
		t.Errorf("%+v, %v", r, err)
	}
	at(t, a, 1, "elect", "x", "-n", "true")
	next := begin(t, nil, "elect", "x", "--addr", a, "--", "sh", "-c", "echo $STILE_TERM")
	leader.stdin.Close()
	leader.waitExit(0)
	later := next.waitFor(`^(\d+\.\d+)$`)
	next.waitExit(0)
	observer.waitFor("^term " + later + ": ")
	observer.waitFor("^no leader$")
	first, err := lib.ParseToken(term)
	second, err2 := lib.ParseToken(later)
	if err != nil || err2 != nil || !first.Less(second) {
		t.Errorf("term %s after %s", later, term)
	}
	at(t, a, 7, "elect", "x", "--", "sh", "-c", "exit 7")
	var none leaderReport
	if err := json.Unmarshal([]byte(strings.TrimSpace(at(t, a, 1, "elect", "x", "--json"))), &none); err != nil || none.Leader != nil {
		t.Errorf("%+v, %v", none, err)
	}
	at(t, "127.0.0.1:1", 2, "elect", "x")
	at(t, "127.0.0.1:1", 2, "elect", "x", "--observe")
}

// A command that waits for a lock that it already runs under is refused at once.
func TestLiveReentrant(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a")
	at(t, a, 0, "exec", "x", "stile", "exec", "y", "stile", "elect", "z", "true")
	for _, inner := range []string{"exec x true", "exec y true", "lock x", "elect x true", "exec -w 9 x true"} {
		args := append(strings.Fields("exec x stile exec y stile"), strings.Fields(inner)...)
		if said := at(t, a, 2, args...); !strings.Contains(said, "STILE_HELD") {
			t.Errorf("stile %q says %q", args, said)
		}
	}
	at(t, a, 1, "exec", "x", "stile", "exec", "-n", "x", "true")
}
