package style

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

func documentRules() []rule {
	return []rule{
		{"every package has a doc comment", packageDocs, []plant{
			{source("core/x.go", "package core"), "core: no doc comment"},
			{map[string]string{"core/x.go": "package core\n", "core/doc.go": "// Package core is documented.\npackage core\n"}, ""},
			{source("core/x_test.go", "package core"), ""},
		}},
		{"every exported name has a doc comment", nameDocs, []plant{
			{source("a/x.go", "package a", "func F() {}"), "a/x.go:2: F"},
			{source("a/x.go", "package a", "type T struct{}"), "a/x.go:2: T"},
			{source("a/x.go", "package a", "// T is a type.", "type T[P any] struct{ p P }", "func (t *T[P]) M() {}"), "a/x.go:4: M"},
			{source("a/x.go", "package a", "const C = 1"), "a/x.go:2: C"},
			{source("a/x.go", "package a", "// Two types need two comments.", "type (", "\tA int // is one", "\tB int", ")"), "a/x.go:5: B"},
			{source("a/x.go", "package a", "type t struct{}", "func (t) M() {}",
				"// E is an error.", "type E struct{}", "func (E) Error() string { return \"\" }", "// Some.", "const (", "\tA = 1", "\tB = 2", ")"), ""},
		}},
		{"every algorithm cites its paper", citations, []plant{
			{source("algorithm/mutex/x.go", "package mutex", "// X is fast.", "func X() algorithm.Spec { return algorithm.Spec{} }"), "algorithm/mutex/x.go:1: no paper is cited"},
			{source("algorithm/mutex/x.go", "package mutex", "// X is fast.", "//", "// A. Uthor: A Title. A Journal", "// 3(2), 1985, pages 1-2.", "func X() algorithm.Spec { return algorithm.Spec{} }",
				"// Y is X in other words.", "func Y() algorithm.Spec { return X() }"), ""},
			{source("algorithm/election/x.go", "package election", "// X is fast.", "func X() algorithm.Spec { return algorithm.Spec{} }"), "algorithm/election/x.go:1: no paper is cited"},
			{source("algorithm/mutex/x.go", "package mutex", "func helps() {}"), ""},
		}},
		{"links in Markdown lead somewhere", links, []plant{
			{map[string]string{"a.md": "x\n[b](docs/b.md)\n"}, "a.md:2: docs/b.md"},
			{map[string]string{"docs/a.md": "![b](../b.png)\n"}, "docs/a.md:1: ../b.png"},
			{map[string]string{"a.md": "<img src=\"b.svg\">\n"}, "a.md:1: b.svg"},
			{map[string]string{"a.md": "[b]: b.md\n"}, "a.md:1: b.md"},
			{map[string]string{"docs/a.md": "[b](b.md#part) [c](https://example.com/x) [d](#part) [e](..) `[f](f.md)`\n```\n[g](g.md)\n```\n", "docs/b.md": ""}, ""},
		}},
	}
}

func packageDocs(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		if !slices.ContainsFunc(r.in(dir), func(f *file) bool { return f.ast.Doc.Text() != "" }) {
			found = append(found, dir+": no doc comment in the package")
		}
	}
	return found, nil
}

func nameDocs(r *repo) ([]string, error) {
	var found []string
	for _, f := range r.files {
		if f.isTest() || f.isGenerated() {
			continue
		}
		for _, name := range undocumented(f.ast) {
			found = append(found, r.at(name.Pos(), "%s is exported and has no doc comment", name.Name))
		}
	}
	return found, nil
}

func undocumented(f *ast.File) []*ast.Ident {
	var names []*ast.Ident
	note := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d.Text() != "" }) {
			names = append(names, id)
		}
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) && d.Name.Name != "Error" && d.Name.Name != "Unwrap" {
				note(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if len(d.Specs) == 1 {
						note(s.Name, s.Doc, s.Comment, d.Doc)
					} else {
						note(s.Name, s.Doc, s.Comment)
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						note(id, s.Doc, s.Comment, d.Doc)
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	for n := range ast.Preorder(d.Recv.List[0].Type) {
		if id, ok := n.(*ast.Ident); ok {
			return id.Name
		}
	}
	return ""
}

// citation is a paragraph such as "A. Uthor: Title. Journal 3(2), 1985".
var citation = regexp.MustCompile(`^[A-Z][^:]*: .*\b(19|20)\d\d\b`)

func citations(r *repo) ([]string, error) {
	var found []string
	for _, f := range slices.Concat(r.in("algorithm/mutex"), r.in("algorithm/election")) {
		algorithms, cited := 0, false
		for _, decl := range f.ast.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || !d.Name.IsExported() || !returnsSpec(d) {
				continue
			}
			algorithms++
			for p := range strings.SplitSeq(d.Doc.Text(), "\n\n") {
				cited = cited || citation.MatchString(strings.ReplaceAll(p, "\n", " "))
			}
		}
		if algorithms > 0 && !cited {
			found = append(found, r.at(f.ast.Pos(), "no paper is cited: the comment of a Spec wants a paragraph such as \"A. Uthor: Title. Journal 3(2), 1985\""))
		}
	}
	return found, nil
}

func returnsSpec(d *ast.FuncDecl) bool {
	if d.Type.Results == nil || len(d.Type.Results.List) != 1 {
		return false
	}
	s, ok := d.Type.Results.List[0].Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Spec"
}

var (
	fence   = regexp.MustCompile("(?s)```.*?```")
	code    = regexp.MustCompile("`[^`\n]*`")
	targets = regexp.MustCompile(`\]\(([^)\s]+)[^)]*\)|(?:src|href)="([^"]+)"|(?m:^\[[^\]]+\]: *(\S+))`)
)

func links(r *repo) ([]string, error) {
	var found []string
	for _, t := range r.texts {
		// Code contains no links, but its lines count.
		src := fence.ReplaceAllStringFunc(t.src, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
		src = code.ReplaceAllString(src, "")
		for _, m := range targets.FindAllStringSubmatchIndex(src, -1) {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 && !r.leads(t.path, src[m[g]:m[g+1]]) {
					found = append(found, fmt.Sprintf("%s:%d: %s does not exist", t.path, 1+strings.Count(src[:m[g]], "\n"), src[m[g]:m[g+1]]))
				}
			}
		}
	}
	return found, nil
}

// leads reports whether a link in a file leads somewhere; external links are not
// followed.
func (r *repo) leads(from, link string) bool {
	link, _, _ = strings.Cut(link, "#")
	if link == "" || strings.Contains(link, ":") {
		return true
	}
	_, err := fs.Stat(r.fsys, path.Join(path.Dir(from), link))
	return err == nil
}
