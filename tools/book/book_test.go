package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The book can be built of this repository: every page is in the navigation, and every link
// and anchor leads somewhere. Build reports what does not.
func TestBook(t *testing.T) {
	files, err := Build(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if found := broken(files); len(found) > 0 {
		t.Errorf("broken links: %q", found)
	}
	for name, want := range map[string][]string{
		"index.html":              {`<a href="operating.html"`, `<h1 id="the-book-of-stile">`, `<a href="results/proofs.html">What is proved</a>`},
		"readme.html":             {`href="../index.html">Lab</a>`},
		"algorithms/maekawa.html": {`<div class="scroll diagram" tabindex="0"><img src="maekawa.svg"`, `<link rel="stylesheet" href="../book.css">`, `aria-current="page">maekawa</a>`, `rel="prev"`, `rel="next"`},
		"source/lab/scenarios/maekawa-three.stile.html": {`href="../../../../index.html#s=`, `<span id="L1">`},
		"source/doc.go.html":                            {"<h1>Package stile</h1>", `id="type-Node"`, `id="hdr-A_complete_example">A complete example<a class="anchor"`},
	} {
		for _, w := range want {
			if !strings.Contains(string(files[name]), w) {
				t.Errorf("%s does not have %s", name, w)
			}
		}
	}
	script := regexp.MustCompile(`(?i)<script|\son[a-z]+="|http-equiv="refresh"`)
	for name, data := range files {
		if path.Ext(name) == ".html" && script.Match(data) {
			t.Errorf("%s needs JavaScript: %s", name, script.Find(data))
		}
	}
}

// small is a small repository with a book.
func small() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"README.md":                 file("# Small\n\n[docs](docs/README.md)\n"),
		"doc.go":                    file("// Package small is small.\n//\n// # Its parts\n//\n// None.\npackage small\n\n// F does nothing.\nfunc F() {}\n"),
		"docs/README.md":            file("# Documentation\n\n## First\n\n| page | content |\n|---|---|\n| [A](a.md) | a |\n| [The rest](rest/README.md) | b |\n"),
		"docs/a.md":                 file("# A\n\n## A *part*: it's `x`\n\n## Twice\n\n## Twice\n\n[part](#a-part-its-x) [second](#twice-1) [b](rest/b.md#b) [code](../doc.go#func-F) [outer](https://example.com/x)\n\n| x |\n|--:|\n| 1 |\n"),
		"docs/rest/README.md":       file("# The rest\n\n## Pages\n\n| page |\n|---|\n| [B](b.md) |\n"),
		"docs/rest/b.md":            file("# B\n\n![picture](b.svg) [scene](../../lab/scenarios/s.stile) [scenes](../../lab/scenarios) [lab](http://127.0.0.1:7422/#s=abc&c=0)\n"),
		"docs/rest/b.svg":           file("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
		"lab/scenarios/s.stile":     file("title <s>\n"),
		"lab/scenarios/nothing.bin": file("\x00"),
		"docs/results/result.txt":   file("1\n"),
	}
}

func listing(fsys fstest.MapFS, row string) {
	fsys["docs/README.md"].Data = append(fsys["docs/README.md"].Data, row...)
}

func TestSmall(t *testing.T) {
	fsys := small()
	listing(fsys, "| [Result](results/result.txt) | c |\n")
	files, err := Build(fsys)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.html", "book.css", "index.html", "rest/b.html", "rest/b.svg", "rest/index.html", "results/result.txt.html", "source/doc.go.html", "source/lab/scenarios/index.html", "source/lab/scenarios/s.stile.html"}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	for name, want := range map[string]string{
		"a.html":                            `<div class="scroll" tabindex="0"><table>`,
		"rest/b.html":                       `<a href="../../index.html#s=abc&amp;c=0">lab</a>`,
		"rest/index.html":                   "<details open>",
		"source/lab/scenarios/s.stile.html": "title &lt;s&gt;",
	} {
		if !strings.Contains(string(files[name]), want) {
			t.Errorf("%s does not have %s:\n%s", name, want, files[name])
		}
	}
}

// Whatever leads nowhere is reported, and so is a page that is in no chapter.
func TestPlanted(t *testing.T) {
	const listed = "| [Result](results/result.txt) | c |\n"
	for says, plant := range map[string]func(fsys fstest.MapFS){
		"docs/results/result.txt is missing from the navigation": func(fsys fstest.MapFS) { fsys["docs/README.md"] = small()["docs/README.md"] },
		"docs/new.md is missing from the navigation":             func(fsys fstest.MapFS) { fsys["docs/new.md"] = fsys["README.md"] },
		"docs/rest/c.md is missing from the navigation":          func(fsys fstest.MapFS) { fsys["docs/rest/c.md"] = fsys["docs/rest/b.md"] },
		"docs/a.md: no.md does not exist":                        func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "[x](no.md)") },
		"docs/a.md: no.png does not exist":                       func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "![x](no.png)") },
		"docs/a.md: ../../x does not exist":                      func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "## [x](../../x)") },
		"rest/b.html#no leads to no anchor":                      func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "[x](rest/b.md#no)") },
		"a.html: #no leads to no anchor":                         func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "[x](#no)") },
		"doc.go.html#func-G leads to no anchor":                  func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "[x](../doc.go#func-G)") },
		"lab/scenarios/nothing.bin is linked":                    func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "[x](../lab/scenarios/nothing.bin)") },
		"docs/a.md has HTML":                                     func(fsys fstest.MapFS) { also(fsys, "docs/a.md", "<div>x</div>") },
	} {
		fsys := small()
		listing(fsys, listed)
		plant(fsys)
		if _, err := Build(fsys); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
}

// also appends a paragraph to a page.
func also(fsys fstest.MapFS, name, text string) {
	fsys[name].Data = append(fsys[name].Data, "\n"+text+"\n"...)
}

// A link in a finished page that leads nowhere is found, whatever made it.
func TestBroken(t *testing.T) {
	files := map[string][]byte{
		"a.html":   []byte(`<a href="b/c.html#x"></a><img src="b/d.png"><a href="../index.html#s=1"></a><a href="https://example.com"></a>`),
		"b/c.html": []byte(`<h2 id="x"></h2><a href="../a.html"></a><a href="../../index.html"></a>`),
		"b/d.png":  nil,
	}
	files["b/d.png"] = []byte("png")
	if got := broken(files); got != nil {
		t.Errorf("got %q", got)
	}
	files["b/c.html"] = []byte(`<a href="../../other.html"></a>`)
	delete(files, "b/d.png")
	want := []string{"a.html: b/c.html#x leads to no anchor of b/c.html", "a.html: b/d.png leads to no page", "b/c.html: ../../other.html leads to no page"}
	if got := broken(files); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The book of a folder is written to another one.
func TestWrite(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := write(from, to); err == nil {
		t.Error("a folder without docs has a book")
	}
	fsys := small()
	listing(fsys, "| [Result](results/result.txt) | c |\n")
	if err := os.CopyFS(from, fsys); err != nil {
		t.Fatal(err)
	}
	if err := write(from, to); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(to, "rest", "index.html")); err != nil {
		t.Error(err)
	}
}
