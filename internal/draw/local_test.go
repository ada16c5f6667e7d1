package draw

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// waiting makes a wait-for graph of edges, whose processes are numbered from 1.
func waiting(edges ...deadlock.Edge) *deadlock.Graph {
	g := &deadlock.Graph{}
	for _, e := range edges {
		g.Add(e.From-1, e.To-1, e.Label)
	}
	return g
}

func TestLocalText(t *testing.T) {
	layout := deadlock.Layout{Sites: 2, At: []algorithm.ID{0, 1, 1}} // L1 at site 1, L2 and L3 at site 2
	ring := waiting(deadlock.Edge{From: 2, To: 1, Label: "L1"}, deadlock.Edge{From: 1, To: 5, Label: "L2"}, deadlock.Edge{From: 5, To: 2, Label: "L3"})
	want := "  site 1  EXT --> P2 --L1--> P1 --> EXT\n  site 2  EXT --> P1 --L2--> P5 --L3--> P2 --> EXT\n"
	if got := LocalText(ring, layout); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// P1 and P3 wait for P2, which waits at the other site for P4.
	star := waiting(deadlock.Edge{From: 1, To: 2, Label: "L1"}, deadlock.Edge{From: 3, To: 2, Label: "L1"}, deadlock.Edge{From: 2, To: 4, Label: "L2"})
	want = "  site 1  P1 --L1--> P2 --> EXT\n          P3 --L1--> P2\n  site 2  EXT --> P2 --L2--> P4\n"
	if got := LocalText(star, layout); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// P2 is in the middle of a path here, and waited for at the other site.
	middle := waiting(deadlock.Edge{From: 1, To: 2, Label: "L2"}, deadlock.Edge{From: 2, To: 3, Label: "L3"}, deadlock.Edge{From: 4, To: 2, Label: "L1"})
	if got := LocalText(middle, layout); !strings.Contains(got, "  site 2  P1 --L2--> P2 --L3--> P3\n          EXT --> P2\n") {
		t.Errorf("got\n%s", got)
	}
	for what, g := range map[string]*deadlock.Graph{
		"one site":       waiting(deadlock.Edge{From: 1, To: 5, Label: "L2"}, deadlock.Edge{From: 5, To: 2, Label: "L3"}),
		"an unknown one": waiting(deadlock.Edge{From: 1, To: 5, Label: "L2"}, deadlock.Edge{From: 5, To: 2, Label: "L9"}),
		"no names":       waiting(deadlock.Edge{From: 1, To: 5}, deadlock.Edge{From: 5, To: 2}),
		"none":           {},
	} {
		if got := LocalText(g, layout); got != "" {
			t.Errorf("%s: got\n%s", what, got)
		}
	}
}

// The picture has the graph of each site, with EXT, if and only if the layout is known.
func TestLocalPicture(t *testing.T) {
	ring := waiting(deadlock.Edge{From: 2, To: 1, Label: "L1"}, deadlock.Edge{From: 1, To: 2, Label: "L2"})
	with := WaitFor(ring, Caption{Title: "x", Victim: algorithm.None, Layout: deadlock.Layout{Sites: 2, At: []algorithm.ID{0, 1}}})
	without := WaitFor(ring, Caption{Title: "x", Victim: algorithm.None})
	if strings.Count(with, ">EXT<") != 4 || !strings.Contains(with, ">site 2<") || strings.Contains(without, "EXT") {
		t.Errorf("with a layout\n%s\nand without\n%s", with, without)
	}
}
