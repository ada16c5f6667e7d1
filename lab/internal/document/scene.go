package document

import (
	"cmp"
	"fmt"
	"math"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/lab/scenario"
)

// Outline returns the picture of a scenario before it runs, for a thumbnail.
func Outline(sc *scenario.Scenario, spec algorithm.Spec) Scene {
	s := sceneOf(sc, spec)
	return Scene{Shape: s.Shape, Places: s.Places, Links: s.Links}
}

// sceneOf chooses the algorithm's own picture.
func sceneOf(sc *scenario.Scenario, spec algorithm.Spec) Scene {
	shape, n := spec.Shape, sc.Processes
	s := Scene{
		Shape: string(cmp.Or(shape.Picture, algorithm.Mesh)), Title: shape.Title, Links: []Link{}, Groups: []Group{},
		Pointer: shape.Pointer, Next: shape.Next, Queue: shape.Queue, Token: shape.Token, Awaited: shape.Awaited, Got: shape.Got, Votes: shape.Vote, Number: shape.Number, Stamp: shape.Stamp, Stamps: shape.Stamps, Members: shape.Members, Fresh: shape.Fresh,
	}
	switch {
	case sc.Transacts():
		s.atSites(sc)
		return s
	case len(sc.Sections) > 0:
		s = Scene{Shape: string(algorithm.Mesh), Title: "which process uses which section", Links: []Link{}, Groups: []Group{}, Places: circle(n)}
		for _, x := range sc.Sections {
			s.Groups = append(s.Groups, Group{Name: x.Name, Members: ints(x.Members)})
		}
		return s
	}
	s.Places = circle(n)
	switch algorithm.Picture(s.Shape) {
	case algorithm.Star:
		s.star(shape, n)
	case algorithm.Ring, algorithm.Flags:
		s.ring(shape, n)
	case algorithm.TreeLike:
		s.tree(shape, n)
	case algorithm.Grid:
		s.Places = rows(n, side(n))
	case algorithm.Tickets:
		s.Places = rows(n, min(n, 10))
	}
	s.sets(shape, n)
	return s
}

// ring adds the links of a ring: which process sends to which.
func (s *Scene) ring(shape algorithm.Shape, n int) {
	switch {
	case n < 2:
	case shape.Links != nil:
		for _, l := range shape.Links(n) {
			s.Links = append(s.Links, Link{int(l[0]), int(l[1])})
		}
	default:
		for i := range n {
			s.Links = append(s.Links, Link{i, (i + 1) % n})
		}
	}
}

func ints(ids []algorithm.ID) []int {
	all := []int{}
	for _, id := range ids {
		all = append(all, int(id))
	}
	return all
}

// round makes places identical on every machine.
func round(f float64) float64 { return math.Round(f*1e4) / 1e4 }

// circle puts n lanes on a circle, the first on top.
func circle(n int) []Place {
	all := make([]Place, n)
	for i := range all {
		if n == 1 {
			return []Place{{0.5, 0.5}}
		}
		angle := 2 * math.Pi * float64(i) / float64(n)
		all[i] = Place{round(0.5 + 0.42*math.Sin(angle)), round(0.5 - 0.42*math.Cos(angle))}
	}
	return all
}

// side returns the width of a square of n lanes.
func side(n int) int {
	w := 1
	for w*w < n {
		w++
	}
	return w
}

// rows puts n lanes into rows of the given width.
func rows(n, wide int) []Place {
	all := make([]Place, n)
	high := (n + wide - 1) / wide
	for i := range all {
		all[i] = Place{round((float64(i%wide) + 0.5) / float64(wide)), round((float64(i/wide) + 0.5) / float64(high))}
	}
	return all
}

// star puts one lane in the middle.
func (s *Scene) star(shape algorithm.Shape, n int) {
	hub := 0
	if shape.Hub != nil {
		hub = min(max(int(shape.Hub(n)), 0), n-1)
	}
	around := circle(max(n-1, 1))
	for i, k := 0, 0; i < n; i++ {
		if i == hub {
			s.Places[i] = Place{0.5, 0.5}
			continue
		}
		s.Places[i] = around[k]
		if n == 2 {
			s.Places[i] = Place{0.5, 0.08}
		}
		s.Links = append(s.Links, Link{hub, i})
		k++
	}
}

// tree puts each lane below its parent, and the leaves side by side.
func (s *Scene) tree(shape algorithm.Shape, n int) {
	if shape.Links == nil {
		return
	}
	children, parent := make([][]int, n), make([]int, n)
	for i := range parent {
		parent[i] = -1
	}
	for _, l := range shape.Links(n) {
		from, to := int(l[0]), int(l[1])
		if min(from, to) < 0 || max(from, to) >= n || parent[to] >= 0 || from == to {
			return // not a tree rooted there
		}
		children[from], parent[to] = append(children[from], to), from
		s.Links = append(s.Links, Link{from, to})
	}
	x, depth := make([]float64, n), make([]int, n)
	leaves, deepest, placed := 0.0, 0, 0
	var walk func(i, level int)
	walk = func(i, level int) {
		if placed++; placed > n {
			return // there is a cycle
		}
		depth[i], deepest = level, max(deepest, level)
		for _, c := range children[i] {
			walk(c, level+1)
		}
		if k := len(children[i]); k > 0 {
			x[i] = (x[children[i][0]] + x[children[i][k-1]]) / 2
		} else {
			x[i], leaves = leaves+0.5, leaves+1
		}
	}
	for i := range n {
		if parent[i] < 0 {
			walk(i, 0)
		}
	}
	for i := range n {
		s.Places[i] = Place{round(x[i] / max(leaves, 1)), round((float64(depth[i]) + 0.5) / float64(deepest+1))}
	}
}

// sets adds the set of processes that each process asks.
func (s *Scene) sets(shape algorithm.Shape, n int) {
	if shape.Sets == nil {
		return
	}
	for i, set := range shape.Sets(n) {
		members := []int{}
		for q := range set.All() {
			members = append(members, int(q))
		}
		s.Groups = append(s.Groups, Group{Name: algorithm.ID(i).String() + " asks", Members: members})
	}
}

// atSites puts sites side by side, with their processes and locks below.
func (s *Scene) atSites(sc *scenario.Scenario) {
	s.Places = make([]Place, sc.Sites+sc.Processes)
	s.Locks = make([]Place, len(sc.Locks))
	for site := range sc.Sites {
		g := Group{Name: fmt.Sprintf("site %d", site+1), Members: []int{site}}
		for p, home := range sc.Homes {
			if int(home) == site {
				g.Procs = append(g.Procs, sc.Sites+p)
			}
		}
		for k, at := range sc.Locks {
			if int(at) == site {
				g.Locks = append(g.Locks, k)
			}
		}
		left, wide := float64(site)/float64(sc.Sites), 1/float64(sc.Sites)
		s.Places[site] = Place{round(left + wide/2), 0.1}
		for i, p := range g.Procs {
			s.Places[p] = Place{round(left + wide*(float64(i)+0.5)/float64(len(g.Procs))), 0.42}
		}
		for i, k := range g.Locks {
			s.Locks[k] = Place{round(left + wide*(float64(i)+0.5)/float64(len(g.Locks))), 0.8}
		}
		s.Groups = append(s.Groups, g)
	}
	for k := range sc.Locks {
		s.LockNames = append(s.LockNames, deadlock.LockName(k))
	}
}
