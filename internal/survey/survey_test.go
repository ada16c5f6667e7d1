package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/node"
)

// A client that has moved holds its lock through two nodes for a while.
func TestMoved(t *testing.T) {
	found := map[string]*Lock{}
	for _, x := range []struct {
		node string
		held float64
	}{{"a", 7}, {"b", 1}, {"c", 8}} {
		merge(found, &node.LockInfo{Name: "demo", Node: x.node, Holder: &node.HolderInfo{Token: "3.1", Held: x.held}}, x.node+":1")
	}
	if l := found["demo"]; l.Holder.Node != "b" || !slices.Equal(l.Through, []string{"a:1", "b:1", "c:1"}) {
		t.Errorf("held through %s, to be released at %v", l.Holder.Node, l.Through)
	}
}

// A node knows that requests wait, and others know by which decisions.
func TestBecause(t *testing.T) {
	found := map[string]*Lock{}
	waits := func(of string) node.Decision { return node.Decision{Node: of, Text: of + " is deferred"} }
	for _, x := range []node.LockInfo{
		{Node: "a", Waiters: []node.WaiterInfo{{}}, Because: []node.Decision{waits("c")}},
		{Node: "b", Holder: &node.HolderInfo{}, Because: []node.Decision{waits("a"), waits("c")}},
		{Node: "c", Waiters: []node.WaiterInfo{{}}},
	} {
		x.Name = "demo"
		merge(found, &x, x.Node+":1")
	}
	l := found["demo"]
	l.explain()
	want := map[string][]string{"a": {"a is deferred"}, "c": {"c is deferred", "c is deferred"}}
	for _, w := range l.Waiters {
		if !slices.Equal(w.Because, want[w.Node]) {
			t.Errorf("%s waits because %q", w.Node, w.Because)
		}
	}
}

// Several hold a kept lock, through one node and through others.
func TestShared(t *testing.T) {
	held := func(token string, tx uint64) node.HolderInfo {
		return node.HolderInfo{Token: token, Demand: node.Demand{Mode: "shared", Tx: tx}}
	}
	one, other := held("7.10", 7), held("7.2", 7)
	found := map[string]*Lock{}
	merge(found, &node.LockInfo{Name: "demo", Node: "a", Holder: &one, Shared: []node.HolderInfo{held("7.9", 8)}}, "a:1")
	merge(found, &node.LockInfo{Name: "demo", Node: "b", Holder: &other}, "b:1")
	merge(found, &node.LockInfo{Name: "demo", Node: "c", Shared: []node.HolderInfo{one}}, "c:1") // as no node answers
	l := found["demo"]
	l.rank()
	if l.Holder.Node != "b" || len(l.Shared) != 2 || l.Shared[0].Tx != 8 || l.Shared[1].Token != "7.10" {
		t.Errorf("held by %+v and %+v", l.Holder, l.Shared)
	}
}

// What nodes report is merged, page by page, and nodes that do not answer are named.
func TestTake(t *testing.T) {
	ask := func(_ context.Context, address string, _ uint64, about []byte, to any) error {
		var q node.LockQuery
		if err := json.Unmarshal(about, &q); err != nil {
			t.Error(err)
		}
		got := to.(*node.LockPage[node.LockInfo])
		switch {
		case address == "c":
			return errors.New("it is down")
		case address == "d": // it never gets to an end
			*got = node.LockPage[node.LockInfo]{Next: "x"}
		case q.After == "":
			*got = node.LockPage[node.LockInfo]{Next: "x", Locks: []node.LockInfo{{Name: "x", Node: address, Acquired: 2, Waiters: []node.WaiterInfo{{Party: node.Party{Who: address}}}}}}
		default:
			*got = node.LockPage[node.LockInfo]{Locks: []node.LockInfo{{Name: "y", Node: address, Unlisted: 1}}}
		}
		return nil
	}
	members := []node.MemberInfo{{Name: "a", Address: "a"}, {Name: "b", Address: "b"}, {Name: "c", Address: "c"}, {Name: "d", Address: "d"}}
	s := Take(t.Context(), members, node.LockQuery{}, ask)
	if len(s.Locks) != 2 || len(s.Locks[0].Waiters) != 2 || s.Locks[0].Acquired != 4 || s.Locks[1].Unlisted != 2 {
		t.Errorf("%+v", s.Locks)
	}
	if len(s.Unasked) != 2 || s.Unasked[0].Node != "c" || s.Unasked[1].Node != "d" {
		t.Errorf("%+v", s.Unasked)
	}
}

// A page lists what all nodes know up to the first name at which one of their pages ends, so
// that no lock is listed in parts, left out or listed twice.
func TestPage(t *testing.T) {
	names := map[string][]string{"a": {"a", "b", "c", "f"}, "b": {"c", "e", "f"}, "c": nil}
	ask := func(_ context.Context, address string, _ uint64, about []byte, to any) error {
		var q node.LockQuery
		if err := json.Unmarshal(about, &q); err != nil {
			t.Error(err)
		}
		got := to.(*node.LockPage[node.LockInfo])
		for _, name := range names[address] {
			if name <= q.After {
				continue
			}
			if len(got.Locks) == 2 {
				got.Next = got.Locks[1].Name
				break
			}
			got.Locks = append(got.Locks, node.LockInfo{Name: name, Unlisted: 1})
		}
		return nil
	}
	members := []node.MemberInfo{{Address: "a"}, {Address: "b"}, {Address: "c"}}
	var got []string
	for q := (node.LockQuery{}); ; {
		page, next := Page(t.Context(), members, q, ask)
		for _, l := range page.Locks {
			got = append(got, fmt.Sprint(l.Name, l.Unlisted))
		}
		if q.After = next; next == "" {
			break
		}
		got = append(got, "|")
	}
	if want := []string{"a1", "b1", "|", "c2", "e1", "|", "f2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
