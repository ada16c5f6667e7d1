package command

import (
	"strings"
	"testing"
)

// The shell completes commands, arguments and flags.
func TestCompletion(t *testing.T) {
	t.Parallel()
	program.Completions(t, [][3]string{
		{"", "sim check replay :4", "raymond serve"},
		{"help ", "sim completion :4", "bash"},
		{"--listen ", ":4", ""},
		{"sim ", "raymond bakery-naive bully :4", "wait-die none"},
		{"sim central+", "central+bully central+chang-roberts :4", "central"},
		{"sim raymond ", ":4", "raymond lamport"},
		{"check ", "raymond bully wait-die none :4", ""},
		{"compare ", "raymond lamport :4", "bully wait-die"},
		{"compare raymond ", "lamport :4", "raymond"},
		{"compare --deadlock none ", "wait-die :4", "raymond none"},
		{"deadlock ", "none wait-die detect-distributed :4", "raymond"},
		{"bank ", ":4", "none"},
		{"bank --lock ", "none raymond :4", "bully"},
		{"storm ", ":4", "raymond"},
		{"storm --algorithm ", "all naimi-trehel maekawa :6", "token-ring bully none"},
		{"storm --algorithm raymond,", "raymond,central :6", "raymond,raymond raymond,all"},
		{"storm --faults ", "all none crash pause beyond :6", "raymond"},
		{"storm --faults crash,", "crash,pause :6", "crash,crash crash,all"},
		{"storm --trace ", "json log shiviz svg txt :8", "stile"},
		{"replay ", "stile rec :8", ""},
		{"open ", "stile :8", ""},
		{"open --listen ", ":4", ""},
		{"sim raymond --topology ", "tree:2 star line :4", "grid up"},
		{"sim maekawa --topology ", "grid plane majority :4", "star"},
		{"check chang-roberts --topology ", "up down :4", "star"},
		{"sim raymond --network ", "fifo unordered duplicating lossy :4", ""},
		{"sim raymond --nodes ", ":4", ""},
		{"sim raymond --svg ", "svg :8", ""},
		{"sim raymond --trace ", "json log shiviz svg txt :8", "stile"},
		{"check raymond --trace ", "stile :8", ""},
		{"check raymond --property ", "deadlock alibi :6", "agreement"},
		{"check raymond --property deadlock,", "deadlock,alibi :6", "deadlock,deadlock alibi"},
		{"check bully --property ", "agreement :6", "alibi"},
		{"check wait-die --property ", "one-victim :6", "alibi"},
		{"check bully --pace ", "any quick slow :4", ""},
		{"check dijkstra --shared ", "one several all :4", ""},
		{"check raymond --start ", "any 1:busy :4", ""},
		{"deadlock detect-central --mode ", "demand change batch :4", ""},
	})
}

// --version says which source the command was built from.
func TestVersionFlag(t *testing.T) {
	if text := ok(t, "--version"); !strings.HasPrefix(text, "stile ") || !strings.Contains(text, ", commit ") {
		t.Errorf("it says %q", text)
	}
}
