package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"html"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// module is the path of the module of the repository.
const module = "github.com/stile-lock/stile"

// code shows a file as text, with numbered lines. A scenario can be opened in the lab.
func (s *site) code(name string, src []byte) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n", html.EscapeString(name))
	if path.Ext(name) == ".stile" {
		held, err := packed(src)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<p><a class=\"open\" href=\"%s#s=%s&amp;c=0\">Open in the lab</a></p>\n", relative(address(name, false), "../index.html"), held)
	}
	b.WriteString("<pre class=\"code\">")
	for i, line := range strings.Split(strings.TrimRight(string(src), "\n"), "\n") {
		fmt.Fprintf(&b, "<span id=\"L%d\">%s</span>\n", i+1, html.EscapeString(line))
	}
	b.WriteString("</pre>\n")
	return s.show(name, false, view{Title: name, Body: template.HTML(b.String())})
}

// packed returns a text as it stands in an address of the lab.
func packed(text []byte) (string, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}

// folder lists the files of a folder that the book shows elsewhere, and names the others.
func (s *site) folder(name string) error {
	all, err := fs.ReadDir(s.fsys, name)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n<ul>\n", html.EscapeString(name))
	for _, f := range all {
		file := path.Join(name, f.Name())
		if path.Ext(file) == ".stile" {
			s.want(file)
		}
		if path.Ext(file) == ".md" || path.Ext(file) == ".stile" {
			fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a></li>\n", relative(address(name, true), address(file, f.IsDir())), html.EscapeString(f.Name()))
			s.want(file)
			continue
		}
		fmt.Fprintf(&b, "<li>%s</li>\n", html.EscapeString(f.Name()))
	}
	b.WriteString("</ul>\n")
	return s.show(name, true, view{Title: name, Body: template.HTML(b.String())})
}

// A goDoc writes the documentation of a package.
type goDoc struct {
	strings.Builder
	*site
	name string // its doc.go
	fset *token.FileSet
	pkg  *doc.Package
	view view
}

// goPackage shows the documentation of the package of a doc.go.
func (s *site) goPackage(name string) error {
	g := &goDoc{site: s, name: name, fset: token.NewFileSet(), view: view{Title: "package"}}
	dir := path.Dir(name)
	all, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, f := range all {
		if path.Ext(f.Name()) != ".go" || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file := path.Join(dir, f.Name())
		src, err := fs.ReadFile(s.fsys, file)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(g.fset, file, src, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, tree)
	}
	if g.pkg, err = doc.NewFromFiles(g.fset, files, path.Join(module, dir)); err != nil {
		return err
	}
	return g.show()
}

func (g *goDoc) show() error {
	g.view.Title = "Package " + g.pkg.Name
	fmt.Fprintf(g, "<h1>Package %s</h1>\n<p><code>import \"%s\"</code></p>\n", g.pkg.Name, g.pkg.ImportPath)
	g.comment(g.pkg.Doc)
	public := !strings.Contains("/"+path.Dir(g.name)+"/", "/internal/") && g.pkg.Name != "main"
	if public { // an internal package has no API for applications
		g.values("Constants", g.pkg.Consts)
		g.values("Variables", g.pkg.Vars)
		g.funcs(g.pkg.Funcs, "")
		for _, t := range g.pkg.Types {
			g.heading("type-"+t.Name, "type "+t.Name)
			g.decl(t.Decl)
			g.comment(t.Doc)
			g.values("", t.Consts)
			g.values("", t.Vars)
			g.funcs(t.Funcs, t.Name)
			g.funcs(t.Methods, t.Name)
		}
	}
	g.view.Body = template.HTML(g.String())
	return g.site.show(g.name, false, g.view)
}

func (g *goDoc) heading(id, title string) {
	g.view.Sections = append(g.view.Sections, section{id, title})
	fmt.Fprintf(g, "<h2 id=\"%s\">%s%s</h2>\n", id, html.EscapeString(title), anchor(id))
}

// titled is a heading of a comment.
var titled = regexp.MustCompile(`<h([23]) id="([^"]*)">(.*?)</h[23]>`)

// anchor returns the link to a section that stands beside its heading.
func anchor(id string) string {
	return `<a class="anchor" href="#` + id + `" title="link to this section">#</a>`
}

// comment writes a comment. A link to a package of the module leads to its page, if it has
// one.
func (g *goDoc) comment(text string) {
	p := g.pkg.Printer()
	p.HeadingLevel = 2
	if g.view.Sections != nil {
		p.HeadingLevel = 3
	}
	p.DocLinkURL = func(l *comment.DocLink) string {
		dir, ours := strings.CutPrefix(l.ImportPath, module)
		switch {
		case l.ImportPath == "":
			return ""
		case !ours:
			return l.DefaultURL("https://pkg.go.dev")
		}
		file := path.Join(strings.Trim(dir, "/"), "doc.go")
		if _, err := fs.Stat(g.fsys, file); err != nil {
			return ""
		}
		g.want(file)
		return relative(address(g.name, false), address(file, false))
	}
	d := g.pkg.Parser().Parse(text)
	for _, block := range d.Content {
		if h, ok := block.(*comment.Heading); ok && p.HeadingLevel == 2 {
			g.view.Sections = append(g.view.Sections, section{h.DefaultID(), string(p.Text(&comment.Doc{Content: []comment.Block{&comment.Paragraph{Text: h.Text}}}))})
		}
	}
	g.WriteString(titled.ReplaceAllString(string(p.HTML(d)), `<h$1 id="$2">$3`+anchor("$2")+`</h$1>`))
}

// decl writes a declaration.
func (g *goDoc) decl(d ast.Decl) {
	var b bytes.Buffer
	if err := format.Node(&b, g.fset, d); err != nil {
		g.problems = append(g.problems, fmt.Sprintf("%s: %v", g.name, err))
	}
	fmt.Fprintf(g, "<pre><code>%s</code></pre>\n", html.EscapeString(b.String()))
}

func (g *goDoc) values(title string, all []*doc.Value) {
	if len(all) > 0 && title != "" {
		g.heading(strings.ToLower(title), title)
	}
	for _, v := range all {
		g.decl(v.Decl)
		g.comment(v.Doc)
	}
}

func (g *goDoc) funcs(all []*doc.Func, of string) {
	for _, f := range all {
		if of == "" {
			g.heading("func-"+f.Name, "func "+f.Name)
		} else {
			id := of + "." + f.Name
			fmt.Fprintf(g, "<h3 id=\"%s\">func %s%s</h3>\n", id, html.EscapeString(f.Name), anchor(id))
		}
		d := *f.Decl
		d.Doc, d.Body = nil, nil
		g.decl(&d)
		g.comment(f.Doc)
	}
}
