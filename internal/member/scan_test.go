package member

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A bustle is a member with ordinary and kept locks, some of which come and go.
type bustle struct {
	*keptFleet
	stay map[string]bool
	goes map[string]Ticket // held at present, and not for long
	rand *rand.Rand
	made int
}

func newBustle(t *testing.T, seed uint64) *bustle {
	s := &bustle{newKeptFleet(t, "none", 1), map[string]bool{}, map[string]Ticket{}, rand.New(rand.NewPCG(seed, 0)), 0}
	v := s.next()
	v.Choices = []Choice{{"", "naimi-trehel", 1}, {"kept/", keptPrefix + "none", 1}}
	s.install(v)
	s.settle()
	for i := range 40 {
		name := fmt.Sprintf("%s%d", []string{"", "kept/"}[i%2], i)
		s.want(0, name, Terms{})
		s.settle()
		if s.rand.IntN(4) == 0 {
			s.want(0, name, Terms{}) // one waits
		}
		s.stay[name] = true
	}
	return s
}

// change acquires a lock, or releases one that does not stay.
func (s *bustle) change() {
	if len(s.goes) > 0 && s.rand.IntN(2) == 0 {
		for name, t := range s.goes {
			s.release(0, name, t)
			delete(s.goes, name)
			break
		}
	} else {
		s.made++
		name := fmt.Sprintf("%sgoes/%d", []string{"", "kept/"}[s.made%2], s.made)
		s.goes[name] = s.want(0, name, Terms{})
	}
	s.settle()
}

// A scan in pieces yields every lock that is in use all the time, whatever comes, goes, or is
// shared meanwhile, and no piece is longer than it may be. A view that begins in between does not
// matter either.
func TestScan(t *testing.T) {
	for seed := range uint64(300) {
		s := newBustle(t, seed)
		m, c, seen := s.members[0], Cursor{}, map[string]bool{}
		first := s.want(0, "kept/shared", Terms{Mode: deadlock.Shared})
		second := s.want(0, "kept/shared", Terms{Mode: deadlock.Shared})
		s.settle()
		s.stay["kept/shared"] = true
		most, pieces := 1+s.rand.IntN(9), 0
		for more := true; more; pieces++ {
			count := 0
			more = m.Scan(&c, most, func(q Queue) {
				count++
				seen[string(q.Name)] = true
			})
			if count > most || pieces > 10_000 {
				t.Fatalf("seed %d: piece %d has %d locks, and not at most %d", seed, pieces, count, most)
			}
			for range s.rand.IntN(4) {
				s.change()
			}
			switch pieces {
			case 3:
				s.release(0, "kept/shared", first)
			case 5:
				third := s.want(0, "kept/shared", Terms{Mode: deadlock.Shared})
				s.settle()
				s.release(0, "kept/shared", second)
				second = third
			case 7:
				if seed%3 == 0 {
					s.install(s.next())
					s.settle()
				}
			}
		}
		for name := range s.stay {
			if !seen[name] {
				t.Errorf("seed %d: %s is missing", seed, name)
			}
		}
		if m.Scan(&c, 10, func(Queue) { t.Errorf("seed %d: something comes after the end", seed) }) {
			t.Errorf("seed %d: there is more after the end", seed)
		}
	}
}

// Of very many requests for a lock, an inspection copies some, and counts the others.
func TestInspectFirst(t *testing.T) {
	f := newKeptFleet(t, "none", 1)
	v := f.next()
	v.Choices = []Choice{{"", "naimi-trehel", 1}, {"kept/", keptPrefix + "none", 1}}
	f.install(v)
	f.settle()
	for range 5 {
		f.want(0, "a", Terms{})
		f.want(0, "kept/a", Terms{Mode: deadlock.Shared})
		f.settle()
	}
	for range 4 {
		f.want(0, "kept/a", Terms{})
		f.settle()
	}
	for _, c := range []struct {
		name                        string
		most, waiters, shared, more int
	}{{"a", 2, 2, 0, 2}, {"a", 9, 4, 0, 0}, {"kept/a", 2, 2, 2, 4}, {"kept/a", 9, 4, 4, 0}} {
		y, ok := f.members[0].InspectFirst(c.name, c.most, c.most)
		if !ok || y.Holder == nil || len(y.Waiters) != c.waiters || len(y.Shared) != c.shared || y.More != c.more {
			t.Errorf("%+v: %d waiters, %d others that hold it, %d more", c, len(y.Waiters), len(y.Shared), y.More)
		}
	}
}
