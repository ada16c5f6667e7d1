package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/spell"
)

// coordinated makes an algorithm with a coordinator, by default process 1.
func coordinated(f func(coordinator algorithm.ID) algorithm.Spec) func(o algorithm.Options) (algorithm.Spec, error) {
	return func(o algorithm.Options) (algorithm.Spec, error) {
		if o.Coordinator < 0 || o.Coordinator > maxProcess {
			return algorithm.Spec{}, fmt.Errorf("coordinator %d is not a process: want a number from 1", o.Coordinator)
		}
		return f(algorithm.ID(max(o.Coordinator, 1) - 1)), nil
	}
}

// quorums returns the quorum systems that o selects, by default the grid.
func quorums(o algorithm.Options) (quorum.Builder, error) {
	if o.Sets != "" {
		if o.Topology != "" {
			return nil, fmt.Errorf("give a topology or sets, not both")
		}
		sets, err := ParseSets(o.Sets)
		return quorum.Given(sets), err
	}
	switch o.Topology {
	case "", "grid":
		return quorum.Grid, nil
	case "plane":
		return quorum.Plane, nil
	case "majority":
		return quorum.Majority, nil
	}
	return nil, fmt.Errorf("unknown topology %q: want grid, plane or majority%s", o.Topology, spell.DidYouMean(o.Topology, "grid", "plane", "majority"))
}

// drawn sets the shape of an algorithm to that of the sets that o selects.
func drawn(s algorithm.Spec, o algorithm.Options) algorithm.Spec {
	switch {
	case o.Topology == "plane":
		s.Shape.Picture, s.Shape.Title = algorithm.Plane, "each process asks one line of the plane for votes"
	case o.Topology == "majority" || o.Sets != "":
		s.Shape.Picture, s.Shape.Title = algorithm.Mesh, "each process asks its set for votes"
	}
	return s
}

// SetProperties returns the properties of the sets that o selects for n processes of the
// algorithm, given by hand or by the name of a quorum system; for Sanders' algorithm,
// those of the request sets. It returns nil if the algorithm has no sets, or if o leaves
// the choice to it.
func SetProperties(name string, o algorithm.Options, n int) (*quorum.Properties, error) {
	lock, _, _ := strings.Cut(name, "+")
	i := slices.IndexFunc(entries(), func(e entry) bool { return e.name == lock })
	if i < 0 || o.Sets == "" && o.Topology == "" || !strings.Contains(entries()[i].knows, "sets") {
		return nil, nil
	}
	build := quorums
	if lock == "sanders" {
		build = requestSets
	}
	make, err := build(o)
	if err != nil {
		return nil, err
	}
	sets, err := make(n)
	if err != nil {
		return nil, err
	}
	p := sets.Properties()
	return &p, nil
}

// tree returns the trees that o selects, by default those in which every process has two
// children.
func tree(o algorithm.Options) (mutex.TreeOf, error) {
	switch o.Topology {
	case "":
		return mutex.Kary(2), nil
	case "star":
		return mutex.Star, nil
	case "line":
		return mutex.Kary(1), nil
	}
	kind, arg, _ := strings.Cut(o.Topology, ":")
	if kind == "tree" {
		k, err := strconv.Atoi(arg)
		if err != nil || k < 1 {
			return nil, fmt.Errorf("topology %q: want tree:K with K at least 1", o.Topology)
		}
		return mutex.Kary(k), nil
	}
	if !strings.Contains(o.Topology, "-") {
		return nil, fmt.Errorf("unknown topology %q: want tree:K, star, line or edges such as 1-2,1-3%s", o.Topology, spell.DidYouMean(kind, "tree", "star", "line"))
	}
	var pairs [][2]algorithm.ID
	for edge := range strings.SplitSeq(o.Topology, ",") {
		a, b, _ := strings.Cut(edge, "-")
		x, err1 := parseProcess(a)
		y, err2 := parseProcess(b)
		if err1 != nil || err2 != nil || x == y {
			return nil, fmt.Errorf("topology: edge %q: want two processes such as 1-2", edge)
		}
		pairs = append(pairs, [2]algorithm.ID{x, y})
	}
	return mutex.Edges(pairs), nil
}

// ParseSets parses sets given by hand, such as 1:1,2;2:1,2,3;3:1,3.
func ParseSets(s string) (quorum.System, error) {
	parts := strings.Split(s, ";")
	sets := make(quorum.System, len(parts))
	for _, part := range parts {
		owner, list, ok := strings.Cut(part, ":")
		id, err := parseProcess(owner)
		if !ok || err != nil || int(id) >= len(sets) {
			return nil, fmt.Errorf("set %q: want OWNER:MEMBERS such as 1:1,2, an owner from 1 to %d", part, len(sets))
		}
		if !sets[id].Empty() {
			return nil, fmt.Errorf("process %d has two sets", id+1)
		}
		members, err := ParseList(list)
		if err != nil {
			return nil, fmt.Errorf("set %q: %w", part, err)
		}
		sets[id] = algorithm.SetOf(members...)
	}
	return sets, nil
}

// ParseList parses a list of processes, such as 1,2,5-7.
func ParseList(s string) ([]algorithm.ID, error) {
	var ids []algorithm.ID
	for part := range strings.SplitSeq(s, ",") {
		a, b, isRange := strings.Cut(part, "-")
		lo, err := parseProcess(a)
		hi := lo
		if err == nil && isRange {
			hi, err = parseProcess(b)
		}
		if err != nil || hi < lo {
			return nil, fmt.Errorf("list %q: want processes such as 1,2,5-7", s)
		}
		if len(ids)+int(hi-lo) >= maxProcess {
			return nil, fmt.Errorf("list %q names more than %d processes: name each once", s, maxProcess)
		}
		for id := lo; id <= hi; id++ {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// maxProcess is far above the size of any group, and keeps a list from exhausting memory.
const maxProcess = 1_000_000

func parseProcess(s string) (algorithm.ID, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 || n > maxProcess {
		return 0, fmt.Errorf("%q is not a process: want a number from 1", s)
	}
	return algorithm.ID(n - 1), nil
}

// topologies lists all named topologies that some algorithm accepts; tree:2 is one of
// many.
const topologies = "grid plane majority tree:2 star line ricart-agrawala maekawa central up down"

// Topologies returns the names of the topologies that a group of the algorithm can have,
// or of all topologies if name is empty.
func Topologies(name string) []string {
	return slices.DeleteFunc(strings.Fields(topologies), func(word string) bool {
		if name == "" {
			return false
		}
		s, err := Make(name, algorithm.Options{Topology: word})
		for n := 1; err == nil && n <= 7; n++ { // the smallest plane has seven points
			if s.Accepts(n) == nil {
				return false
			}
		}
		return true
	})
}

// Knows returns the names of the options that an algorithm accepts.
func Knows(name string) []string {
	lock, behind, both := strings.Cut(name, "+")
	for _, e := range every() {
		if e.name != lock {
			continue
		}
		known := append([]string{}, strings.Fields(e.knows)...)
		if both && behind != hasty {
			known = slices.DeleteFunc(known, func(o string) bool { return o == "coordinator" })
			return append(known, "patience")
		}
		return known
	}
	return nil
}
