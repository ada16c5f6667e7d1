package stile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// What Watch yields follows from what is listed: only changes, and no release that is only
// a node's silence.
func TestChanged(t *testing.T) {
	held := func(name, holder string, count uint64, waiters ...string) LockInfo {
		l := LockInfo{Name: name, Holder: holder, Node: "n", Token: Token{1, count}, Held: time.Duration(count)}
		for _, w := range waiters {
			l.Waiters = append(l.Waiters, Waiter{Name: w, Waited: time.Duration(count)})
		}
		return l
	}
	known := map[string]LockInfo{}
	for i, x := range []struct {
		list     []LockInfo
		complete bool
		want     []string
	}{
		{[]LockInfo{held("x", "a", 1), held("y", "b", 1)}, true, []string{"x", "y"}},
		{[]LockInfo{held("x", "a", 1), held("y", "b", 1)}, true, nil},
		{[]LockInfo{held("x", "a", 2), held("y", "b", 1)}, true, []string{"x"}},
		{[]LockInfo{held("x", "a", 2, "c"), held("y", "b", 1)}, true, []string{"x"}},
		{[]LockInfo{held("x", "a", 2, "c"), {Name: "y", Holder: "b", Node: "n", Token: Token{1, 1}, Value: "v"}}, true, []string{"y"}},
		{[]LockInfo{held("x", "a", 2, "c")}, false, nil},
		{[]LockInfo{held("x", "a", 2, "c"), held("z", "d", 1)}, false, []string{"z"}},
		{[]LockInfo{held("x", "a", 2, "c"), held("z", "d", 1)}, true, []string{"y"}},
		{nil, true, []string{"x", "z"}},
		{nil, true, nil},
	} {
		var got []string
		for _, l := range changed(known, x.list, x.complete) {
			got = append(got, l.Name)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%d: %q changed, want %q", i, got, x.want)
		}
	}
}

// A node and a client see the same locks and members, and the values of holders.
func TestCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := Open(ctx, Config{Name: "a", Lease: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(ctx, Config{Name: "b", Join: []string{a.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := Dial(ctx, DialConfig{Nodes: []string{b.Address()}, Name: "me"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, err := c.LockAll(ctx, "jobs/1", "jobs/2")
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.Lock(ctx, "jobs/3")
	if err != nil {
		t.Fatal(err)
	}
	if all.Get("jobs/1").SetValue("row 7") != nil || own.SetValue("row 8") != nil || own.SetValue("\xff") == nil {
		t.Error("a value of UTF-8 can be attached, and no other")
	}
	for list, err := c.Locks(ctx, "jobs/1"); err != nil || len(list) != 1 || list[0].Value == ""; list, err = c.Locks(ctx, "jobs/1") {
		if ctx.Err() != nil {
			t.Fatal("the value of a client does not arrive", list, err)
		}
	}
	for name, x := range map[string]interface {
		Members(context.Context) ([]Member, error)
		Locks(context.Context, string) ([]LockInfo, error)
	}{"node": a, "client": c} {
		members, err := x.Members(ctx)
		if err != nil || len(members) != 2 || members[0].Name != "a" || members[1].Address != b.Address() {
			t.Errorf("%s: %+v, %v", name, members, err)
		}
		list, err := x.Locks(ctx, "jobs/")
		if err != nil || len(list) != 3 || list[0].Value != "row 7" || !strings.Contains(list[0].Holder, "me") || !strings.HasSuffix(list[0].Holder, " at b") || list[0].Token != all.Get("jobs/1").Token() || list[1].Value != "" || list[2].Value != "row 8" || list[2].Node != "a" {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		if list, err = x.Locks(ctx, "jobs/2"); err != nil || len(list) != 1 {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
	seen := map[string]bool{}
	for l, err := range c.Watch(ctx, "jobs/") {
		if err != nil {
			t.Fatal(err)
		}
		switch seen[l.Name] = l.Holder != ""; {
		case l.Name == "jobs/3" && l.Holder != "":
			own.Unlock()
		case l.Name == "jobs/3":
			cancel()
		}
	}
	if len(seen) != 3 || !seen["jobs/1"] || seen["jobs/3"] {
		t.Error(seen)
	}
	together := all.Context()
	if together.Err() != nil {
		t.Error(together.Err())
	}
	all.Get("jobs/2").Unlock()
	if <-together.Done(); !errors.Is(context.Cause(together), ErrReleased) {
		t.Error(context.Cause(together))
	}
	c.Close()
	b.Close()
	a.Close()
	for _, err := range a.Watch(t.Context(), "") {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}
