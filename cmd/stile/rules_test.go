package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands are all commands that people can give, the root first.
func commands() []*cobra.Command {
	all := []*cobra.Command{newRoot()}
	for i := 0; i < len(all); i++ {
		for _, c := range all[i].Commands() {
			if !c.Hidden {
				all = append(all, c)
			}
		}
	}
	return all
}

// stileWords are how a command is called, without the first word.
func stileWords(c *cobra.Command, more ...string) []string {
	return append(strings.Fields(c.CommandPath())[1:], more...)
}

// good is a call of a command that works, and what more is given: the first
// example that has the last of these flags, so that they fit, or the first one.
func good(c *cobra.Command, more ...string) []string {
	call := stileWords(c)
	for i, line := range strings.Split(strings.TrimSpace(c.Example), "\n") {
		fields := strings.Fields(strings.ReplaceAll(line, `"`, ""))
		fits := func(flag string) bool { return slices.Contains(fields, strings.SplitN(flag, "=", 2)[0]) }
		if i == 0 && len(fields) > 0 {
			call = fields[1:]
		} else if slices.ContainsFunc(more, fits) {
			call = fields[1:]
			break
		}
	}
	if i := slices.Index(call, "--"); i >= 0 { // what follows is another command
		return slices.Insert(slices.Clone(call), i, more...)
	}
	return append(slices.Clone(call), more...)
}

// flags are the flags of a command; of its own, not those for help.
func flags(c *cobra.Command) []*pflag.Flag {
	var all []*pflag.Flag
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			all = append(all, f)
		}
	})
	return all
}

// endings are how the names of files end that a flag takes; nil if it takes
// something else.
func endings(c *cobra.Command, f *pflag.Flag) []string {
	typed, ok := f.Value.(completingFlag)
	if !ok {
		return nil
	}
	words, how := typed.complete(c, nil, "")
	if how&cobra.ShellCompDirectiveFilterFileExt == 0 {
		return nil
	}
	return words
}

var needs = regexp.MustCompile(` ([A-Z]+)\b`)

// argument is what a command must be given, such as FILE; "" if nothing.
func argument(c *cobra.Command) string {
	use, _, _ := strings.Cut(c.Use, "[")
	if m := needs.FindStringSubmatch(use); m != nil {
		return m[1]
	}
	return ""
}

// junk is what no flag wants but one for a file.
var junk = []string{
	"", " ", "-1", "nonsense", "NaN", "Inf", "-Inf", "1.5x", "5 apples", "99999999999999999999999", "1e400",
	"٣", "💥", "a\nb", "\x00", "\xff\xfe", "\x1b[2J", "--", "1,,2", "%s%d%n", strings.Repeat("9", 5000), strings.Repeat("long ", 2000),
}

// noFile is what no flag for a file wants, whatever its name ends in. After the
// colon ending is appended.
var noFile = []string{"", " ", "-", "x.exe", "x.docx", ".", "..", "sub", "sub/", "no/such/x:", "keep.svg/x:", "/proc/x:", "nul\x00:", strings.Repeat("x", 5000) + ":", "x:\x00"}

// table makes the bad inputs of all commands.
func table() []bad {
	var all []bad
	add := func(rule string, args []string, names ...string) { all = append(all, bad{rule, args, names}) }
	for _, c := range commands() {
		badArguments(c, add)
		badNames(c, add)
		for _, f := range flags(c) {
			switch {
			case f.Value.Type() == "bool":
				for _, v := range []string{"", "perhaps", "2", "💥"} {
					add("no truth value", stileWords(c, "--"+f.Name+"="+v), "--"+f.Name, "true or false")
				}
			case endings(c, f) != nil:
				badFiles(c, f, add)
			default:
				badValues(c, f, add)
			}
		}
	}
	return all
}

type adder func(rule string, args []string, names ...string)

// badArguments gives too few arguments, too many, and wrong ones.
func badArguments(c *cobra.Command, add adder) {
	path := c.CommandPath()
	if c.Name() != "help" && c.Name() != "exec" { // which takes any number, for another command
		add("too many arguments", good(c, "surplus"), "surplus")
		add("too many arguments", good(c, "", ""), `""`)
	}
	what := argument(c)
	if what == "" {
		return
	}
	add("no argument", stileWords(c), path, "needs")
	add("no argument", stileWords(c, "--"), path, "needs")
	for _, v := range junk {
		if v != "--" && (what != "LOCK" || !named(v)) {
			add("unknown argument", stileWords(c, "--", v))
		}
	}
	if what == "LOCK" {
		return // a lock may be called as a scenario is
	}
	if what != "FILE" {
		add("a scenario instead", stileWords(c, "x.stile"), "x.stile", "stile replay")
		return
	}
	for _, file := range []string{"missing.stile", "sub", "empty.stile", "binary.stile", "bom.stile", "crlf.stile", "huge.stile", "latin.stile", "cut.stile", "keep.svg", "keep.svg/x.stile", "/proc/self/mem"} {
		add("bad file", stileWords(c, file), file)
	}
}

// named reports whether a lock may be called so.
func named(s string) bool { return checkLockName(s) == nil }

// fits reports whether a flag takes a value that most do not.
func fits(f *pflag.Flag, v string) bool {
	name := slices.Contains([]string{"nonsense", "NaN", "Inf", "1.5x", "1e400"}, v)
	switch f.Value.Type() {
	case "HOST":
		return name
	case "NAME":
		return name || v == "99999999999999999999999"
	case "DIR":
		return strings.TrimSpace(v) != "" && v != "\x00"
	}
	return false
}

// badNames misspells commands and flags.
func badNames(c *cobra.Command, add adder) {
	see := "'" + c.CommandPath() + " --help'"
	add("unknown flag", stileWords(c, "--frobnicate"), "--frobnicate", see)
	add("unknown flag", stileWords(c, "--frobnicate=3"), "--frobnicate", see)
	add("unknown flag", stileWords(c, "-x"), "x", see)
	add("unknown flag", stileWords(c, "--💥\x1b"), see)
	for _, f := range flags(c) {
		typo := f.Name[:len(f.Name)-1]
		if len(f.Name) > 3 && c.Flags().Lookup(typo) == nil {
			add("misspelt flag", good(c, "--"+typo, "3"), "--"+typo, "did you mean --")
		}
		if f.Value.Type() != "bool" {
			add("flag without value", stileWords(c, "--"+f.Name), "--"+f.Name, "needs", see)
		}
	}
	for _, sub := range c.Commands() {
		typo := sub.Name()[:len(sub.Name())-1]
		if other, _, err := c.Find([]string{typo}); !sub.Hidden && (err != nil || other == c) { // lock is no misspelt locks
			add("misspelt command", stileWords(c, typo), typo, "did you mean "+sub.Name())
		}
	}
}

// span is how an error says between which bounds a number must be.
const span = "from "

// badValues sets a flag to what it does not want.
func badValues(c *cobra.Command, f *pflag.Flag, add adder) {
	numbers := slices.Contains([]string{"N", "LIST", "TIMES", "SIZE"}, f.Value.Type())
	for _, v := range junk {
		if fits(f, v) {
			continue
		}
		names := []string{f.Name}
		if numbers {
			names = append(names, span, " to ")
		}
		add("bad value", good(c, "--"+f.Name+"="+v), names...)
	}
	if !numbers {
		return
	}
	for _, v := range []string{"-5", "2.5", "0x10", "1_000", "1e3", "+-1", "99999999999999999999", "1000000000000000000"} {
		if v == "2.5" && f.Value.Type() == "TIMES" || f.Name == "seed" && v[0] == '1' && v[1] == '0' {
			continue // they are times, and a seed
		}
		add("bad number", good(c, "--"+f.Name+"="+v), "--"+f.Name, span)
	}
}

// badFiles lets a command write where it cannot, or what it should not.
func badFiles(c *cobra.Command, f *pflag.Flag, add adder) {
	ending := "." + endings(c, f)[0]
	for _, v := range noFile {
		if v == "" && strings.Contains(f.Usage, `""`) {
			continue // the help says what it means
		}
		add("bad file to write", good(c, "--"+f.Name+"="+strings.ReplaceAll(v, ":", ending)), "--"+f.Name)
	}
	keep := "--" + f.Name + "=keep" + ending
	add("an existing file", good(c, keep, "--frobnicate"), "--frobnicate")
	add("an existing file", good(c, keep, "surplus"), "surplus")
	for _, other := range flags(c) {
		if e := endings(c, other); e != nil && other.Name != f.Name && f.Name != "config" && other.Name != "config" { // which is read
			add("an existing file", good(c, keep, "--"+other.Name+"=no/such/x."+e[0]), "make it first")
			add("an existing file", good(c, "--"+other.Name+"=no/such/x."+e[0], keep), "make it first")
			if e[0] == ending[1:] {
				add("two files in one", good(c, keep, "--"+other.Name+"=./sub/../keep"+ending), "give each its own")
			}
		}
	}
}

// newDesk makes a directory with what the table needs.
func newDesk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const lock, ring, graph = "scenarios/raymond-a.stile", "scenarios/none-ring.stile", "scenarios/graph-cycle.stile" // those of the examples, and a graph
	scenario := read(lock)
	files := map[string]string{
		"sub/x": "x", lock: scenario, ring: read(ring), graph: read(graph),
		"keep.svg": "precious", "keep.json": "precious", "keep.stile": "precious", "keep.html": "precious",
		"empty.stile": "", "binary.stile": "\x7fELF\x02\x01\x01\x00\x00\x00", "bom.stile": "\ufeff", "crlf.stile": "\r\n\r\n",
		"huge.stile": strings.Repeat("#", 10<<20+1), "latin.stile": "title caf\xe9\n" + scenario,
		"cut.stile": scenario[:len(scenario)/3] + "\nP1 as",
		"small.rec": read("internal/live/replay/testdata/small.rec"),
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
