//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
)

// Rates come from two samples, and nothing makes a line too long or unprintable.
func TestTopView(t *testing.T) {
	long := strings.Repeat("long/", 40) + "\x1b[2J"
	sample := func(at int64, acquired uint64, failed error) *topSample {
		return &topSample{
			at:      time.Unix(at, 0),
			members: []node.MemberInfo{{Name: "a", Address: "a:1"}, {Name: "b", Address: "b:1"}},
			status:  []node.Status{{Node: "a", State: "member", Leader: "a", Acquired: 10 * acquired}, {}},
			errs:    []error{nil, failed},
			locks: &survey.Locks{Locks: []survey.Lock{
				{Name: "idle", Acquired: 7},
				{Name: "busy", Acquired: acquired, Unlisted: 3, Holder: &survey.Holder{HolderInfo: node.HolderInfo{Party: node.Party{Who: "h"}}}},
				{Name: long, Acquired: acquired / 2, Waiters: []survey.Waiter{{WaiterInfo: node.WaiterInfo{Party: node.Party{Who: "w"}, Waited: 4}, Why: "held by " + long}}},
			}},
		}
	}
	before, now := sample(10, 1000, nil), sample(12, 31_000, errors.New("b is down"))
	v := now.since(before)
	if v.Interval != 2 || len(v.Busiest) != 2 || v.Busiest[0].Name != "busy" || v.Busiest[0].Acquired != 15_000 || v.Busiest[0].Waiting != 3 || v.Busiest[0].Holder != "h" {
		t.Errorf("%+v", v)
	}
	if len(v.Waits) != 1 || v.Waits[0].Waited != 4 || v.Members[0].Acquired != 150_000 || !v.Members[0].Leader || v.Members[1].Why != "b is down" {
		t.Errorf("%+v", v)
	}
	if v := sample(13, 10, nil).since(now); v.Busiest[0].Acquired != 10 { // a node was started again
		t.Errorf("%+v", v.Busiest)
	}
	for _, v := range []*topView{v, now.since(nil)} {
		var b bytes.Buffer
		v.print(terminal.NewPrinter(&b), 24)
		for line := range strings.SplitSeq(b.String(), "\n") {
			if utf8.RuneCountInString(line) > terminal.ScreenWidth || strings.Contains(line, "\x1b") {
				t.Errorf("%q", line)
			}
		}
		if n := strings.Count(b.String(), "\n"); n > 24 {
			t.Errorf("%d lines", n)
		}
	}
	if got := thousands(1234567) + " " + thousands(999.6) + " " + thousands(9.94); got != "1,234,567 1,000 9.9" {
		t.Error(got)
	}
}

// The command asks the nodes of a cluster, and prints once if its output is not a terminal.
func TestTop(t *testing.T) {
	n := serveHere(t, node.Config{Name: "a", Lease: time.Minute, Metrics: true})
	acquireHere(t, n, "orders/1")
	var v topView
	if err := json.Unmarshal([]byte(ok(t, "top --json --addr "+n.Address())), &v); err != nil || len(v.Members) != 1 || v.Members[0].Held != 1 || v.Interval == 0 {
		t.Errorf("%+v, %v", v, err)
	}
	var page node.LockPage[node.LockInfo]
	if err := n.AskAt(t.Context(), n.Address(), node.AskLocks, []byte(`{"top":5}`), &page); err != nil || len(page.Locks) != 1 || page.Locks[0].Acquired != 1 || page.Locks[0].Holder == nil {
		t.Errorf("%+v, %v", page, err)
	}
	if err := n.AskAt(t.Context(), n.Address(), node.AskLocks, []byte(`{"top":5,"prefix":"other"}`), &page); err != nil || len(page.Locks) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
}
