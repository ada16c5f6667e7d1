package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// refused runs a command line that must be refused: exit code 2, nothing on standard
// output, and one line on standard error that mentions something.
func refused(t *testing.T, mentions string, args ...string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("stile %.200q: panic: %v", args, r)
		}
	}()
	code, stdout, stderr := stile(args...)
	if code != 2 || stdout != "" {
		t.Errorf("stile %.200q: exit code %d and stdout %.100q, want 2 and nothing", args, code, stdout)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") || !strings.HasPrefix(stderr, "stile: ") {
		t.Errorf("stile %.200q: stderr %.300q, want one line", args, stderr)
	}
	if !strings.Contains(stderr, mentions) || utf8.RuneCountInString(stderr) > 302 {
		t.Errorf("stile %.200q: stderr %.400q, want up to 300 characters that mention %q", args, stderr, mentions)
	}
}

// A wrong command line is refused with a hint, and no file is written or changed.
func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("keep.svg", []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, mentions string }{
		{"frobnicate", "'stile --help'"},
		{"--frobnicate", "'stile --help'"},
		{"help frobnicate", "'stile --help'"},
		{"simm", "did you mean sim?"},
		{"help simm", "did you mean sim?"},
		{"completion fish-and-chips", "shell"},
		{"lamport", "'stile sim lamport'"},
		{"wait-die", "'stile deadlock wait-die'"},
		{"raymond-a.stile", "'stile replay'"},
		{"bank --nodes 3", "--nodes of 'stile check'"},
		{"version now", `"now"`},

		{"sim", "'stile algorithms'"},
		{"sim raymond maekawa", "maekawa"},
		{"sim raymon", "did you mean raymond?"},
		{"sim wound-wait", "'stile deadlock wound-wait'"},
		{"sim lamport --node 3", "did you mean --nodes?"},
		{"sim raymond --nodes", "--nodes"},
		{"sim raymond --nodes 0", "from 1 to 10000"},
		{"sim raymond --json=perhaps", "true or false"},
		{"sim raymond --network fif", "did you mean fifo?"},
		{"sim lamport --holder 2", "leave it out"},
		{"sim raymond --burst 3", "--think"},
		{"sim raymond --section a:1,2 --requesters 3", "P3"},
		{"sim raymond --section seats:1,9", "1 to 5"},
		{"sim raymond --dead 1", "--dead"},
		{"sim bully --section seats:1,2", "--section"},
		{"sim bully --dead 1-5", "--dead"},
		{"sim raymond --hold exp:1000000000 --entries 10000000", "--entries"},
		{"sim raymond --svg keep.svg --frobnicate", "--frobnicate"},
		{"sim raymond --svg keep.svg --trace ./keep.svg", "its own"},
		{"sim raymond --svg keep.svg --trace no/such/x.json", "no/such"},
		{"sim raymond --svg x.png", ".svg"},
		{"sim raymond --svg -", "./-"},
		{"sim raymond --svg .", "directory"},
		{"sim raymond --from 3", "--from"},
		{"sim raymond --clocks", "--clocks"},

		{"compare wait-die", "--deadlock"},
		{"compare raymond raymond", "once"},
		{"compare raymond --nodes 3,,5", "--nodes"},
		{"deadlock lamport", "'stile sim lamport'"},
		{"deadlock none --crash 4@1", "1 to 3"},
		{"deadlock none --philosophers --sites 7", "--sites"},
		{"deadlock none --take 11", "--locks"},

		{"check raymond --shared one", "dijkstra"},
		{"check raymond --requests many", "unbounded"},
		{"check raymond --memory lots", "512MiB"},
		{"check raymond --time 5", "30s"},
		{"check raymond --start 4", "1 to 3"},
		{"check raymond --property luck", "mutual-exclusion"},
		{"check raymond --crashes 1", "--crashes"},
		{"check bully --crashes 1 --comebacks 2", "--comebacks"},
		{"check raymond --acquire 1:a", "--section"},
		{"check raymond --section a:1,9", "1 to 3"},
		{"check raymond --section a:1,2 --acquire 3:a", "does not use"},
		{"check raymond --section a:1,2 --acquire 2:b", "--section b"},
		{"check raymond --section a:1,2 --acquire 2:a,a", "twice"},
		{"check raymond --section a:1,2 --acquire 2:a --acquire 2:a", "twice"},
		{"check raymond --section a:1,2 --acquire 4:a", "1 to 3"},
		{"check raymond --section a:1,2 --acquire a", "2:films,seats"},
		{"check raymond --section a:1,2 --requesters 3", "P3"},
		{"check raymond --section a:1,2 --start 2", "--start"},
		{"check raymond --section a:1,2 --property order", "mutual-exclusion"},
		{"check bully --section a:1,2", "--section"},
		{"check banker --section a:1,2", "--section"},
		{"check raymond --section a:1,2 --tla x.tla", "--section"},
		{"check dijkstra --section a:1,2 --shared one", "--section"},
		{"check lamport --section a:1,2 --requests unbounded", "bounded"},

		{"bank --lock padlock", "'stile algorithms'"},
		{"bank --machines 10000 --deposits 10000", "--deposits"},
		{"bank --crash 3", "--machines"},
		{"storm --no-fence", "--bank"},
		{"storm --voters 2", "1, 3 or 5"},
		{"storm --algorithm token-ring", "live"},
		{"storm --seeds 2 --strikes", "--strikes"},
		{"replay no-such-file.stile", "no-such-file.stile"},
		{"replay .", ".stile"},
		{"lab --listen 0.0.0.0:0", "--insecure"},

		{"serve --memory --data x", "--data"},
		{"serve --nodes 3 --join 127.0.0.1:1", "--join"},
		{"serve --join 127.0.0.1:1 --lease 5", "--lease"},
		{"serve --ca x", "--cert"},
		{"lock", "lock"},
		{"lock demo --nonblock --wait 3", "--wait"},
		{"exec demo", "command"},
		{"force-release", "'stile locks'"},
		{"evict", "'stile members'"},
		{"move-session", "'stile locks --json'"},
		{"choose", "'stile algorithms'"},
		{"choose x/=nothing", "nothing"},
		{"backup", "new file"},
		{"backup keep.svg", "exists"},
		{"backup x --data y --addr 127.0.0.1:1", "--addr"},
		{"backup x --data no-such-directory", "no-such-directory"},
		{"recover", "--data"},
		{"recover --data no-such-directory", "no-such-directory"},
		{"recover --data x --backup no-such-file", "no-such-file"},
		{"recover --data x --backup keep.svg", "not a stile backup"},
		{"recover --data x --epoch-at-least 0", "from 1 to"},
		{"status here", "here"},
		{"status --addr nowhere", "HOST:PORT"},
		{"cert node x.stile", "'stile replay'"},
		{"cert node db1", "--host"},
		{"glossary fenc", "did you mean fence"},
	} {
		refused(t, test.mentions, strings.Fields(test.args)...)
	}
	if data, err := os.ReadFile("keep.svg"); err != nil || string(data) != "precious" {
		t.Errorf("keep.svg was changed: %q, %v", data, err)
	}
	if left, _ := filepath.Glob("*"); len(left) != 1 {
		t.Errorf("files were written: %q", left)
	}
}

// No flag of any command takes a value of another kind, and the error names the flag.
func TestBadFlagValues(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "bool", "N", "LIST", "TIME", "TIMES", "SIZE", "HOST:PORT":
				for _, v := range []string{"nonsense", "-1"} {
					refused(t, "--"+f.Name, pathOf(c, "--"+f.Name+"="+v)...)
				}
			}
		})
	}
}

// Arguments that would break or garble a line when quoted in an error do not.
func TestErrorsStayOnOneLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"two\nlines"}, {"sim", "two\nlines"}, {"sim", "raymond", "--nodes", "1\n2"}, {"replay", "no\nfile"},
		{"sim", "raymond", "--topology", "a\nb"}, {"sim", "raymond", "--two\nlines"}, {"help", "a\nb"},
		{"sim", ""}, {""}, {"sim", "raymond", "--network", ""}, {"sim", "\x1b[2J"}, {"sim", strings.Repeat("long", 2000)},
	} {
		refused(t, "", args...)
	}
	_, _, stderr := stile("sim", "\x1b[2J")
	if strings.Contains(stderr, "\x1b") {
		t.Errorf("a terminal would obey %q", stderr)
	}
}
