package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A bad is a command line that cannot be done, and what the error must name: the
// flag or the argument, and what is wanted.
type bad struct {
	rule  string
	args  []string
	names []string
}

// A badOutcome is what came of a command line.
type badOutcome struct {
	code           int
	stdout, stderr string
	before, after  map[string]string // the files that there are, and what is in them
}

// longestError is how long an error may be.
const longestError = 300

// inside are words of the program's own, which no user should see.
var inside = regexp.MustCompile(`strconv|goroutine|panic|runtime error|%!|<nil>|\.go:\d|\b(u?int(8|16|32|64)?|float(32|64)|pflag|cobra|errors|core\.[A-Z]\w*|ask\.[A-Z]\w*|struct|interface)\b|\[\](int|string|byte)`)

// complaints says what is wrong with how a bad command line was refused.
func complaints(b bad, o badOutcome) []string {
	var all []string
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	line, ended := strings.CutSuffix(o.stderr, "\n")
	say(o.code != 2, "exit code %d, want 2", o.code)
	say(o.stdout != "", "stdout: %.100q, want nothing", o.stdout)
	say(!ended || strings.Contains(line, "\n") || !strings.HasPrefix(line, "stile: "), "stderr: %.300q, want one line that begins with stile:", o.stderr)
	say(utf8.RuneCountInString(line) > longestError, "the error has %d characters, want at most %d", utf8.RuneCountInString(line), longestError)
	say(strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "stderr: %q has what no screen shows", line)
	if word := inside.FindString(line); word != "" && !slices.ContainsFunc(b.args, func(a string) bool { return strings.Contains(a, word) }) {
		say(true, "the error says %s, which is a word of the program: %s", word, line)
	}
	for _, name := range b.names {
		say(!strings.Contains(line, name), "the error does not say %q: %s", name, line)
	}
	for path, data := range o.before {
		say(o.after[path] != data, "%s was lost or changed", path)
	}
	for path := range o.after {
		_, was := o.before[path]
		say(!was, "%s was written", path)
	}
	return all
}

// Each complaint is made of what deserves it, and none of what does not.
func TestComplaints(t *testing.T) {
	b := bad{args: []string{"sim", "--nodes", "x"}, names: []string{"--nodes", "from 1"}}
	good := badOutcome{code: 2, stderr: "stile: --nodes \"x\": want a whole number from 1 to 9\n", before: map[string]string{"a": "1"}, after: map[string]string{"a": "1"}}
	if got := complaints(b, good); len(got) > 0 {
		t.Errorf("of a good error: %q", got)
	}
	for want, plant := range map[string]func(o *badOutcome){
		"exit code 0":       func(o *badOutcome) { o.code = 0 },
		"exit code 1":       func(o *badOutcome) { o.code = 1 },
		"want nothing":      func(o *badOutcome) { o.stdout = "half a page" },
		"want one line":     func(o *badOutcome) { o.stderr = "Usage:\n" + o.stderr },
		"begins with stile": func(o *badOutcome) { o.stderr = "Error" + o.stderr[len("stile"):] },
		"want at most 300": func(o *badOutcome) {
			o.stderr = strings.Replace(o.stderr, "want", strings.Repeat("very ", 60)+"want", 1)
		},
		"no screen shows":          func(o *badOutcome) { o.stderr = strings.Replace(o.stderr, "x", "\x1b[2J", 1) },
		"says strconv":             func(o *badOutcome) { o.stderr = strings.Replace(o.stderr, "want", "strconv.Atoi: parsing: want", 1) },
		"says int64":               func(o *badOutcome) { o.stderr = strings.Replace(o.stderr, "whole number", "int64", 1) },
		"says goroutine":           func(o *badOutcome) { o.stderr = strings.Replace(o.stderr, "want", "goroutine 1 [running]: want", 1) },
		"says %!":                  func(o *badOutcome) { o.stderr = strings.Replace(o.stderr, "want", "%!d(string=x) want", 1) },
		"does not say \"--nodes\"": func(o *badOutcome) { o.stderr = strings.Replace(o.stderr, "--nodes", "it", 1) },
		"does not say \"from 1\"":  func(o *badOutcome) { o.stderr = strings.Replace(o.stderr, "from 1", "up", 1) },
		"a was lost or changed":    func(o *badOutcome) { o.after = map[string]string{"a": ""} },
		"b was written":            func(o *badOutcome) { o.after = map[string]string{"a": "1", "b": ""} },
	} {
		o := good
		plant(&o)
		if got := complaints(b, o); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("planted %q, found %q", want, got)
		}
	}
}

// try runs a bad command line here, and returns what came of it.
func try(t *testing.T, b bad) (o badOutcome) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("stile %.200q: panic: %v", b.args, r)
		}
	}()
	o.before = disk(t)
	o.code, o.stdout, o.stderr = stile(b.args...)
	o.after = disk(t)
	return o
}

// disk returns what is in the files below the working directory. Of a large one
// it is the size.
func disk(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil || info.Size() > 1<<16 {
			all[path] = fmt.Sprint(info.Size())
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBadInput is the table: rules about what can be given to a command, for
// every command that there is.
func TestBadInput(t *testing.T) {
	t.Chdir(newDesk(t))
	t.Setenv("STILE_ADDR", "127.0.0.1:1") // where no node is
	count := map[string]int{}
	for _, b := range table() {
		count[b.rule]++
		for _, wrong := range complaints(b, try(t, b)) {
			t.Errorf("%s: stile %.200q: %s", b.rule, b.args, wrong)
		}
	}
	total := 0
	for rule, n := range count {
		total += n
		t.Logf("%-24s%5d", rule, n)
	}
	if total < 440 {
		t.Errorf("%d bad inputs, want at least 440", total)
	}
}
