package views

import (
	"os"
	"strings"
	"testing"
	"strconv"

	"github.com/stile-lock/stile/check/explore"
)

func TestX(t *testing.T) {
	if os.Getenv("X") == "" { t.Skip() }
	num := func(k string) int { n, _ := strconv.Atoi(os.Getenv(k)); return n }
	for _, alg := range strings.Fields(os.Getenv("X")) {
		ev := uint64(num("EV"))
		h2 := uint64(1)
		if ev == 1 { h2 = 2 }
		v := Script(alg, 3, Change{Evict: []uint64{ev}})
		name, err := LockWith(v, 1, h2)
		if err != nil { t.Fatal(err) }
		m, err := New(Config{Lock: name, Views: v, Spec: spec, Asks: num("ASKS"), Cancels: num("CANCELS"), Lapses: num("LAPSES"), Late: num("LATE"), Crashes: true, Handover: num("HAND")})
		if err != nil { t.Fatal(err) }
		e, err := explore.Explore(m, explore.Limits{Memory: 3<<30})
		if err != nil { t.Fatal(err) }
		t.Log(alg, ev, e.States, e.Transitions, e.Depth, e.Elapsed, e.Unfinished)
		for b := range e.Broken {
			s, err := m.Story(b, explore.Limits{})
			t.Errorf("%v %v\n%s", Names(b), err, strings.Join(s, "\n"))
		}
	}
}
