package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// planted is a result with one workload, in which peers are behind or ahead.
func planted(own, peer float64) *Result {
	r := &Result{Rounds: 1}
	for _, e := range append(slices.Clone(limits), entrants...) {
		for _, f := range []string{figRate, figP50, figMean, figP99, figCPU, figLeast} {
			v := peer
			if e.ours {
				v = own
			}
			if f != figRate {
				v = 1 / v
			}
			r.cell("uncontended", e.Name).add(f, v)
		}
	}
	return r
}

// A peer that is ahead is named, with its figures, and the goal is missed.
func TestAhead(t *testing.T) {
	if all, of := peersAhead(planted(2, 1)); len(all) != 0 || of != 10 {
		t.Errorf("%d of %d figures, though all peers are behind", len(all), of)
	}
	r := planted(2, 1)
	r.find("uncontended", "postgres").Values[figP99] = []float64{0.01}
	all, _ := peersAhead(r)
	if len(all) != 1 || all[0].peer.Name != "postgres" || all[0].figure != figP99 || all[0].ours.Name != "stile" {
		t.Fatalf("%+v", all)
	}
	text := page(r)
	for _, want := range []string{"Figures in which a peer is ahead: PostgreSQL advisory locks in 1.", "| 9 of 10 | **missed** |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	r.find("uncontended", "postgres").Values[figP99] = []float64{3}
	r.find("uncontended", "postgres-plain").Values[figRate] = []float64{9}
	if all, _ := peersAhead(r); len(all) != 1 || all[0].ours.Name != "stile-plain" {
		t.Errorf("a peer without TLS is compared with the client without TLS: %+v", all)
	}
}

// Goals are met at their limit, and missed beyond it.
func TestGoals(t *testing.T) {
	r := &Result{}
	set := func(workload, entrant, figure string, v float64) {
		r.cell(workload, entrant).Values[figure] = []float64{v}
	}
	set("uncontended", limitTLS, figP50, 40)
	set("other-locks", "stile", figP50, 44)
	set("uncontended", "stile", figMean, 2.1)
	set("uncontended", "stile-embedded", figMean, 0.41)
	set("clients-2", "stile", figRate, 30_000)
	set("idle", "stile", figIdle, 0.5)
	var met []bool
	for _, g := range goals(r) {
		met = append(met, g.met)
	}
	if !slices.Equal(met, []bool{true, false, false, true, false}) {
		t.Errorf("met: %v", met)
	}
}

// Two holders at a time and entrants that are left out are on the page.
func TestTrouble(t *testing.T) {
	r := planted(2, 1)
	r.find("uncontended", "redis").Values[figOverlap] = []float64{3}
	r.Missing = map[string]string{"zookeeper": "not installed"}
	text := page(r)
	for _, want := range []string{"two clients held the lock", "zookeeper is left out: not installed"} {
		if !strings.Contains(text, want) || strings.Contains(text, "%!") {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// The table of the terminal is at most 80 columns wide.
func TestTable(t *testing.T) {
	r := planted(1234, 56789)
	text := table(r)
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, w := range workloads {
		if len(r.rows(w)) > 0 && !strings.Contains(text, "\n"+w.Title+"\n") {
			t.Errorf("the table lacks %s", w.Title)
		}
	}
}

// A result is the same after it was written and read, and lists are short.
func TestResult(t *testing.T) {
	r := planted(3, 2)
	r.Missing, r.Versions = map[string]string{"a": "b"}, map[string]string{"c": "d"}
	path := filepath.Join(t.TempDir(), "race.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	again, err := readResult(path)
	if err != nil {
		t.Fatal(err)
	}
	if page(again) != page(r) {
		t.Error("the page is another one")
	}
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), `"rate": [3]`) {
		t.Errorf("lists are not on one line: %v\n%.600s", err, b)
	}
	if _, err := readResult(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a missing file is read")
	}
}
