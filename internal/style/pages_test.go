package style

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A block is a fenced block of a page. If it is code, it is appended to a file: the one
// that the paragraph before it names, or else that of the previous block.
type block struct {
	lang, text string
	file       string
	starts     bool // the paragraph before it names the file
}

var (
	fenced   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	fileName = regexp.MustCompile("`(\\w+\\.(?:go|stile))`:\\s*$")
)

// blocks returns the fenced blocks of a page.
func blocks(page string) []block {
	var all []block
	file, end := "", 0
	for _, m := range fenced.FindAllStringSubmatchIndex(page, -1) {
		b := block{lang: page[m[2]:m[3]], text: page[m[4]:m[5]]}
		if name := fileName.FindStringSubmatch(page[end:m[0]]); name != nil {
			file, b.starts = name[1], true
		}
		if b.file = file; b.lang != "go" && !b.starts {
			b.file = ""
		}
		all, end = append(all, b), m[1]
	}
	return all
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestBlocks(t *testing.T) {
	page := "A new file, `a.go`:\n\n```go\npackage a\n```\n\nMore of `it`.\n\n```go\nvar x int\n```\n\n```text\nout\n```\n\nAnd `b.stile`:\n\n```\ntitle\n```\n"
	want := []block{{"go", "package a\n", "a.go", true}, {"go", "var x int\n", "a.go", false}, {"text", "out\n", "", false}, {"", "title\n", "b.stile", true}}
	if got := blocks(page); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// written puts the blocks of a page into files, as a reader does. After each of them,
// check receives the files so far.
func written(page string, check func(files map[string]string)) map[string]string {
	files := map[string]string{}
	for _, b := range blocks(page) {
		if b.lang != "go" {
			continue
		}
		if !b.starts {
			files[b.file] += "\n"
		}
		files[b.file] += b.text
		check(files)
	}
	return files
}

// compiles returns the compiler's error for files of one package.
func compiles(files map[string]string) error {
	imp, err := compiled()
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	var asts []*ast.File
	for name, src := range files {
		f, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			return err
		}
		asts = append(asts, f)
	}
	_, err = (&types.Config{Importer: imp}).Check("first", fset, asts, nil)
	return err
}

// The tutorial compiles after every block, and the files that it makes are those of
// docs/first, which are tested.
func TestTutorial(t *testing.T) {
	files := written(readPage(t, "your-first-algorithm.md"), func(files map[string]string) {
		if err := compiles(files); err != nil {
			t.Errorf("who has followed the tutorial up to here sees: %v", err)
		}
	})
	beside := []string{"needless_test.go", "sizes_test.go"} // only in docs/first
	there, err := filepath.Glob(filepath.Join(root, "docs/first/*.go"))
	if err != nil || len(there) == 0 {
		t.Fatalf("docs/first is empty: %v", err)
	}
	for _, path := range there {
		name := filepath.Base(path)
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(beside, name) && files[name] != string(code) {
			t.Errorf("docs/first/%s is\n%s\nbut the tutorial makes\n%s", name, code, files[name])
		}
		if lines := bytes.Count(code, []byte("\n")); !strings.HasSuffix(name, "_test.go") && lines >= 100 {
			t.Errorf("%s has %d lines; the tutorial promises fewer than 100", name, lines)
		}
		delete(files, name)
	}
	for name := range files {
		t.Errorf("the tutorial makes %s, which is not in docs/first", name)
	}
}

func TestTutorialPlanted(t *testing.T) {
	for want, page := range map[string]string{
		`"fmt" imported and not used`: "`a.go`:\n\n```go\npackage a\n\nimport \"fmt\"\n```\n",
		"undefined: y":                "`a.go`:\n\n```go\npackage a\n\nvar x = y\n```\n\n```go\nvar y = 1\n```\n",
	} {
		var found error
		written(page, func(files map[string]string) {
			if err := compiles(files); err != nil {
				found = err
			}
		})
		if found == nil || !strings.Contains(found.Error(), want) {
			t.Errorf("found %v, want %s", found, want)
		}
	}
}

// What the tutorial says about removing a line is what go test then reports.
func TestTutorialBreaks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	page := readPage(t, "your-first-algorithm.md")
	dir, err := filepath.Abs(filepath.Join(root, "docs/first"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(filepath.Join(dir, "baton.go"))
	if err != nil {
		t.Fatal(err)
	}
	for line, says := range map[string]string{"b.here = false": "VIOLATION of mutual-exclusion", "b.wants.Add(from)": "waits"} {
		if !strings.Contains(page, "`"+line+"`") || bytes.Count(code, []byte(line)) != 1 {
			t.Errorf("%q must be in the tutorial, and once in the code", line)
			continue
		}
		test := exec.Command("go", "test", "-run", "TestBatonHolds", "-overlay", without(t, filepath.Join(dir, "baton.go"), string(code), line), ".")
		test.Dir = dir
		out, err := test.CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) {
			t.Errorf("without %s: %v\n%s\nwant it to say %q", line, err, out, says)
		}
	}
}

// without returns an overlay in which a file lacks a line of its code.
func without(t *testing.T, file, code, line string) (overlay string) {
	t.Helper()
	tmp := t.TempDir()
	broken, overlay := filepath.Join(tmp, filepath.Base(file)), filepath.Join(tmp, "overlay.json")
	write(t, broken, strings.Replace(code, line, "", 1))
	write(t, overlay, `{"Replace": {"`+filepath.ToSlash(file)+`": "`+filepath.ToSlash(broken)+`"}}`)
	return overlay
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
