package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A wrong command line is refused with a hint, and no file is written or changed.
func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("keep.svg", []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, mentions string }{
		{"frobnicate", "'stile-lab --help'"},
		{"--frobnicate", "'stile-lab --help'"},
		{"help frobnicate", "'stile-lab --help'"},
		{"completion fish-and-chips", "shell"},
		{"simm", "did you mean sim?"},
		{"help simm", "did you mean sim?"},
		{"lamport", "'stile-lab sim lamport'"},
		{"wait-die", "'stile-lab deadlock wait-die'"},
		{"raymond-a.stile", "'stile-lab replay'"},
		{"bank --nodes 3", "--nodes of 'stile-lab check'"},
		{"sim", "'stile-lab algorithms'"},
		{"sim raymond maekawa", "maekawa"},
		{"sim raymon", "did you mean raymond?"},
		{"sim wound-wait", "'stile-lab deadlock wound-wait'"},
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
		{"deadlock lamport", "'stile-lab sim lamport'"},
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
		{"bank --lock padlock", "'stile-lab algorithms'"},
		{"bank --machines 10000 --deposits 10000", "--deposits"},
		{"bank --crash 3", "--machines"},
		{"storm --no-fence", "--bank"},
		{"storm --voters 2", "1, 3 or 5"},
		{"storm --algorithm token-ring", "live"},
		{"storm --seeds 2 --strikes", "--strikes"},
		{"replay no-such-file.stile", "no-such-file.stile"},
		{"replay .", ".stile"},
		{"--listen 0.0.0.0:0", "--insecure"},
		{"glossary fenc", "did you mean fence"},
	} {
		program.Refused(t, test.mentions, strings.Fields(test.args)...)
	}
	if data, err := os.ReadFile("keep.svg"); err != nil || string(data) != "precious" {
		t.Errorf("keep.svg was changed: %q, %v", data, err)
	}
	if left, _ := filepath.Glob("*"); len(left) != 1 {
		t.Errorf("files were written: %q", left)
	}
}

// Arguments that would break or garble a line when quoted in an error do not.
func TestErrorsStayOnOneLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"sim", "two\nlines"}, {"sim", "raymond", "--nodes", "1\n2"}, {"replay", "no\nfile"}, {"sim", "raymond", "--topology", "a\nb"},
		{"sim", "raymond", "--two\nlines"}, {"sim", ""}, {"sim", "raymond", "--network", ""}, {"sim", "\x1b[2J"}, {"sim", strings.Repeat("long", 2000)},
	} {
		program.Refused(t, "", args...)
	}
}
