package measure

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// logs starts the logs of voters, as a node does.
func logs() views.Logs {
	return raft.Logs{Election: process.Election, Heartbeat: process.Heartbeat, MaxLog: 1000}
}

// Nothing takes longer than the settings allow, and no other member loses a lock: neither
// in what is measured here nor on the page.
func TestOutages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	page := read(t)
	for _, g := range groups(logs()) {
		for _, o := range Outages() {
			if !o.Possible(&g) {
				continue
			}
			b := o.Bound(&g)
			for seed := range uint64(2) {
				x, err := o.Measure(g, 1000+seed)
				if err != nil || !x.Within(&b) {
					t.Errorf("%s, %s: %+v, the bound is %+v: %v", g.title(), o.Name, x, b, err)
				}
			}
			if x := page.outcome(t, g.title(), o.Name); !x.Within(&b) {
				t.Errorf("docs/results/live.md: %s, %s: %+v, the bound is %+v", g.title(), o.Name, x, b)
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

// It follows from the settings that no lease is lost when a leader crashes, if the first
// election succeeds; in small clusters also if the second does.
func TestKeeps(t *testing.T) {
	for _, g := range groups(logs()) {
		if !g.Keeps(1) || g.Members <= 5 && !g.Keeps(2) {
			t.Errorf("%s: leases can be lost when the leader crashes", g.title())
		}
	}
}

// An election that takes as long as a lease costs the other members their locks, and the
// measurement notices.
func TestSlowElection(t *testing.T) {
	g := Group{Members: 5, Voters: 3, Settings: member.Usual(), Logs: raft.Logs{Election: 99, Heartbeat: process.Heartbeat, MaxLog: 1000}}
	for _, o := range Outages() {
		if o.Name != "the leader crashes" {
			continue
		}
		x, err := o.Measure(g, 1)
		if b := o.Bound(&g); err != nil || x.Lost == 0 || x.Within(&b) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// Another lock waits for the rest of the lease of a crashed member only if it is being
// handed over while the view changes: if that is rare, it never waits so long.
func TestHandedOver(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	stalls := func(hold member.Span) (n int) {
		g := Group{Members: 5, Voters: 3, Settings: member.Usual(), Hold: hold, Logs: logs()}
		for seed := range uint64(outageSeeds) {
			x, err := Outages()[0].Measure(g, seed+1)
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
		t.Errorf("handed over often, it waits long in %d of %d clusters; rarely, in %d", often, outageSeeds, seldom)
	}
}

// Possible refuses what cannot happen.
func TestPossible(t *testing.T) {
	for _, g := range groups(logs()) {
		for _, o := range Outages() {
			want := true
			switch {
			case strings.HasPrefix(o.Name, "a member") || o.Name == "the holder crashes":
				want = g.Voters < g.Members
			case o.Name == "the leader and the holder crash":
				want = g.Members > 3 // or one voter of three would be left
			}
			if o.Possible(&g) != want {
				t.Errorf("%s, %s: possible is %v", g.title(), o.Name, !want)
			}
		}
	}
}
