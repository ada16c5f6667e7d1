package command

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The picture of docs/algorithms.md is what the command draws.
func TestBankPicture(t *testing.T) {
	t.Parallel()
	const picture = "docs/bank.svg"
	if !strings.Contains(algorithmsPage(t), "(bank.svg)") {
		t.Fatalf("docs/algorithms.md does not show %s", picture)
	}
	shown, err := os.ReadFile("../../" + picture)
	if err != nil {
		t.Fatal(err)
	}
	drawn := filepath.Join(t.TempDir(), "bank.svg")
	ok(t, "bank --lock none --svg "+drawn)
	if got, err := os.ReadFile(drawn); err != nil || string(got) != string(shown) {
		t.Errorf("%s is not what 'stile-lab bank --lock none --svg %s' draws: %v", picture, picture, err)
	}
}

// The numbers in docs/algorithms.md are those of the commands that it names.

func algorithmsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/algorithms.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// stile-lab check dijkstra --shared one --nodes N --k K
func TestInitialisationTime(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(algorithmsPage(t), "| N | K=2 | K=3 | K=4 | K=5 | K=6 | K=7 |\n|--:|--:|--:|--:|--:|--:|--:|\n")
	if !found {
		t.Fatal("docs/algorithms.md has no table of initialisation times")
	}
	for n := 2; n <= 6; n++ {
		var row strings.Builder
		fmt.Fprintf(&row, "| %d |", n)
		for k := 2; k <= 7; k++ {
			_, text, _ := do(strings.Fields(fmt.Sprintf("check dijkstra --shared one --nodes %d --k %d --json", n, k))...)
			var r struct {
				Verdict string
				Worst   int `json:"worst_steps"`
			}
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			if r.Verdict == "violated" {
				row.WriteString(" ∞ |")
				continue
			}
			fmt.Fprintf(&row, " %d |", r.Worst)
			if n >= 4 && r.Worst != 3*n*(n-1)/2-n-1 {
				t.Errorf("N=%d, K=%d: %d moves, which is not what the formula says", n, k, r.Worst)
			}
		}
		said, rest, _ := strings.Cut(table, "\n")
		if table = rest; said != row.String() {
			t.Errorf("docs/algorithms.md says %s, the checker %s", said, row.String())
		}
	}
	if strings.HasPrefix(table, "|") {
		t.Error("the table has more rows")
	}
}

// stile-lab compare maekawa --topology plane --nodes 7,13,31,57 --think exp:500000,0 --hold 1
// stile-lab compare maekawa --nodes 9,25,49,100 --think exp:500000,0 --hold 1
func TestMaekawasConstant(t *testing.T) {
	t.Parallel()
	page := strings.Join(strings.Fields(algorithmsPage(t)), " ")
	for _, test := range []struct{ args, light, full string }{
		{"--topology plane --nodes 7,13,31,57", "2.3, 2.5, 2.7 and 2.8", "3.0, 3.3, 3.6 and 3.7"},
		{"--nodes 9,25,49,100", "4.0, 4.8, 5.1 and 5.4", "5.3, 6.4, 6.8 and 7.2"},
	} {
		var r struct {
			Runs []struct {
				Think    string
				Constant float64 `json:"messages_per_sqrt_n"`
			}
		}
		text := ok(t, "compare maekawa --think exp:500000,0 --hold 1 --json "+test.args)
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		measured := map[string][]string{}
		for _, run := range r.Runs {
			measured[run.Think] = append(measured[run.Think], fmt.Sprintf("%.1f", math.Round(run.Constant*10)/10))
		}
		for think, want := range map[string]string{"exp:500000": test.light, "0": test.full} {
			list := measured[think]
			got := strings.Join(list[:3], ", ") + " and " + list[3]
			if got != want {
				t.Errorf("%s, think %s: c is %s, want %s", test.args, think, got, want)
			}
			if !strings.Contains(page, want) {
				t.Errorf("docs/algorithms.md does not say %s", want)
			}
		}
	}
}

// The docs quote these results of single runs and checks.
func TestPinned(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sim maekawa-reject --nodes 25 --think 0":                     "messages per entry 24.0 ",
		"sim maekawa --nodes 25 --think 0":                            "messages per entry 32.0 ",
		"sim token-ring --hold 2":                                     "13.0 13.0 13.0 13.0 0..13 · N*T + (N-1)*H",
		"sim majority --nodes 4":                                      "votes: 3 of 4",
		"sim majority --nodes 5":                                      "votes: 3 of 5",
		"sim maekawa --nodes 10 --topology grid":                      "M3 equal sizes: no, K=4..6; M4 equal loads: no, D=4..6",
		"sim maekawa --nodes 16 --topology grid":                      "M3 equal sizes: yes, K=7;",
		"sim bakery --nodes 5 --think exp:100000":                     "messages per entry 24.0 ",
		"check ricart-agrawala --nodes 2 --property bypass":           "at most 2 from the request on, at most 1 after its own messages have arrived",
		"sim maekawa --nodes 7 --topology plane":                      "M3 equal sizes: yes, K=3; M4 equal loads: yes, D=3",
		"check maekawa --sets 1:1,2,3;2:2,3;3:3":                      "M3 equal sizes: no, K=1..3;",
		"check bakery-naive --nodes 2 --network unordered":            "How mutual-exclusion is violated, in 10 steps:",
		"check raymond-printed --requests 1":                          "How deadlock is violated, in 8 steps:",
		"check maekawa-reject --property bypass --nodes 2":            "at most 1 after its own messages have arrived",
		"check maekawa-reject --property bypass --requests unbounded": "at most 3 after its own messages have arrived",
	} {
		_, text, stderr := do(strings.Fields(line)...)
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("stile-lab %s: no %q in\n%s%s", line, want, text, stderr)
		}
	}
}

// The properties of sets are reported if and only if sets were given.
func TestSetsJSON(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sim maekawa --nodes 4 --entries 5":                                                   "null",
		"sim raymond --nodes 4 --entries 5 --topology line":                                   "null",
		"check maekawa --requests 1":                                                          "null",
		"sim maekawa --nodes 4 --entries 5 --topology grid":                                   "true true true true 3 3 3 3",
		"sim sanders --nodes 4 --entries 5 --topology central":                                "true true false false 1 2 1 4",
		"check sanders --nodes 2 --requests 1 --experiment --sets 1:1;2:1,2 --inform 1:1;2:2": "true true false false 1 2 1 2",
		"check sanders --nodes 2 --requests 1 --experiment --sets 1:1;2:2":                    "false true true true 1 1 1 1",
		"check maekawa+bully --nodes 2 --topology majority":                                   "true true true true 2 2 2 2",
	} {
		_, text, _ := do(append(strings.Fields(line), "--json")...)
		var r struct {
			Sets *struct {
				Meet    bool `json:"m1_any_two_meet"`
				Own     bool `json:"m2_own_member"`
				Sizes   bool `json:"m3_equal_sizes"`
				Loads   bool `json:"m4_equal_loads"`
				MinSize int  `json:"k_min"`
				MaxSize int  `json:"k_max"`
				MinLoad int  `json:"d_min"`
				MaxLoad int  `json:"d_max"`
			}
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("stile-lab %s: %v\n%s", line, err, text)
		}
		got := "null"
		if r.Sets != nil {
			got = strings.Trim(fmt.Sprint(*r.Sets), "{}")
		}
		if got != want {
			t.Errorf("stile-lab %s: %s, want %s", line, got, want)
		}
	}
}
