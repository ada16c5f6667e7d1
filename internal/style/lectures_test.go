package style

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/glossary"
)

// The index of lectures has rows with a command or a link to a page, links to scenarios,
// and links that open the scenarios in the lab. The addresses of the latter are
// definitions at the end of the page: [NAME]: ADDRESS.
const labAddress = "http://127.0.0.1:7422/#s="

var (
	lectureRow  = regexp.MustCompile(`(?m)^\| .* \|$`)
	scenarioRef = regexp.MustCompile(`\[([^\]]+)\]\(\.\./scenarios/([^)]+)\.stile\)`)
	labRef      = regexp.MustCompile(`\[open\]\[([^\]]+)\]`)
	brackets    = regexp.MustCompile(`\([^)]*\)`)
	labLink     = regexp.MustCompile(`(?m)^\[([^\]]+)\]: (.*)\n`)
)

// An indexRow is a row of the index: its third last cell has commands and links to pages.
type indexRow struct {
	line      string
	terms     []string
	shown     string
	scenarios []string
	opened    []string
}

func indexRows(page string) []indexRow {
	var all []indexRow
	for _, line := range lectureRow.FindAllString(page, -1) {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 6 || strings.HasPrefix(line, "| topic ") {
			continue
		}
		r := indexRow{line: line, shown: strings.TrimSpace(cells[3])}
		for term := range strings.FieldsFuncSeq(brackets.ReplaceAllString(cells[1], ""), func(c rune) bool { return c == ',' || c == ';' }) {
			if term = strings.TrimSpace(term); term != "" {
				r.terms = append(r.terms, term)
			}
		}
		for _, m := range scenarioRef.FindAllStringSubmatch(cells[4], -1) {
			r.scenarios = append(r.scenarios, m[2])
		}
		for _, m := range labRef.FindAllStringSubmatch(cells[5], -1) {
			r.opened = append(r.opened, m[1])
		}
		all = append(all, r)
	}
	return all
}

// labText returns the text that an address of the lab holds.
func labText(address string) (string, error) {
	packed, is := strings.CutPrefix(address, labAddress)
	if packed, _, _ = strings.Cut(packed, "&"); !is {
		return "", fmt.Errorf("want %s and a text", labAddress)
	}
	data, err := base64.RawURLEncoding.DecodeString(packed)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	return string(text), err
}

// labHolding returns the address of the lab with a text.
func labHolding(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return labAddress + base64.RawURLEncoding.EncodeToString(b.Bytes()) + "&c=0"
}

// misindexed returns what is wrong with an index of lectures. The texts are those of the
// scenarios, by name.
func misindexed(page string, texts map[string]string) []string {
	var wrong []string
	links := map[string]string{}
	for _, m := range labLink.FindAllStringSubmatch(page, -1) {
		links[m[1]] = m[2]
	}
	used := map[string]bool{}
	for _, r := range indexRows(page) {
		if r.shown == "" {
			wrong = append(wrong, "neither a command nor a page: "+r.line)
		}
		if !slices.Equal(r.scenarios, r.opened) {
			wrong = append(wrong, fmt.Sprintf("scenarios %q, but the lab opens %q", r.scenarios, r.opened))
		}
		for _, name := range r.scenarios {
			used[name] = true
			if texts[name] == "" {
				wrong = append(wrong, name+": there is no such scenario")
			} else if text, err := labText(links[name]); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: the link to the lab does not open: %v", name, err))
			} else if text != texts[name] {
				wrong = append(wrong, name+": the link to the lab opens another text")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if !used[name] {
			wrong = append(wrong, name+": a link that no row uses")
		}
	}
	return wrong
}

func scenarioTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "scenarios/*.stile"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(file), ".stile")] = string(text)
	}
	return texts
}

func TestLectures(t *testing.T) {
	page, texts := readPage(t, "lectures.md"), scenarioTexts(t)
	if os.Getenv("STILE_UPDATE") != "" {
		links := map[string]string{}
		for _, r := range indexRows(page) {
			for _, name := range r.scenarios {
				links[name] = fmt.Sprintf("[%s]: %s\n", name, labHolding(t, texts[name]))
			}
		}
		page = labLink.ReplaceAllString(page, "")
		for _, name := range slices.Sorted(maps.Keys(links)) {
			page += links[name]
		}
		write(t, filepath.Join(root, "docs/lectures.md"), page)
	}
	for _, wrong := range misindexed(page, texts) {
		t.Errorf("docs/lectures.md: %s; STILE_UPDATE=1 go test ./internal/style -run TestLectures rewrites its links to the lab", wrong)
	}
	if rows := len(indexRows(page)); rows < 150 {
		t.Errorf("docs/lectures.md: only %d rows: how are they written?", rows)
	}
}

// examples of lectures are no terms.
var examples = []string{"bankomat", "zůstatek", "rezervační systém", "unikátní ID", "konsensus", "O", "bezstavovost", "Ethernet", "IEEE 802.11"}

// unknownTerms returns the terms of an index that no entry of the glossary explains.
func unknownTerms(page string) []string {
	entries := glossary.Entries()
	var all []string
	for _, r := range indexRows(page) {
		for _, term := range r.terms {
			known := func(e glossary.Entry) bool { return e.Explains(term) }
			if !slices.Contains(examples, term) && !slices.ContainsFunc(entries, known) {
				all = append(all, term)
			}
		}
	}
	return all
}

// The glossary, and with it the search in the lab's gallery, knows the terms of the lectures.
func TestLectureTerms(t *testing.T) {
	if all := unknownTerms(readPage(t, "lectures.md")); len(all) > 0 {
		t.Errorf("docs/glossary.md does not know %q, which docs/lectures.md has as terms", all)
	}
	if all := unknownTerms("| what | žeton, żeton (token); kouzlo | ours | `stile bank` | | |\n"); !slices.Equal(all, []string{"žeton", "kouzlo"}) {
		t.Errorf("unknown are %q", all)
	}
}

func TestLecturesPlanted(t *testing.T) {
	texts := map[string]string{"a": "title A\n", "b": "title B\n"}
	row := func(shown, cells string) string { return "| what | term | ours | " + shown + " | " + cells + " |\n" }
	const a = "[a](../scenarios/a.stile) | [open][a]"
	links := "[a]: " + labHolding(t, texts["a"]) + "\n"
	for page, want := range map[string]string{
		row("`stile bank`", a) + links:                   "",
		row("", a) + links:                               "neither a command nor a page",
		row("x", "[a](../scenarios/a.stile) | ") + links: "but the lab opens []",
		row("x", a): "does not open",
		row("x", a) + "[a]: " + labHolding(t, texts["b"]) + "\n": "opens another text",
		row("x", a) + links + "[b]: " + labHolding(t, "") + "\n": "b: a link that no row uses",
		row("x", "[c](../scenarios/c.stile) | [open][c]"):        "c: there is no such scenario",
		row("x", a) + "[a]: " + labAddress + "AAAA&c=0\n":        "does not open",
	} {
		wrong := strings.Join(misindexed(page, texts), "\n")
		if !strings.Contains(wrong, want) || (wrong == "") != (want == "") {
			t.Errorf("%s\ngot %q, want %q", page, wrong, want)
		}
	}
}

// Every command in the index of lectures runs. It finds a violation exactly if its row
// says so.
func lectureCommands(t *testing.T, stile string) {
	done := map[string]bool{}
	for _, r := range indexRows(readPage(t, "lectures.md")) {
		for _, line := range commands(r.shown) {
			if done[line] {
				continue
			}
			done[line] = true
			want := 0
			if strings.Contains(r.shown, "`stile "+line+"` (violated)") {
				want = 1
			}
			if code, out := exitCode(stile, line); code != want {
				t.Errorf("stile %s: exit code %d, want %d:\n%s", line, code, want, out)
			}
		}
	}
	if len(done) < 80 {
		t.Errorf("only %d commands: how are they written?", len(done))
	}
}
