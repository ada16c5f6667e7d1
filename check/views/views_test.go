package views

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
)

func spec(name string, _ int) (core.Spec, error) { return catalog.Make(name, core.Options{}) }

func TestTry(t *testing.T) {
	for _, alg := range []string{"central", "naimi-trehel"} {
		for _, homes := range [][]uint64{{1, 2}, {1, 1}, {1, 1}} {
			for ev := uint64(1); ev <= 3; ev++ {
				if ev == homes[1] {
					continue
				}
				v := Script(alg, 3, Change{Evict: []uint64{ev}})
				name, err := LockWith(v, homes...)
				if err != nil {
					continue
				}
				m, err := New(Config{Lock: name, Views: v, Spec: spec, Asks: 1, Crashes: true})
				if err != nil {
					t.Fatal(err)
				}
				e, err := explore.Explore(m, explore.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				t.Log(alg, homes, ev, e.States, e.Transitions, e.Depth, e.Elapsed)
				for b := range e.Broken {
					s, err := m.Story(b, explore.Limits{})
					t.Errorf("%v %v\n%s", Names(b), err, strings.Join(s, "\n"))
				}
			}
		}
	}
}
