package measure

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/peer"
)

func disk() engine.Store { return raft.NewDrive(peer.Election, peer.Heartbeat, 1000) }

// Nothing takes longer than the settings say, and nobody who is left loses a hold:
// not in what is measured again here, nor in what the page says of all seeds.
func TestOutages(t *testing.T) {
	page := read(t)
	for _, g := range groups(disk) {
		for _, o := range Outages() {
			if !o.Possible(&g) {
				continue
			}
			b := o.Bound(&g)
			for seed := range uint64(2) {
				x, err := Suffer(o, g, 1000+seed)
				if err != nil || !x.Within(&b) {
					t.Errorf("%s, %s: %+v, the bound is %+v: %v", g.title(), o.Name, x, b, err)
				}
			}
			if x := page.outcome(t, g.title(), o.Name); !x.Within(&b) {
				t.Errorf("docs/live.md: %s, %s: %+v, the bound is %+v", g.title(), o.Name, x, b)
			}
		}
	}
}

// outcome returns the longest times of a row, rounded down.
func (c committed) outcome(t *testing.T, table, row string) Outcome {
	t.Helper()
	var all []int64
	for _, cell := range c.rows[[2]string{table, row}] {
		parts := strings.Split(cell, " / ")
		ms, err := strconv.ParseFloat(parts[len(parts)-1], 64)
		if cell == "–" {
			ms, err = -1, nil
		}
		if err != nil {
			t.Fatalf("%s, %s: %v", table, row, err)
		}
		all = append(all, int64(ms*T))
	}
	if len(all) != 7 {
		t.Fatalf("%s, %s: %d cells, want 7", table, row, len(all))
	}
	return Outcome{Next: all[0], Other: all[1], Serves: all[2], View: all[3], Renewal: all[4], Free: all[5], Lost: int(all[6] / T)}
}

// That no lease is lost when a leader dies follows from the settings, if the
// first election ends with a leader; in small clusters also if the second does.
func TestKeeps(t *testing.T) {
	for _, g := range groups(disk) {
		if !g.Keeps(1) || g.Members <= 5 && !g.Keeps(2) {
			t.Errorf("%s: leases can be lost when the leader dies", g.title())
		}
	}
}

// An election that takes as long as a lease costs those who are left their holds,
// and that is noticed.
func TestSlowElection(t *testing.T) {
	g := Group{Members: 5, Voters: 3, Settings: member.Usual(), Disk: func() engine.Store { return raft.NewDrive(99, peer.Heartbeat, 1000) }}
	for _, o := range Outages() {
		if o.Name != "the leader dies" {
			continue
		}
		x, err := Suffer(o, g, 1)
		if b := o.Bound(&g); err != nil || x.Lost == 0 || x.Within(&b) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// Another lock waits for the rest of a dead one's lease only if it is being handed
// over while the view changes: if it is hardly ever, it never waits so long.
func TestHandedOver(t *testing.T) {
	stalls := func(hold member.Span) (n int) {
		g := Group{Members: 5, Voters: 3, Settings: member.Usual(), Hold: hold, Disk: disk}
		for seed := range uint64(outageSeeds) {
			x, err := Suffer(Outages()[0], g, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			if x.Other > int64(g.Settings.Lease)/4 {
				n++
			}
		}
		return n
	}
	if often, seldom := stalls(10*member.Millisecond), stalls(500*member.Millisecond); often == 0 || seldom > 0 {
		t.Errorf("handed over often, it waits for long in %d of %d clusters; seldom, in %d", often, outageSeeds, seldom)
	}
}

// What cannot happen is said to be impossible.
func TestPossible(t *testing.T) {
	for _, g := range groups(disk) {
		for _, o := range Outages() {
			want := true
			switch {
			case strings.HasPrefix(o.Name, "a member") || o.Name == "the holder dies":
				want = g.Voters < g.Members
			case o.Name == "the leader dies, and the holder":
				want = g.Members > 3 // or one voter of three would be left
			}
			if o.Possible(&g) != want {
				t.Errorf("%s, %s: possible is %v", g.title(), o.Name, !want)
			}
		}
	}
}
