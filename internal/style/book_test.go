package style

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The book is README.md and the pages of docs. Every block of code in it has a language,
// and each language is tried in one way:
//
//	console   commands and their output, run in a terminal
//	go        Go, which compiles: alone, or with the declarations in snippets_test.go
//	stile     scenarios, which are replayed
//	text, toml, yaml, json, sql, lua
//	          output and settings, which other tests read, if any
//	sh        what is not run here: see untried

// untried lists the blocks of commands that are not run here, by page and the first line of
// the block, with the reason. An empty line stands for all blocks of a page.
var untried = map[string]string{
	"README.md: go run ./cmd/stile serve":        "other blocks run the command, and make check runs this test",
	"docs/tour.md: git clone":                    "every test builds the command from its clone",
	"docs/outside.md: ":                          "TestOutside runs the page",
	"docs/exercise.md: ":                         "TestExerciseSkeleton runs the page",
	"docs/install.md: ":                          "git, systemd, containers and Kubernetes: the page says how each was tried, and test/packaging checks the files",
	"docs/bank.md: stile bank --live --postgres": "needs a server of PostgreSQL: 'make tools' installs one, and test/postgres runs it",
	"docs/elections-live.md: stile elect":        "runs a program of the reader; testdata/elect.txt runs the same with others",
	"docs/kept.md: stile serve":                  "runs programs of the reader; testdata/kept.txt runs the same with others",
	"docs/http.md: bash docs/http/":              "TestHTTPScripts runs it",
	"docs/http.md: python3 docs/http/":           "TestHTTPScripts runs it",
	"docs/http.md: node docs/http/":              "TestHTTPScripts runs it",
	"docs/http.md: curl http://127.0.0.1:7421/stile.v1.Cluster/MoveSession": "names a session of the reader; TestMoveSession does the same",
	"docs/http.md: curl --cacert":                                           "needs a node with certificates; the tests of internal/live/gateway do the same",
	"docs/operating.md: stile serve --name a --listen":                      "needs the certificates that the page makes later; TestLiveTLS does the same",
	"docs/operating.md: stile backup":                                       "TestRecoverRunbook runs it",
	"docs/operating.md: stile serve --name c":                               "TestRecoverRunbook runs it",
	"docs/operating.md: stile recover":                                      "TestRecoverRunbook runs it",
	"docs/operating.md: stile serve --name a --record":                      "ends with the node; testdata/recording.txt replays a recording",
	"docs/operating.md: stile replay --check":                               "needs recordings of the reader; testdata/recording.txt has others",
}

// A slow page is tried only by 'make nightly', with STILE_NIGHTLY set.
var slow = []string{"docs/tour.md", "docs/bank.md", "docs/storm.md"}

func bookPages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"README.md": readFile(t, root, "README.md")}
	for _, file := range files {
		name := "docs/" + filepath.Base(file)
		pages[name] = readFile(t, root, name)
	}
	return pages
}

var (
	languages = []string{"console", "go", "stile", "text", "toml", "yaml", "json", "sql", "lua", "sh"}
	indented  = regexp.MustCompile(`(?m)^ {4}\S.*$`)
	listItem  = regexp.MustCompile(`^([-*]|\d+\.) `)
)

// misblocked returns the blocks of a page that have no known language, or are indented:
// a block that cannot be recognized is never tried.
func misblocked(page string) []string {
	var wrong []string
	for _, b := range blocks(page) {
		if !slices.Contains(languages, b.lang) {
			first, _, _ := strings.Cut(b.text, "\n")
			wrong = append(wrong, fmt.Sprintf("a block in the language %q, which is none of %s: %s", b.lang, strings.Join(languages, ", "), first))
		}
	}
	inList := false
	for part := range strings.SplitSeq(fenced.ReplaceAllString(page, ""), "\n\n") {
		part = strings.TrimLeft(part, "\n")
		if !strings.HasPrefix(part, " ") {
			inList = listItem.MatchString(part)
		} else if line := indented.FindString(part); line != "" && !inList && strings.HasPrefix(part, line) {
			wrong = append(wrong, "an indented block; fence it, and name its language: "+strings.TrimSpace(line))
		}
	}
	return wrong
}

// reason returns the key in untried of a block, if there is one.
func reason(name string, b block) (key string, listed bool) {
	for key := range untried {
		page, first, _ := strings.Cut(key, ": ")
		if page == name && strings.HasPrefix(strings.TrimPrefix(b.text, "$ "), first) {
			return key, true
		}
	}
	return "", false
}

// Every block of the book is tried, or there is a reason why it is not.
func TestBookBlocks(t *testing.T) {
	used := map[string]bool{}
	for name, page := range bookPages(t) {
		for _, wrong := range misblocked(page) {
			t.Errorf("%s: %s", name, wrong)
		}
		for _, b := range blocks(page) {
			key, listed := reason(name, b)
			if used[key] = true; b.lang == "sh" && !listed {
				t.Errorf("%s: a block of commands that are not run, without a reason in untried: %s", name, b.text)
			}
		}
	}
	for key := range untried {
		if !used[key] {
			t.Errorf("%s: there is no such block", key)
		}
	}
	for _, bad := range []string{"x\n\n```\n$ stile bank\n```\n", "x\n\n    stile bank\n\ny\n", "```bash\nx\n```\n"} {
		if misblocked(bad) == nil {
			t.Errorf("not found wrong: %q", bad)
		}
	}
	if wrong := misblocked("- x\n\n    y\n\n```console\n$ stile bank\n```\n"); wrong != nil {
		t.Errorf("found wrong: %q", wrong)
	}
}

// The commands of the book do what it shows. Those of a page are run in one terminal.
func consoles(t *testing.T, stile string) {
	pages, count := bookPages(t), 0
	for i, name := range slices.Sorted(maps.Keys(pages)) {
		var all []session
		live := false
		for _, b := range blocks(pages[name]) {
			if _, listed := reason(name, b); b.lang == "console" && !listed {
				all = append(all, sessions(b)...)
			}
		}
		for _, s := range all {
			live = live || !repeatable.MatchString(s.line)
		}
		if count += len(all); len(all) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			switch {
			case live && runtime.GOOS != "linux":
				t.Skip("its nodes have addresses of the loopback interface that only Linux has")
			case slices.Contains(slow, name) && os.Getenv("STILE_NIGHTLY") == "":
				t.Skip("it takes long: 'make nightly' runs it")
			}
			t.Parallel()
			term := openTerminal(t, stile, i)
			for _, s := range all {
				if wrong := s.differs(term, patience); wrong != "" {
					t.Fatalf("%s: %s", s.line, wrong) // later commands may need this one
				}
			}
		})
	}
	if count < 80 {
		t.Errorf("only %d commands: how are they written?", count)
	}
}

// A command that does not do what is shown is found.
func plantedConsoles(t *testing.T, stile string) {
	term := openTerminal(t, stile, 63)
	const replay = "stile replay scenarios/ricart-agrawala-a.stile"
	for _, test := range []struct {
		says string
		s    session
	}{
		{"", session{replay, [][]string{{"entries    P2 at 2, P1 at 4", "messages   8"}, {"expected   all as expected"}}, 0}},
		{"and the page says", session{replay, nil, 1}},
		{"no such lines", session{replay, [][]string{{"messages   9"}}, 0}},
		{"in this order", session{replay, [][]string{{"messages   8"}, {"entries    P2 at 2, P1 at 4"}}, 0}},
		{"messages   8\n", session{replay, [][]string{{"entries    P2 at 2, P1 at 4", "expected   all as expected"}}, 0}},
		{"exit code 2", session{"stile replay scenarios/nothing.stile", nil, 0}},
		{"exit code 127", session{"stiel bank", nil, 0}},
		{"exit code 2", session{"stile exec demo --nodes 3 -- true", nil, 0}},
		{"", session{"x=1; (read -r line < pipe || echo printed $x) 2>/dev/null &", [][]string{{"printed 1"}}, 0}},
		{"no such lines", session{"echo a &", [][]string{{"b"}}, 0}},
		{"", session{"test $x = 1; wait", nil, 0}},
	} {
		limit := patience
		if test.says != "" {
			limit = 0
		}
		if wrong := test.s.differs(term, limit); !strings.Contains(wrong, test.says) || (wrong == "") != (test.says == "") {
			t.Errorf("%s: got %q, want %q", test.s.line, wrong, test.says)
		}
	}
}

// choosing returns the rows that the page about choosing an algorithm must have: for each
// load frames and wait, of nine members, from the page of measurements.
func choosing(measured string) map[string]string {
	rows := map[string]string{}
	for _, load := range []string{"locality", "random locks", "one hot lock"} {
		_, table, _ := strings.Cut(measured, "\n## Entries: "+load+"\n")
		table, _, _ = strings.Cut(table, "\n## ")
		for _, row := range regexp.MustCompile(`(?m)^\| ([a-z-]+) \|(.*)\|$`).FindAllStringSubmatch(table, -1) {
			cells := strings.Split(row[2], "|")
			if len(cells) != 5 || row[1] == "algorithm" {
				continue
			}
			for _, i := range []int{0, 3} {
				values := strings.Split(cells[i], "/")
				rows[row[1]] += " " + strings.TrimSpace(values[2]) + " |"
			}
		}
	}
	return rows
}

// The page about choosing an algorithm quotes the measurements, and proposes only what was
// measured.
func TestChoosing(t *testing.T) {
	page, rows := readPage(t, "choosing.md"), choosing(readPage(t, "results/live.md"))
	quoted := regexp.MustCompile(`(?m)^\| ([a-z-]+) \|(( [0-9.]+ \|){6})$`).FindAllStringSubmatch(page, -1)
	if len(quoted) < 6 {
		t.Errorf("only %d rows of measurements: how are they written?", len(quoted))
	}
	for _, row := range quoted {
		if rows[row[1]] != row[2] {
			t.Errorf("docs/choosing.md quotes %s:%s, and docs/results/live.md has%s", row[1], row[2], rows[row[1]])
		}
	}
}
