package member

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// A state can be read if its ranks are those of a member of the largest view, and not
// otherwise.
func TestStateRanks(t *testing.T) {
	for _, x := range []struct {
		queue, lendee, claimant int
		ok                      bool
	}{
		{0, -1, 0, true}, {MaxMembers - 1, MaxMembers - 1, MaxMembers - 1, true},
		{MaxMembers, 0, 0, false}, {0, MaxMembers, 0, false}, {0, 0, MaxMembers, false},
	} {
		p := full()
		p.Lendee, p.Queue, p.Claimants[0].Rank = x.lendee, []Turn{{Stamp{9, 9, 9}, x.queue}}, x.claimant
		s := State{Present: p}
		var codec algorithm.Codec
		var back State
		want := fmt.Sprintf("%+v", p)
		if err := codec.Load(codec.Append(nil, 3, &s), 3, &back); (err == nil) != x.ok {
			t.Errorf("%+v: %v", x, err)
		} else if got := fmt.Sprintf("%+v", back.Present); x.ok && got != want {
			t.Errorf("%+v: read as\n%s\nwant\n%s", x, got, want)
		}
	}
}

// A state has room for sets of up to 60 processes that may be inside by an older view.
func TestStateUniverse(t *testing.T) {
	for ghosts, ok := range map[int]bool{0: true, 59: true, 60: false} {
		f := newFleet(t, "central", 1)
		v := f.next()
		for i := range ghosts {
			v.Ghosts = append(v.Ghosts, Ghost{uint64(100 + i), Second})
		}
		f.install(v)
		f.lock(0, "a")
		if err := (&Template{Member: f.members[0]}).Save(&State{}); (err == nil) != ok || err != nil && !errors.Is(err, errNotSmall) {
			t.Errorf("%d ghosts: %v", ghosts, err)
		}
	}
}
