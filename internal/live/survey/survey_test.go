package survey

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/live/node"
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
