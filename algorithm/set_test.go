package algorithm

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A dumbSet is a set as obvious as can be.
type dumbSet map[ID]bool

func (s dumbSet) members() []ID { return slices.Sorted(maps.Keys(s)) }

func (s dumbSet) next(id ID) ID {
	for _, m := range s.members() {
		if m >= id {
			return m
		}
	}
	return None
}

func (s dumbSet) meets(t dumbSet) ID {
	for _, m := range s.members() {
		if t[m] {
			return m
		}
	}
	return None
}

// TestSetAgainstDumb does the same random things to sets and to dumb sets.
func TestSetAgainstDumb(t *testing.T) {
	for _, seats := range []int{1, 5, 63, 64, 65, 128, 129, 300} {
		r := rand.New(rand.NewPCG(1, uint64(seats)))
		sets := make([]Set, 3)
		dumb := []dumbSet{{}, {}, {}}
		for range 4000 {
			i, j := r.IntN(3), r.IntN(3)
			id := ID(r.IntN(seats))
			switch r.IntN(20) {
			case 0:
				sets[i].Clear()
				dumb[i] = dumbSet{}
			case 1:
				n := r.IntN(seats + 1)
				sets[i].Fill(n)
				dumb[i] = dumbSet{}
				for k := range n {
					dumb[i][ID(k)] = true
				}
			case 2:
				sets[i].Copy(&sets[j])
				dumb[i] = maps.Clone(dumb[j])
			case 3:
				sets[i].Union(&sets[j])
				maps.Copy(dumb[i], maps.Clone(dumb[j]))
			case 4:
				sets[i] = SetOf(dumb[j].members()...)
				dumb[i] = maps.Clone(dumb[j])
			case 5, 6, 7, 8, 9, 10:
				sets[i].Add(id)
				dumb[i][id] = true
			default:
				sets[i].Remove(id)
				delete(dumb[i], id)
			}
			sameSet(t, &sets[i], dumb[i], id, ID(seats))
			if got, want := sets[i].Equal(&sets[j]), maps.Equal(dumb[i], dumb[j]); got != want {
				t.Fatalf("%v equal to %v: got %v", dumb[i].members(), dumb[j].members(), got)
			}
			if got, want := sets[i].Meets(&sets[j]), dumb[i].meets(dumb[j]); got != want {
				t.Fatalf("%v meets %v in %v, want %v", dumb[i].members(), dumb[j].members(), got, want)
			}
		}
	}
}

func sameSet(t *testing.T, s *Set, dumb dumbSet, id, seats ID) {
	t.Helper()
	if got, want := slices.Collect(s.All()), dumb.members(); !slices.Equal(got, want) {
		t.Fatalf("members %v, want %v", got, want)
	}
	if s.Len() != len(dumb) || s.Empty() != (len(dumb) == 0) {
		t.Fatalf("%v: length %d, empty %v", dumb.members(), s.Len(), s.Empty())
	}
	for _, at := range []ID{id, seats, seats + 64, seats + 1000} {
		if got, want := s.Has(at), dumb[at]; got != want {
			t.Fatalf("%v has %v: %v, want %v", dumb.members(), at, got, want)
		}
		if got, want := s.Next(at), dumb.next(at); got != want {
			t.Fatalf("%v: next from %v is %v, want %v", dumb.members(), at, got, want)
		}
	}
}

func TestSetOfNoSeat(t *testing.T) {
	s := SetOf(0, 63, 64)
	if s.Has(None) {
		t.Error("a set has None")
	}
	s.Add(None)
	s.Remove(None)
	if want := SetOf(0, 63, 64); !s.Equal(&want) {
		t.Errorf("adding and removing None made %v", slices.Collect(s.All()))
	}
}

func TestSetAllStops(t *testing.T) {
	s := SetOf(1, 70, 200)
	for id := range s.All() {
		if id == 70 {
			return
		}
		if id > 70 {
			t.Fatalf("got as far as %v", id)
		}
	}
	t.Error("never came to P71")
}

func TestSetReusesMemory(t *testing.T) {
	s, u := SetOf(299), SetOf(1, 298)
	if n := testing.AllocsPerRun(100, func() {
		s.Clear()
		s.Copy(&u)
		s.Union(&u)
		s.Fill(300)
		s.Remove(100)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
