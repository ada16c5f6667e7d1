package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/terminal"
)

// keys returns the keys of a JSON object, in order.
func keys(t *testing.T, text string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		t.Fatalf("want a JSON object, got %v, %v:\n%s", tok, err, text)
	}
	var all []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, key.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestSimJSONKeys(t *testing.T) {
	t.Parallel()
	want := strings.Fields(`algorithm nodes entries seed messages messages_per_entry multicasts_per_entry bytes_per_entry
		client_delay sync_delay response_time throughput max_bypass violations messages_by_kind load theory`)
	text := ok(t, "sim ricart-agrawala --nodes 3 --entries 50 --think exp:10 --json")
	got := keys(t, text)
	for _, k := range want {
		if !slices.Contains(got, k) {
			t.Errorf("no key %s in %v", k, got)
		}
	}
	var r map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	for _, delay := range []string{"client_delay", "sync_delay", "response_time"} {
		if got, want := keys(t, string(r[delay])), []string{"mean", "p50", "p99", "max"}; !slices.Equal(got, want) {
			t.Errorf("%s has keys %v, want %v", delay, got, want)
		}
	}
	alone := ok(t, "sim ricart-agrawala --nodes 1 --entries 3 --json")
	if !strings.Contains(alone, `"sync_delay": null`) {
		t.Errorf("one process never hands over, so its sync_delay is null:\n%s", alone)
	}
}

func TestBankJSONKeys(t *testing.T) {
	t.Parallel()
	want := strings.Fields("lock machines deposits seed expected balance lost entries messages")
	for _, line := range []string{"bank --json", "bank --lock none --json", "bank --lock raymond --machines 3 --json"} {
		if got := keys(t, ok(t, line)); !slices.Equal(got, want) {
			t.Errorf("%s: keys %v, want %v", line, got, want)
		}
	}
}

func TestElectionJSONKeys(t *testing.T) {
	t.Parallel()
	want := strings.Fields("algorithm nodes seed leader agreed messages messages_by_kind time")
	for _, name := range []string{"bully", "ring-election", "chang-roberts"} {
		text := ok(t, "sim "+name+" --nodes 8 --dead 8 --starters 5 --json")
		if got := keys(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: keys %v, want %v", name, got, want)
		}
		if !strings.Contains(text, `"leader": 7,`) {
			t.Errorf("%s: the leader is not 7:\n%s", name, text)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	nightly.Only(t)
	t.Chdir(t.TempDir())
	for _, line := range []string{
		"sim maekawa --think exp:5 --latency uniform:0.5,1.5 --entries 100 --json --svg a.svg --trace a.json",
		"sim raymond --think exp:5 --entries 50 --trace a.log",
		"sim raymond --think exp:5 --entries 50 --trace a.txt",
		"compare maekawa raymond --nodes 3,5 --entries 50 --svg a.svg",
		"compare maekawa raymond --nodes 3,5 --entries 50 --json",
		"bank --svg a.svg",
		"algorithms --json",
		"storm --seeds 5 --json",
		"storm --seed 7 --bank --svg a.svg --trace a.txt --json",
		"sim bully --nodes 8 --dead 8 --starters 3,5 --latency uniform:0.5,1 --json --svg a.svg --trace a.json",
	} {
		first, files := ok(t, line), contents(t)
		second, again := ok(t, line), contents(t)
		if first != second || files != again {
			t.Errorf("stile-lab %s: two runs differ", line)
		}
	}
	if ok(t, "sim raymond --think exp:5 --json") == ok(t, "sim raymond --think exp:5 --json --seed 2") {
		t.Error("another seed gives the same run")
	}
}

// contents returns all that is in the current folder, and empties it.
func contents(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(name + "\n")
		all.Write(data)
		os.Remove(name)
	}
	return all.String()
}

func TestOutputFitsTheScreen(t *testing.T) {
	nightly.Only(t)
	t.Chdir(t.TempDir())
	for _, line := range []string{
		"sim --help", "compare --help", "bank --help", "replay --help", "algorithms --help",
		"algorithms", "bank", "bank --machines 4 --lock maekawa", "bank --machines 9",
		"storm --help", "storm --seeds 5", "storm --seed 7 --strikes", "storm --seed 3 --nodes 25 --faults crash", "storm --seed 1 --faults none", "storm --bank --seeds 5",
		"bank --crash 1", "bank --machines 3 --crash 3@late --lock raymond+bully", "bank --machines 3 --crash 3@fenced --lock raymond+bully",
		"bank --amount 999999999999 --balance 999999999999",
		"check --help", "check maekawa --requests 1", "check ricart-agrawala-token --start any --requesters 1-3 --requests 1",
		"sim bully --nodes 40 --dead 3-40", "sim ring-election", "sim chang-roberts --starters 1-5",
		"sim maekawa --nodes 7", "sim raymond --nodes 100 --think uniform:0.000001,1000.5 --hold exp:2 --latency exp:1.5 --local 3 --burst 2 --requesters 1-50",
		"compare --nodes 3,5,7,9,11,13,16,20 --think uniform:0.5,100,0 --hold exp:10 --entries 30",
	} {
		for n, text := range strings.Split(ok(t, line), "\n") {
			if w := utf8.RuneCountInString(text); w > terminal.ScreenWidth {
				t.Errorf("stile-lab %s: line %d has %d columns:\n%s", line, n+1, w, text)
			}
		}
	}
}

func TestOutputGoesToOneScreen(t *testing.T) {
	t.Parallel()
	if n := strings.Count(ok(t, "bank"), "\n"); n > 50 {
		t.Errorf("the story has %d lines; want at most 50", n)
	}
}

// The help shows the default numbers of processes.
func TestCheckDefaults(t *testing.T) {
	t.Parallel()
	help := strings.Join(strings.Fields(ok(t, "check --help")), " ")
	for _, want := range []string{"number of processes (default 3; for a method against deadlock 2)", "1 site (default 1; for a method 0)"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help does not say %q", want)
		}
	}
	for line, nodes := range map[string]string{"check raymond --requests 1": "3 processes", "check wait-die --requests 1": "2 processes", "check bully": "3 processes"} {
		if text := ok(t, line); !strings.Contains(text, nodes) {
			t.Errorf("stile-lab %s: want %s:\n%s", line, nodes, text)
		}
	}
	if text := ok(t, "check wait-die --requests 1"); strings.Contains(text, "may crash") {
		t.Errorf("a site dies though nobody asked for that:\n%s", text)
	}
}

// JSON output begins with what was run.
func TestJSONNamesWhatWasRun(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sim raymond --entries 5 --json": "algorithm nodes entries seed",
		"sim bully --json":               "algorithm nodes seed leader",
		"sim raymond --section a:1,2 --section b:2,3 --entries 5 --json": "algorithm nodes seed sections",
		"compare raymond --nodes 3 --entries 5 --json":                   "algorithms nodes think hold entries seed",
		"deadlock none --json":                                           "method sites processes locks seed",
		"deadlock detect-central --json":                                 "method mode sites processes locks seed",
		"bank --json":                                                    "lock machines deposits seed",
		"bank --crash 1 --json":                                          "lock machines deposits seed",
		"replay ../../lab/scenarios/raymond-a.stile --json":              "file title algorithm nodes seed",
		"replay ../../internal/replay/testdata/small.rec --json":         "file node address by",
		"replay ../../lab/scenarios/graph-cycle.stile --json":            "file title nodes units has asks cycles reduction deadlocked",
		"replay ../../lab/scenarios/wait-die-ages.stile --json":          "file title algorithm sites nodes locks seed",
		"check raymond --requests 1 --json":                              "algorithm nodes requests network",
		"check bully --json":                                             "algorithm nodes requests network",
		"check central+bully --nodes 2 --json":                           "algorithm nodes requests network",
		"check wait-die --requests 1 --json":                             "method sites locks algorithm nodes requests",
		"check detect-central --requests 1 --json":                       "method mode sites locks algorithm nodes requests",
		"check dijkstra --shared one --json":                             "algorithm nodes requests network",
		"storm --seeds 3 --json":                                         "seeds algorithms faults entries views simulated_hours violations first_violation",
		"storm --seed 3 --json":                                          "seeds algorithms faults entries views simulated_hours violations first_violation",
	} {
		if got := keys(t, ok(t, line)); !strings.HasPrefix(strings.Join(got, " ")+" ", want+" ") {
			t.Errorf("stile-lab %s: keys %v, want %s first", line, got, want)
		}
	}
	if text := ok(t, "check dijkstra --shared one --json"); !strings.Contains(text, `"requests": "none"`) {
		t.Errorf("nobody asks for anything where flags are read:\n%s", text)
	}
}
