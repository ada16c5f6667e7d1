package deadlock

import (
	"reflect"
	"slices"
	"testing"
)

// anyCycle is web.cycle as one would first write it: nodes that wait for none
// are dropped until nothing changes, and then the search goes round.
func anyCycle(edges []Arc) []Attempt {
	left := slices.Clone(edges)
	for n := -1; n != len(left); {
		n = len(left)
		left = slices.DeleteFunc(slices.Clone(left), func(h Arc) bool {
			return !slices.ContainsFunc(left, func(g Arc) bool { return g.From.same(h.To) })
		})
	}
	if len(left) == 0 {
		return nil
	}
	nodes := []Attempt{left[0].From}
	for {
		last := nodes[len(nodes)-1]
		to := left[slices.IndexFunc(left, func(h Arc) bool { return h.From.same(last) })].To
		if i := slices.IndexFunc(nodes, to.same); i >= 0 {
			return nodes[i:]
		}
		nodes = append(nodes, to)
	}
}

// everyPath visits every path of two nodes or more that begins with these.
func everyPath(edges []Arc, nodes []Attempt, visit func(nodes []Attempt)) {
	last := nodes[len(nodes)-1]
	for _, h := range edges {
		if h.From.same(last) && !slices.ContainsFunc(nodes, h.To.same) {
			longer := append(slices.Clip(nodes), h.To)
			visit(longer)
			everyPath(edges, longer, visit)
		}
	}
}

// TestWeb: on graphs by chance the web finds the cycle that a plain search
// finds, and visits the paths that a plain search visits and that have news,
// in the same order; used again and again.
func TestWeb(t *testing.T) {
	const n = 7
	chance := uint64(1)
	below := func(n int) int {
		chance = chance*6364136223846793005 + 1442695040888963407
		return int(chance>>33) % n
	}
	some := func() Attempt { return Attempt{Origin: 3, Tx: below(n) << 40, Number: 1} }
	r := &roster{}
	w, fresh := newWeb(r), &news{roster: r}
	cycles := 0
	for range 5000 {
		w.clear()
		fresh.clear()
		fresh.all = below(10) == 0
		for range below(12) {
			from, to := some(), some()
			if !w.has(from, to) {
				w.add(Arc{From: from, To: to})
			}
		}
		for range below(4) {
			w.enter(some())
			fresh.add(some())
		}
		if got, want := w.cycle(), anyCycle(w.edges); !reflect.DeepEqual(got, want) {
			t.Fatalf("cycle %v, want %v, of %v", got, want, w.edges)
		} else if got != nil {
			cycles++
		}
		var got, want [][]Attempt
		w.walk(fresh, func(path []Attempt) { got = append(got, slices.Clone(path)) })
		for _, first := range w.entries {
			everyPath(w.edges, []Attempt{first}, func(path []Attempt) {
				if slices.ContainsFunc(path, fresh.has) {
					want = append(want, path)
				}
			})
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("paths %v, want %v, of %v with news %v", got, want, w.edges, fresh.txs)
		}
	}
	if cycles < 100 || cycles > 4900 {
		t.Errorf("%d of 5000 graphs have a cycle: a poor choice", cycles)
	}
}

// TestBankersSafe: the banker of single instances and the general one agree.
func TestBankersSafe(t *testing.T) {
	const txs, locks = 4, 4
	chance := uint64(7)
	below := func(n int) int {
		chance = chance*6364136223846793005 + 1442695040888963407
		return int(chance>>33) % n
	}
	l := Spread(1, txs, locks)
	unsafe := 0
	for range 5000 {
		b := &banker{claimed: make([][]int, txs)}
		s := newSite(0, &l, b)
		claims, have := make([][]int, txs), make([][]int, txs)
		for tx := range txs {
			claims[tx], have[tx] = make([]int, locks), make([]int, locks)
			for k := range locks {
				if below(2) == 0 {
					b.claimed[tx] = append(b.claimed[tx], k)
					claims[tx][k] = 1
				}
			}
		}
		for k := range locks {
			if tx := below(txs + 1); tx < txs && claims[tx][k] == 1 {
				s.locks[k].holds = []Hold{{Request: Request{Attempt: Attempt{Tx: tx, Number: 1, Stamp: at(tx + 1)}}}}
				have[tx][k] = 1
			}
		}
		want := Safe([]int{1, 1, 1, 1}, claims, have)
		if got := b.safe(s); got != want {
			t.Fatalf("safe %v, want %v: claims %v, have %v", got, want, claims, have)
		}
		if !want {
			unsafe++
		}
	}
	if unsafe < 500 || unsafe > 4500 {
		t.Errorf("%d of 5000 states are unsafe: a poor choice", unsafe)
	}
}
