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

var exits = regexp.MustCompile(`^exit code (\d)$`)

// sessions returns the commands of the console blocks of a page.
func sessions(page string) []session {
	var all []session
	for _, b := range blocks(page) {
		if b.lang != "console" {
			continue
		}
		for line := range strings.Lines(b.text) {
			line = strings.TrimRight(line, " \n")
			last := len(all) - 1
			switch command, is := strings.CutPrefix(line, "$ stile "); {
			case is:
				all = append(all, session{line: command, shown: [][]string{nil}})
			case line == "...":
				all[last].shown = append(all[last].shown, nil)
			case exits.MatchString(line):
				fmt.Sscan(exits.FindStringSubmatch(line)[1], &all[last].code)
			default:
				group := &all[last].shown[len(all[last].shown)-1]
				*group = append(*group, line)
			}
		}
	}
	return all
}

// differs says how the command deviates from what the page shows, or nothing.
func (s session) differs(stile string) string {
	code, out := exitCode(stile, s.line)
	if code != s.code {
		return fmt.Sprintf("exit code %d, and the page says %d:\n%s", code, s.code, out)
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
			return fmt.Sprintf("no such lines, or not in this order:\n%s\nin\n%s", strings.Join(group, "\n"), out)
		}
		lines = lines[at+len(group):]
	}
	return ""
}

// Every command on the pages about claims and clocks does what they show. Nothing else is
// a command there, so that none is left out.
func consoles(t *testing.T, stile string) {
	for page, least := range map[string]int{"claims.md": 30, "clocks.md": 5} {
		text := readPage(t, page)
		all := sessions(text)
		if len(all) < least {
			t.Errorf("%s: only %d commands: how are they written?", page, len(all))
		}
		for _, line := range commands(text) {
			t.Errorf("%s: stile %s is not in a console block, and so is never run", page, line)
		}
		for _, s := range all {
			if wrong := s.differs(stile); wrong != "" {
				t.Errorf("%s: stile %s: %s", page, s.line, wrong)
			}
			if len(s.shown[0]) == 0 {
				t.Errorf("%s: nothing is shown of stile %s", page, s.line)
			}
		}
	}
}

// A command that does not do what is shown is found.
func plantedConsoles(t *testing.T, stile string) {
	page := "x\n\n```console\n$ stile version\na\n...\nb\nexit code 1\n$ stile replay x\n```\n\n```text\n$ stile bank\n```\n"
	want := []session{{"version", [][]string{{"a"}, {"b"}}, 1}, {"replay x", [][]string{nil}, 0}}
	if got := sessions(page); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	const line = "replay scenarios/ricart-agrawala-a.stile"
	for says, s := range map[string]session{
		"":                  {line, [][]string{{"entries    P2 at 2, P1 at 4", "messages   8"}, {"expected   all as expected"}}, 0},
		"and the page says": {line, nil, 1},
		"no such lines":     {line, [][]string{{"messages   9"}}, 0},
		"in this order":     {line, [][]string{{"messages   8"}, {"entries    P2 at 2, P1 at 4"}}, 0},
		"messages   8\n":    {line, [][]string{{"entries    P2 at 2, P1 at 4", "expected   all as expected"}}, 0},
	} {
		if wrong := s.differs(stile); !strings.Contains(wrong, says) || (wrong == "") != (says == "") {
			t.Errorf("got %q, want %q", wrong, says)
		}
	}
}
