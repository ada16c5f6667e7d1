package sim

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

func twoSections() []script.Section {
	return []script.Section{{Name: "seats", Members: []algorithm.ID{0, 1, 3}}, {Name: "films", Members: []algorithm.ID{1, 2, 4}}}
}

// Every sound algorithm runs in two sections side by side: each is safe, live
// and costs what it costs among its own processes.
func TestSectionsSideBySide(t *testing.T) {
	for _, spec := range catalog.Sound() {
		if spec.Accepts(3) != nil {
			continue
		}
		both := 0
		in := map[string]int{}
		c := varied(spec, 5, 200, 3)
		c.Observe = func(e trace.Event) {
			switch e.Kind {
			case trace.Enter:
				if in[e.Section]++; in["seats"] > 0 && in["films"] > 0 {
					both++
				}
			case trace.Exit:
				in[e.Section]--
			case trace.Send:
				if e.Section == "seats" && (e.Proc == 2 || e.Proc == 4 || e.Peer == 2 || e.Peer == 4) {
					t.Fatalf("%s: %v", spec.Name, e.Sentence())
				}
			}
		}
		all, err := RunSections(c, twoSections())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.Entries != 200 || r.Violations > 0 || r.Nodes != 3 || len(r.Load) != 3 {
				t.Errorf("%s, %s: %d entries, %v among %d", spec.Name, r.Section, r.Entries, r.Found, r.Nodes)
			}
		}
		if both == 0 {
			t.Errorf("%s: the sections were never used at the same time", spec.Name)
		}
	}
}

// One section of all processes is a run without sections.
func TestOneSectionIsARun(t *testing.T) {
	c := varied(mutex.RicartAgrawala(), 4, 100, 5)
	alone, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := RunSections(c, []script.Section{{Name: "all", Members: []algorithm.ID{0, 1, 2, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Messages != alone.Messages || *all[0].Response != *alone.Response {
		t.Errorf("%d messages, response %v; without a section %d, %v", all[0].Messages, *all[0].Response, alone.Messages, *alone.Response)
	}
}

// What is broken is told with its section and its process.
func TestSectionsAreJudgedApart(t *testing.T) {
	spec, err := catalog.Make("bakery-naive", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(50) {
		c := varied(spec, 5, 50, seed)
		c.Think = scenario.Always(0)
		all, err := RunSections(c, twoSections())
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range all {
			for _, v := range r.Found {
				if v.Section != r.Section || !slices.Contains(twoSections()[i].Members, v.Proc) {
					t.Fatalf("%s: %+v", r.Section, v)
				}
				return
			}
		}
	}
	t.Error("the naive bakery never failed: nothing was tested")
}
