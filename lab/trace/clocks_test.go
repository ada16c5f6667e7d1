package trace

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
)

func recorded(t *testing.T, name string) *Trace {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := ReadJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// before returns which rows happened before which, found without any clock: row
// after row at a process, from a message to its arrival, and so on.
func before(tr *Trace, rows []row) [][]bool {
	all := make([][]bool, len(rows))
	last, sent := map[algorithm.ID]int{}, map[int]int{}
	for k, r := range rows {
		all[k] = make([]bool, len(rows))
		follow := func(j int) {
			all[k][j] = true
			for i := range j {
				all[k][i] = all[k][i] || all[j][i]
			}
		}
		e := &tr.Events[r.lo]
		if j, ok := last[e.Proc]; ok {
			follow(j)
		}
		if j, ok := sent[e.Msg]; ok && e.Kind == Receive {
			follow(j)
		}
		for i := r.lo; i < r.hi; i++ {
			if s := &tr.Events[i]; s.Kind == Send {
				sent[s.Msg] = k
			}
		}
		last[e.Proc] = k
	}
	return all
}

// A vector clock is less than another exactly if its event happened before; a
// scalar clock is less if it did, and often also if it did not.
func TestClocksTellWhatHappenedBefore(t *testing.T) {
	fooled := 0
	for _, name := range []string{"ricart-agrawala-3", "ricart-agrawala-6", "suzuki-kasami-5", "maekawa-8"} {
		tr := recorded(t, name)
		rows := tr.rows()
		clocks, past := tr.clocks(rows), before(tr, rows)
		for j := range rows {
			for i := range j {
				less := true
				for p, v := range clocks[i].Vector {
					less = less && v <= clocks[j].Vector[p]
				}
				if less != past[j][i] {
					t.Fatalf("%s: row %d has %v, row %d %v, but that it happened before is %t", name, i, clocks[i], j, clocks[j], past[j][i])
				}
				switch scalar := clocks[i].Time < clocks[j].Time; {
				case past[j][i] && !scalar:
					t.Fatalf("%s: row %d happened before row %d, but its time is not less: %v, %v", name, i, j, clocks[i], clocks[j])
				case !past[j][i] && scalar:
					fooled++
				}
			}
		}
	}
	if fooled == 0 {
		t.Error("a scalar clock told everything: the runs are too simple")
	}
}

// Clocks are there if they are wanted, and only then.
func TestClocksAreWanted(t *testing.T) {
	tr := recorded(t, "ricart-agrawala-3")
	got := tr.Text(TextOptions{Clocks: true, To: 2})
	for _, want := range []string{"P3    clock ", "●◄────┨     ┊     2 [1 1 0]   P1 ← P2 REQUEST"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if ascii := tr.Text(TextOptions{Clocks: true, To: 2, ASCII: true}); !strings.Contains(ascii, "*<----+     :     2 [1 1 0]   P1 <- P2 REQUEST") {
		t.Errorf("in ASCII:\n%s", ascii)
	}
	if plain := tr.Text(TextOptions{To: 2}); strings.Contains(plain, "[1 1 0]") {
		t.Errorf("clocks that nobody wanted:\n%s", plain)
	}
}

var aClock = regexp.MustCompile(`\d+ \[\d+( \d+)*\]`)

// What is not an event of a process has no clock; all else has one, in a column
// that leaves room for the words.
func TestClockColumn(t *testing.T) {
	tr := recorded(t, "maekawa-8")
	lines := strings.Split(strings.TrimSpace(tr.Text(TextOptions{Clocks: true})), "\n")
	clocks := 0
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
		clocks += len(aClock.FindAllString(line, -1))
	}
	if want := len(tr.rows()); clocks != want {
		t.Errorf("%d clocks in %d rows", clocks, want)
	}
	quiet := Trace{N: 2, Events: []Event{
		{Kind: Send, Proc: 0, Peer: 1, Msg: 1, Name: "A"}, {Step: 1, At: 1, Kind: Drop, Proc: 0, Peer: 1, Msg: 1, Name: "A"},
		{Step: 2, At: 2, Kind: Partition, Proc: algorithm.None}, {Step: 3, At: 3, Kind: Note, Proc: 1, Peer: algorithm.None, Name: "x"},
		{Step: 4, At: 4, Kind: Violation, Proc: 1, Peer: algorithm.None, Name: "order"}, {Step: 5, At: 5, Kind: Crash, Proc: 1},
	}}
	if got := aClock.FindAllString(quiet.Text(TextOptions{Clocks: true}), -1); strings.Join(got, " ") != "1 [1 0] 1 [0 1]" {
		t.Errorf("got %q, want a clock for sending and for crashing only", got)
	}
}

// A picture has the clocks at its dots, in its tips, and says what they are.
func TestClocksInPictures(t *testing.T) {
	tr := recorded(t, "ricart-agrawala-3")
	l, err := tr.Layout(Options{Clocks: true})
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for _, d := range l.Dots {
		if d.Clock == nil || !strings.Contains(d.Tip, d.Clock.String()) {
			t.Errorf("no clock, or none in the tip: %+v", d)
		}
		if d.Label != nil {
			written++
		}
	}
	if written < len(l.Dots)*3/4 {
		t.Errorf("only %d of %d clocks found room", written, len(l.Dots))
	}
	if svg := l.SVG(); !strings.Contains(svg, ">1 [0 1 0]</text>") || !strings.Contains(svg, "vector clock") {
		t.Error("the picture does not show the clocks, or does not say what they are")
	}
}

// Clocks of a large group are refused, or left out where nothing can be refused.
func TestTooManyClocks(t *testing.T) {
	tr := Trace{N: maxClocks + 1, Events: []Event{{Kind: Ask, Proc: 3}}}
	if _, err := tr.Layout(Options{Clocks: true}); err == nil || !strings.Contains(err.Error(), "at most 12") {
		t.Errorf("got %v", err)
	}
	if text := tr.Text(TextOptions{Clocks: true}); aClock.MatchString(text) || !strings.Contains(text, "P4 asks") {
		t.Errorf("got %s", text)
	}
}
