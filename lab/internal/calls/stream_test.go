package calls

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/lab/scenario"
)

// lines returns all lines of the answer to a call.
func lines(t *testing.T, c *Calls, name, body string) [][]byte {
	t.Helper()
	var all [][]byte
	if err := c.Call(context.Background(), name, []byte(body), func(line []byte) error {
		all = append(all, slices.Clone(line))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// A said is a line of a comparison.
type said struct {
	Cells []Cell `json:"cells"`
	Found *found `json:"found"`
}

// unfilled says what is wrong with how a comparison told its cells.
func unfilled(t *testing.T, all [][]byte) string {
	t.Helper()
	var cells []Cell
	for i, line := range all {
		var x said
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		switch {
		case i == 0:
			if cells = x.Cells; slices.ContainsFunc(cells, func(c Cell) bool { return !c.Stopped || c.Measured != nil }) {
				return "a cell is there before it is measured"
			}
		case i == len(all)-1:
			if !reflect.DeepEqual(cells, x.Cells) {
				return "what was told cell by cell is not what is told in the end"
			}
		case x.Found == nil || x.Found.Done != i || x.Found.Total != len(cells):
			return "a line is no cell, or wrongly counted"
		default:
			cells[x.Found.At] = x.Found.Cell
		}
	}
	return ""
}

// TestCompareTellsEachCell: cells are told one by one as they are measured, and they
// are those of the whole map.
func TestCompareTellsEachCell(t *testing.T) {
	all := lines(t, &Calls{Workers: 3}, "compare", `{"algorithms":["raymond","lamport","maekawa"],"n":[3,7],"rest":[0,10],"entries":30}`)
	if len(all) != 12+2 {
		t.Fatalf("%d lines for 12 cells", len(all))
	}
	if wrong := unfilled(t, all); wrong != "" {
		t.Error(wrong)
	}
	if unfilled(t, slices.Delete(slices.Clone(all), 12, 13)) == "" {
		t.Error("a cell that is never told passes")
	}
}

// TestCompareStops: who listens no more ends a comparison.
func TestCompareStops(t *testing.T) {
	gone, told := errors.New("gone"), 0
	err := (&Calls{Workers: 1}).Call(context.Background(), "compare", []byte(`{"n":[3,5,7,9],"rest":[0,10],"entries":100}`), func([]byte) error {
		if told++; told > 3 {
			return gone
		}
		return nil
	})
	if !errors.Is(err, gone) || told > 10 {
		t.Errorf("after %d lines: %v", told, err)
	}
}

// twice has a deadlock only if both transactions of P1 are tried.
const twice = "algorithm none\nprocesses 3\nsite 1 P1 P2 P3 L1 L2\nat 3 P1 takes L1 L2\nat 0 P1 takes L1\nat 0 P2 takes L2 L1\n"

// TestCheckTakesAllLines: a check of transactions has all that the lines say, in the
// order of time, and says so.
func TestCheckTakesAllLines(t *testing.T) {
	got, _ := call(t, "check", `{"text":`+quoted(t, twice)+`}`)
	for _, want := range []string{"P1 takes L1, releases, then takes L1 L2; P2 takes L2 L1; P3 takes nothing", `"verdict":"violated"`, "expect stuck"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	first := strings.Replace(twice, "at 3 P1 takes L1 L2\n", "", 1) // what was checked if the other lines were left out
	if got, _ := call(t, "check", `{"text":`+quoted(t, first)+`}`); !strings.Contains(got, `"counterexample":""`) {
		t.Errorf("a deadlock with one lock of P1: %s", got)
	}
}

// TestPrograms: lines in the order of time; ascending where a method wants that; and
// neighbours where no line says anything.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		text string
		want [][][]int
	}{
		{twice, [][][]int{{{0}, {0, 1}}, {{1, 0}}, nil}},
		{"algorithm ordered\nprocesses 1\nsite 1 P1 L1 L2\nat 0 P1 takes L2 L1\n", [][][]int{{{0, 1}}}},
		{"algorithm none\nprocesses 2\nsite 1 P1 P2 L1 L2\n", [][][]int{{{0, 1}}, {{1, 0}}}},
		{"algorithm none\nprocesses 1\nsite 1 P1 L1\nschedule steps\nP1 takes L1\nP1 goes on\nP1 goes on\nP1 takes L1\n", [][][]int{{{0}, {0}}}},
	} {
		sc, err := scenario.Parse("", c.text)
		if err != nil {
			t.Fatal(err)
		}
		m, err := deadlock.Find(sc.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if got := programs(sc, m); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\ngot %v, want %v", c.text, got, c.want)
		}
	}
}

// TestEnough: a sentence that only says where one is does not stand alone.
func TestEnough(t *testing.T) {
	long := strings.Repeat("x", told)
	for _, c := range []struct{ comment, want string }{
		{"", ""},
		{"P1 is older. So it waits.", "P1 is older. So it waits."},
		{long + ". More.", long + "."},
		{"P1 is older. " + long + ". More. Still more.", "P1 is older. " + long + "."},
	} {
		if got := enough(c.comment); got != c.want {
			t.Errorf("%q: got %q, want %q", c.comment, got, c.want)
		}
	}
	for _, s := range Gallery() {
		for _, x := range s.Items {
			if len(x.Sentence) < 30 || !strings.HasSuffix(x.Sentence, ".") && !strings.HasSuffix(x.Sentence, "?") {
				t.Errorf("%s: %q says too little, or is no sentence", x.File, x.Sentence)
			}
		}
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
