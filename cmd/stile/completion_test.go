package main

import (
	"slices"
	"strings"
	"testing"
)

// Shell completion: words, and a directive such as :4, no files, or :8,
// files that end so.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		has  string // words that are offered, and the directive
		not  string // words that are not
	}{
		{[]string{""}, "sim check replay", "raymond"},
		{[]string{"help", ""}, "sim completion :4", "bash"},
		{[]string{"help", "completion", ""}, "bash zsh :4", "sim"},
		{[]string{"sim", ""}, "raymond bakery-naive bully :4", "wait-die none"},
		{[]string{"sim", "central+"}, "central+bully central+chang-roberts :4", "central"},
		{[]string{"sim", "raymond", ""}, ":4", "raymond lamport"},
		{[]string{"check", ""}, "raymond bully wait-die none :4", ""},
		{[]string{"compare", ""}, "raymond lamport :4", "bully wait-die"},
		{[]string{"compare", "raymond", ""}, "lamport :4", "raymond"},
		{[]string{"compare", "--deadlock", "none", ""}, "wait-die :4", "raymond none"},
		{[]string{"deadlock", ""}, "none wait-die detect-distributed :4", "raymond"},
		{[]string{"bank", ""}, ":4", "none"},
		{[]string{"bank", "--lock", ""}, "none raymond :4", "bully"},
		{[]string{"storm", ""}, ":4", "raymond"},
		{[]string{"storm", "--algorithm", ""}, "all naimi-trehel maekawa :6", "token-ring bully none"},
		{[]string{"storm", "--algorithm", "raymond,"}, "raymond,central :6", "raymond,raymond raymond,all"},
		{[]string{"storm", "--faults", ""}, "all none crash pause beyond :6", "raymond"},
		{[]string{"storm", "--faults", "crash,"}, "crash,pause :6", "crash,crash crash,all"},
		{[]string{"storm", "--trace", ""}, "json log shiviz svg txt :8", "stile"},
		{[]string{"cert", ""}, "ca node :4", "bash"},
		{[]string{"cert", "node", ""}, ":4", "ca"},
		{[]string{"cert", "node", "db1", "--host", ""}, ":4", ""},
		{[]string{"cert", "ca", "--dir", ""}, ":16", ""},
		{[]string{"backup", ""}, ":0", ""},
		{[]string{"backup", "x", ""}, ":4", ""},
		{[]string{"recover", ""}, ":4", ""},
		{[]string{"recover", "--data", ""}, ":16", ""},
		{[]string{"recover", "--backup", ""}, ":0", ""},
		{[]string{"replay", ""}, "stile rec :8", ""},
		{[]string{"lab", ""}, "stile :8", ""},
		{[]string{"lab", "--listen", ""}, ":4", ""},
		{[]string{"sim", "raymond", "--topology", ""}, "tree:2 star line :4", "grid up"},
		{[]string{"sim", "maekawa", "--topology", ""}, "grid plane majority :4", "star"},
		{[]string{"check", "chang-roberts", "--topology", ""}, "up down :4", "star"},
		{[]string{"sim", "raymond", "--network", ""}, "fifo unordered duplicating lossy :4", ""},
		{[]string{"sim", "raymond", "--nodes", ""}, ":4", ""},
		{[]string{"sim", "raymond", "--svg", ""}, "svg :8", ""},
		{[]string{"sim", "raymond", "--trace", ""}, "json log shiviz svg txt :8", "stile"},
		{[]string{"check", "raymond", "--trace", ""}, "stile :8", ""},
		{[]string{"check", "raymond", "--property", ""}, "deadlock alibi :6", "agreement"},
		{[]string{"check", "raymond", "--property", "deadlock,"}, "deadlock,alibi :6", "deadlock,deadlock alibi"},
		{[]string{"check", "bully", "--property", ""}, "agreement :6", "alibi"},
		{[]string{"check", "wait-die", "--property", ""}, "one-victim :6", "alibi"},
		{[]string{"check", "bully", "--pace", ""}, "any quick slow :4", ""},
		{[]string{"check", "dijkstra", "--shared", ""}, "one several all :4", ""},
		{[]string{"check", "raymond", "--start", ""}, "any 1:busy :4", ""},
		{[]string{"deadlock", "detect-central", "--mode", ""}, "demand change batch :4", ""},
	} {
		code, stdout, _ := stile(append([]string{"__complete"}, test.args...)...)
		var offered []string
		for line := range strings.Lines(stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			offered = append(offered, word)
		}
		if code != 0 {
			t.Errorf("%q: exit code %d", test.args, code)
		}
		for word := range strings.FieldsSeq(test.has) {
			if !slices.Contains(offered, word) {
				t.Errorf("%q: %q is not offered: %q", test.args, word, offered)
			}
		}
		for word := range strings.FieldsSeq(test.not) {
			if slices.Contains(offered, word) {
				t.Errorf("%q: %q is offered", test.args, word)
			}
		}
	}
}

// --version prints the same as the command.
func TestVersionFlag(t *testing.T) {
	if flag, command := ok(t, "--version"), ok(t, "version"); flag != command || !strings.HasPrefix(flag, "stile ") {
		t.Errorf("stile --version says %q, stile version %q", flag, command)
	}
}
