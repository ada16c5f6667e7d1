package main

import (
	"os"
	"strings"
	"testing"
)

// Every usage error is one line that says what to do, and exit code 2; nothing
// is printed and nothing is written.
func TestUsageErrors(t *testing.T) {
	for _, test := range []struct{ args, says string }{
		{"frobnicate", "'stile --help' lists the commands"},
		{"--frobnicate", "see 'stile --help'"},
		{"-x", "see 'stile --help'"},
		{"help frobnicate", "'stile --help' lists the commands"},
		{"help sim more", "'stile --help' lists the commands"},
		{"completion fish-and-chips", "lists the shells"},

		{"version now", "takes no argument"},
		{"version --yaml", "see 'stile version --help'"},
		{"algorithms raymond", "takes no argument"},
		{"algorithms --json=perhaps", "true or false"},

		{"sim", "'stile algorithms' lists them"},
		{"sim raymond maekawa", "one by one"},
		{"sim no-such-algorithm", "'stile algorithms' lists them"},
		{"sim raymon", "did you mean raymond?"},
		{"sim raymond --nodes", "see 'stile sim --help'"},
		{"sim raymond --nodes five", "want a whole number from 1"},
		{"sim raymond --nodes 0", "want a whole number from 1"},
		{"sim raymond --nodes -3", "want a whole number from 1"},
		{"sim raymond --nodes 2.5", "want a whole number from 1"},
		{"sim raymond --nodes 99999999999999999999", "want a whole number from 1 to 10000"},
		{"sim raymond --nodes 1000000", "to 10000"},
		{"sim raymond --entries 0", "want a whole number from 1"},
		{"sim raymond --entries -1", "want a whole number from 1"},
		{"sim raymond --entries 1e6", "want a whole number from 1"},
		{"sim raymond --think -1", "want a time"},
		{"sim raymond --think soon", "want a time"},
		{"sim raymond --think exp:", "want a time"},
		{"sim raymond --think uniform:2,1", "want a time"},
		{"sim raymond --think normal:3", "want a time"},
		{"sim raymond --hold NaN", "want a time"},
		{"sim raymond --hold 1e3", "want a time"},
		{"sim raymond --hold 10000000000", "want a time"},
		{"sim raymond --latency 0", "must take some time"},
		{"sim raymond --latency uniform:0,2", "must take some time"},
		{"sim raymond --think exp:1000000000", "shorter times or fewer --entries"},
		{"sim raymond --think 1000 --burst 10000000", "shorter times or fewer --entries"},
		{"sim raymond --requesters 0", "want processes such as 1,2,5-7"},
		{"sim raymond --requesters 1,x", "want processes such as 1,2,5-7"},
		{"sim raymond --requesters 3-1", "want processes such as 1,2,5-7"},
		{"sim raymond --requesters 6", "there are processes 1 to 5"},
		{"sim raymond --network wet", "want fifo, unordered, duplicating or lossy"},
		{"sim raymond --holder 6", "there are processes 1 to 5"},
		{"sim raymond --holder 0", "want a whole number from 1"},
		{"sim raymond --local 0", "want a whole number from 1"},
		{"sim raymond --burst -2", "want a whole number from 1"},
		{"sim raymond --dead 3", "--dead does not fit raymond, which is no election"},
		{"sim raymond --starters 3", "--starters does not fit raymond"},
		{"sim bully --entries 3", "--entries does not fit bully, which is an election"},
		{"sim chang-roberts --think 3", "--think does not fit chang-roberts"},
		{"sim bully --dead 1-5", "leave somebody alive"},
		{"sim bully --dead 6", "there are processes 1 to 5"},
		{"sim bully --starters 0", "want processes such as"},
		{"sim bully --dead 2 --starters 1-3", "P2 is dead"},
		{"sim bully --network lossy", "fifo or unordered"},
		{"sim bully --latency 0", "must take some time"},
		{"sim bully --topology up", "bully has no topology to choose"},
		{"sim chang-roberts --topology left", "want up or down"},
		{"check bully --requests 2", "bully is an election, which has no --requests"},
		{"check raymond --wrong", "--wrong does not fit raymond"},
		{"check bully --pace fast", `--pace "fast": want any, quick or slow`},
		{"check bully --network lossy", "fifo or unordered"},
		{"check central+bully --crashes 1 --requests unbounded", "give a number"},
		{"check central+bully --crashes 1 --comebacks 1", "has no --comebacks to choose"},
		{"sim bully+central", "want a lock and an election"},
		{"sim central+bully --coordinator 2", "it is elected"},
		{"sim central+nobody", "unknown algorithm"},
		{"compare bully", "there is no critical section in it"},
		{"bank --lock bully", "there is no critical section in it"},
		{"sim bully --section seats:1,2", "--section does not fit bully, which is an election"},
		{"sim raymond --section seats", "want its name and who uses it, such as seats:1,2,4"},
		{"sim raymond --section seats:1,9", "--section \"1,9\": there are processes 1 to 5"},
		{"sim raymond --section 1,2", "want a word of small letters"},
		{"sim raymond --section seats:1 --section seats:2", "there is a section seats already"},
		{"sim raymond --seed -1", "want a whole number from 0"},
		{"sim raymond --seed x", "want a whole number from 0"},
		{"sim raymond --topology ring", "want tree:K, star, line or edges"},
		{"sim raymond --topology tree:0", "K at least 1"},
		{"sim raymond --topology 1-2", "edge"},
		{"sim raymond --sets 1:1", "has no sets to choose: leave it out"},
		{"sim raymond --k 3", "has no k to choose: leave it out"},
		{"sim raymond --coordinator 2", "has no coordinator to choose: leave it out"},
		{"sim raymond --inform 1:1", "has no inform to choose: leave it out"},
		{"sim ricart-agrawala --topology grid", "has no topology to choose: leave it out"},
		{"sim maekawa --topology circle", "want grid, plane or majority"},
		{"sim maekawa --topology plane --nodes 12", "7 and 13"},
		{"sim maekawa --nodes 3 --sets 1:1;2:2;3:3", "1 and 2"},
		{"sim maekawa --nodes 3 --sets 1:1,2", "3"},
		{"sim maekawa --nodes 3 --sets hello", "want OWNER:MEMBERS"},
		{"sim maekawa --topology grid --sets 1:1", "not both"},
		{"sim raymond --svg no/such/folder/x.svg", "make it first"},
		{"sim raymond --svg .", "is a directory"},
		{"sim raymond --trace run.pdf", "must end in .json, .log or .shiviz"},
		{"sim raymond --trace run", "must end in .json, .log or .shiviz"},
		{"sim raymond --svg x.json --trace ./x.json", "give each its own"},

		{"compare no-such-algorithm", "'stile algorithms' lists them"},
		{"compare raymond raymond", "name each algorithm once"},
		{"compare raymond --nodes 3,,5", "want whole numbers from 1"},
		{"compare raymond --nodes 0", "want whole numbers from 1"},
		{"compare raymond --nodes 3;5", "want whole numbers from 1"},
		{"compare raymond --think light", "want times"},
		{"compare raymond --think 0,-1", "want times"},
		{"compare raymond --hold uniform:1", "want times"},
		{"compare raymond --hold exp:1000000000", "shorter times or fewer --entries"},
		{"compare raymond --entries none", "want a whole number from 1"},
		{"compare raymond --seed 1.5", "want a whole number from 0"},
		{"compare raymond --out no/such/folder/x.html", "make it first"},
		{"compare raymond --out .", "is a directory"},

		{"deadlock", "needs a method: want none, "},
		{"deadlock wait-dye", "did you mean wait-die?"},
		{"deadlock wait-die ordered", "one by one"},
		{"deadlock wait-die --mode change", "has no modes: leave the mode out"},
		{"deadlock detect-central --mode often", "want demand, change or batch"},
		{"deadlock none --sites 0", "want a whole number from 1 to 100"},
		{"deadlock none --locks -1", "want a whole number from 1 to 10000"},
		{"deadlock none --transactions 1e3", "want a whole number from 1 to 1000000"},
		{"deadlock none --processes 1001", "from 1 to 1000: each may wait for any other"},
		{"deadlock none --take 0", "want a whole number from 1"},
		{"deadlock none --hot 101", "want a whole number from 0 to 100"},
		{"deadlock none --latency 0", "a message must take some time"},
		{"deadlock none --crash 4@1", "want a site from 1 to 3"},
		{"deadlock none --philosophers --sites 7", "has no --sites to choose"},
		{"deadlock none --svg no/such/folder/x.svg", "make it first"},
		{"deadlock none --trace run.pdf", ".svg (a diagram) or .txt (the same as text)"},
		{"deadlock none --svg x.svg --trace ./x.svg", "give each its own"},

		{"check", "'stile algorithms' lists them"},
		{"check raymond maekawa", "one by one"},
		{"check raymon", "did you mean raymond?"},
		{"check raymond --nodes 0", "want a whole number from 1 to 64"},
		{"check raymond --nodes 65", "want a whole number from 1 to 64"},
		{"check raymond --requests 0", "or unbounded"},
		{"check raymond --requests -1", "or unbounded"},
		{"check raymond --requests many", "or unbounded"},
		{"check raymond --network wet", "want fifo, unordered, duplicating or lossy"},
		{"check raymond --topology ring", "want tree:K, star, line or edges"},
		{"check raymond --sets 1:1", "has no sets to choose: leave it out"},
		{"check maekawa --topology plane", "7"},
		{"check maekawa --sets 1:1;2:2;3:3", "1 and 2"},
		{"check central --coordinator 4", "one of them, 1 to 3"},
		{"check raymond --start 4", "there are processes 1 to 3"},
		{"check raymond --start 0", "there are processes 1 to 3"},
		{"check raymond --start 2:idle", "or 2:busy if it is inside"},
		{"check raymond --start now", "want any"},
		{"check raymond --requesters 4", "there are processes 1 to 3"},
		{"check raymond --requesters 3-1", "want processes such as 1,2,5-7"},
		{"check raymond --property luck", "there are mutual-exclusion, deadlock"},
		{"check raymond --property order,", "there are mutual-exclusion, deadlock"},
		{"check raymond --workers 0", "want a whole number from 1"},
		{"check raymond --memory 0", "want a size such as 512MiB"},
		{"check raymond --memory -8GiB", "want a size such as 512MiB"},
		{"check raymond --memory 9999999TiB", "want a size such as 512MiB"},
		{"check raymond --memory lots", "want a size such as 512MiB"},
		{"check raymond --time 0s", "want a time such as 30s"},
		{"check raymond --time -1m", "want a time such as 30s"},
		{"check raymond --time 5", "want a time such as 30s"},
		{"check raymond --trace no/such/folder/x.stile", "make it first"},
		{"check raymond --svg .", "is a directory"},
		{"check raymond --svg x.svg --trace ./x.svg", "give each its own"},

		{"check raymond --shared one", "only dijkstra"},
		{"check dijkstra --shared two", "want one, several or all"},
		{"check dijkstra --shared one --requests 2", "dijkstra with --shared has no --requests"},
		{"check dijkstra --shared one --k 257", "2 to 256 values"},
		{"check dijkstra --shared one --nodes 1", "want 2 to 20 processes"},
		{"check raymond --museum", "takes no argument"},
		{"check raymond --proofs", "takes no argument"},

		{"bank robbery", "takes no argument"},
		{"bank --lock padlock", "'stile algorithms' lists them"},
		{"bank --machines 0", "want a whole number from 1"},
		{"bank --machines two", "want a whole number from 1"},
		{"bank --deposits 0", "want a whole number from 1"},
		{"bank --amount -5", "want a whole number from 0"},
		{"bank --balance -1", "want a whole number from 0"},
		{"bank --balance 99999999999999999", "want a whole number from 0"},
		{"bank --machines 10000 --deposits 10000", "fewer --machines or --deposits"},
		{"bank --seed later", "want a whole number from 0"},
		{"bank --svg no/such/folder/x.svg", "make it first"},

		{"replay", "needs a scenario file"},
		{"replay a.stile b.stile", "one by one"},
		{"replay no-such-file.stile", "give a .stile file that exists"},
		{"replay .", "give a .stile file that exists"},
		{"replay x.stile --until 0", "want a whole number from 1"},
		{"replay x.stile --until soon", "want a whole number from 1"},
	} {
		t.Run(test.args, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			code, stdout, stderr := stile(strings.Fields(test.args)...)
			if code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			if stdout != "" {
				t.Errorf("stdout: %q, want nothing", stdout)
			}
			if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") || !strings.HasPrefix(stderr, "stile: ") {
				t.Errorf("stderr: %q, want one line", stderr)
			}
			if !strings.Contains(stderr, test.says) {
				t.Errorf("stderr: %q, want it to say %q", stderr, test.says)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s was written", left[0].Name())
			}
		})
	}
}

// Arguments that would break a line when repeated in an error do not.
func TestErrorsStayOnOneLine(t *testing.T) {
	for _, args := range [][]string{
		{"two\nlines"}, {"sim", "two\nlines"}, {"sim", "raymond", "--nodes", "1\n2"}, {"replay", "no\nfile"},
		{"sim", "raymond", "--topology", "a\nb"}, {"sim", "raymond", "--two\nlines"}, {"help", "a\nb"},
		{"sim", ""}, {""}, {"sim", "raymond", "--network", ""}, {"sim", "raymond", "--nodes", ""},
	} {
		code, stdout, stderr := stile(args...)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q; want 2, nothing, one line", args, code, stdout, stderr)
		}
	}
}
