package style

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A session is a command on a page, and what the page shows of its output: groups of
// consecutive lines, and its exit code.
type session struct {
	line  string
	shown [][]string
	code  int
}

var exits = regexp.MustCompile(`^exit code (\d+)$`)

// sessions returns the commands of a console block: lines that begin with a dollar, and are
// continued by lines that begin with "> ".
func sessions(b block) []session {
	var all []session
	for line := range strings.Lines(b.text) {
		line = strings.TrimRight(line, " \n")
		last := len(all) - 1
		switch command, is := strings.CutPrefix(line, "$ "); {
		case is:
			all = append(all, session{line: command, shown: [][]string{nil}})
		case last < 0:
			all = append(all, session{line: "false # no command shows: " + line, shown: [][]string{nil}})
		case strings.HasPrefix(line, "> ") && len(all[last].shown) == 1 && len(all[last].shown[0]) == 0:
			all[last].line += "\n" + line[2:]
		case line == "...":
			all[last].shown = append(all[last].shown, nil)
		case exits.MatchString(line):
			fmt.Sscan(exits.FindStringSubmatch(line)[1], &all[last].code)
		default:
			group := &all[last].shown[len(all[last].shown)-1]
			*group = append(*group, line)
		}
	}
	return all
}

// repeatable matches commands of the laboratory, which prints the same every time. Its output is
// compared line by line. Of live processes numbers, times and addresses differ: their
// output is compared word by word, and a number stands for any number.
var repeatable = regexp.MustCompile(`^stile (algorithms|check|compare|deadlock|glossary|replay|sim|storm) |^stile bank( --lock \S+)?$`)

// missing returns the first group of lines that the output lacks after the groups before it.
func (s session) missing(out string) []string {
	if !repeatable.MatchString(s.line) {
		return s.missingWords(out)
	}
	var lines []string
	for line := range strings.Lines(out) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	for _, group := range s.shown {
		at := -1
		for i := 0; i+len(group) <= len(lines) && at < 0; i++ {
			if slices.Equal(lines[i:i+len(group)], group) {
				at = i
			}
		}
		if at < 0 {
			return group
		}
		lines = lines[at+len(group):]
	}
	return nil
}

func (s session) missingWords(out string) []string {
	out = blur(out)
	for _, group := range s.shown {
		want := strings.ReplaceAll(regexp.QuoteMeta(blur(strings.Join(group, "\n"))), "…", ".*?")
		found := regexp.MustCompile(want).FindStringIndex(out)
		if found == nil {
			return group
		}
		out = out[found[1]:]
	}
	return nil
}

var blurs = []struct {
	what *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\b([0-9a-f]{16}|[A-Z2-7]{26})\b`), "N"}, // clusters and sessions
	{regexp.MustCompile(`\d+([.,:-]\d+)*`), "N"},
	{regexp.MustCompile(`\bN (ns|µs|ms)\b`), "N s"},
	{regexp.MustCompile(`\s+`), " "},
	{regexp.MustCompile(`([,:]) "`), `$1"`}, // spaces in JSON are random on purpose
}

// blur replaces what differs from run to run.
func blur(s string) string {
	for _, b := range blurs {
		s = b.what.ReplaceAllString(s, b.to)
	}
	return strings.TrimSpace(s)
}

func TestSessions(t *testing.T) {
	page := "x\n\n```console\n$ stile version\na\n...\nb\nexit code 1\n$ cat <<'END'\n> x\n> END\n> y\n```\n"
	want := []session{{"stile version", [][]string{{"a"}, {"b"}}, 1}, {"cat <<'END'\nx\nEND\ny", [][]string{nil}, 0}}
	if got := sessions(blocks(page)[0]); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, test := range []struct {
		line, out string
		shown     [][]string
		lacks     bool
	}{
		{"stile sim x", "a 1\nb 2\nc 3\n", [][]string{{"a 1"}, {"c 3"}}, false},
		{"stile sim x", "a 1\nb 2\nc 3\n", [][]string{{"a 1", "c 3"}}, true},
		{"stile sim x", "a 1\n", [][]string{{"a 2"}}, true},
		{"stile locks", "held for 12 ms\n by a 4f1c0a5be2d97733", [][]string{{"held for 3.5 s by a 19eaafde5d1a2f1d"}}, false},
		{"stile locks", "held by b", [][]string{{"held by a"}}, true},
		{"stile locks", "held by b at c", [][]string{{"held … at c"}}, false},
		{"stile locks", "b a", [][]string{{"a"}, {"b"}}, true},
	} {
		if got := (session{line: test.line, shown: test.shown}).missing(test.out); (got != nil) != test.lacks {
			t.Errorf("%+v: missing %q", test, got)
		}
	}
}
