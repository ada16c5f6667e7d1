package main

import (
	"bytes"
	_ "embed" // the stylesheet and the template
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
)

var (
	//go:embed book.css
	stylesheet []byte

	//go:embed page.html
	layout string
)

// contents is the page that lists all others.
const contents = "docs/README.md"

// A site is a site under construction.
type site struct {
	fsys     fs.FS
	chapters []chapter
	order    []*entry // all pages of the chapters, in reading order
	queue    []string // files of the repository that are linked, in the order in which they were found
	problems []string
	files    map[string][]byte
	layout   *template.Template
}

// A chapter is a section of the table of contents.
type chapter struct {
	Title   string
	Entries []*entry
}

// An entry is a page in the table of contents.
type entry struct {
	Title string
	Path  string // in the repository
	Below []*entry
}

// Build makes all files of the book from the files of the repository. The error lists
// every page that is missing and every link that leads nowhere.
func Build(fsys fs.FS) (map[string][]byte, error) {
	s := &site{fsys: fsys, files: map[string][]byte{"book.css": stylesheet}}
	var err error
	if s.layout, err = template.New("page").Parse(layout); err != nil {
		return nil, err
	}
	if err := s.readContents(); err != nil {
		return nil, err
	}
	if err := s.findMissing(); err != nil {
		return nil, err
	}
	s.want(contents)
	for _, e := range s.order {
		s.want(e.Path)
	}
	for i := 0; i < len(s.queue); i++ {
		if err := s.make(s.queue[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", s.queue[i], err)
		}
	}
	s.problems = append(s.problems, broken(s.files)...)
	if len(s.problems) > 0 {
		return nil, errors.New(strings.Join(s.problems, "\n"))
	}
	return s.files, nil
}

// want adds a file of the repository to those that the book shows.
func (s *site) want(name string) {
	if !slices.Contains(s.queue, name) {
		s.queue = append(s.queue, name)
	}
}

// readContents reads the table of contents, and below a page of a folder of its own the
// pages that this one lists.
func (s *site) readContents() error {
	src, err := fs.ReadFile(s.fsys, contents)
	if err != nil {
		return err
	}
	s.order = []*entry{{Title: "Contents", Path: contents}}
	s.chapters = listed(src, contents)
	for _, c := range s.chapters {
		for _, e := range c.Entries {
			s.order = append(s.order, e)
			if strings.HasSuffix(e.Title, ".md") { // its title says more than its name
				if src, err := fs.ReadFile(s.fsys, e.Path); err == nil {
					e.Title = headline(src)
				}
			}
			if path.Base(e.Path) != "README.md" || path.Dir(e.Path) == "." {
				continue
			}
			src, err := fs.ReadFile(s.fsys, e.Path)
			if err != nil {
				return err
			}
			for _, c := range listed(src, e.Path) {
				e.Below = append(e.Below, c.Entries...)
			}
			s.order = append(s.order, e.Below...)
		}
	}
	return nil
}

// findMissing reports pages of docs that the table of contents does not list.
func (s *site) findMissing() error {
	return fs.WalkDir(s.fsys, "docs", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		page := path.Ext(name) == ".md" || path.Dir(name) == "docs/results"
		if page && !d.IsDir() && !slices.ContainsFunc(s.order, func(e *entry) bool { return e.Path == name }) {
			s.problems = append(s.problems, fmt.Sprintf("%s is missing from the navigation: add a row to a table of %s", name, contents))
		}
		return nil
	})
}

// Address returns where the book shows a file of the repository. Pages of docs come first;
// all other files are in the folder source.
func address(name string, dir bool) string {
	switch ext := path.Ext(name); {
	case name == "README.md":
		return "readme.html"
	case dir:
		return path.Join("source", name, "index.html")
	case picture(name):
		return strings.TrimPrefix(inside(name), "docs/")
	case ext == ".md" && path.Base(name) == "README.md":
		return strings.TrimPrefix(path.Join(path.Dir(inside(name)), "index.html"), "docs/")
	case ext == ".md":
		return strings.TrimPrefix(strings.TrimSuffix(inside(name), ext)+".html", "docs/")
	}
	return strings.TrimPrefix(inside(name), "docs/") + ".html"
}

// inside returns the name of a file if it is in docs, and otherwise its name in the folder
// source.
func inside(name string) string {
	if strings.HasPrefix(name, "docs/") {
		return name
	}
	return "source/" + name
}

func picture(name string) bool {
	return slices.Contains([]string{".svg", ".png", ".jpg"}, path.Ext(name))
}

// make shows one file of the repository.
func (s *site) make(name string) error {
	info, err := fs.Stat(s.fsys, name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return s.folder(name)
	}
	src, err := fs.ReadFile(s.fsys, name)
	if err != nil {
		return err
	}
	switch {
	case picture(name):
		s.files[address(name, false)] = src
		return nil
	case path.Ext(name) == ".md":
		return s.markdown(name, src)
	case path.Base(name) == "doc.go":
		return s.goPackage(name)
	case bytes.IndexByte(src, 0) >= 0:
		s.problems = append(s.problems, name+" is linked, and not a text or a picture: link to something else")
		return nil
	}
	return s.code(name, src)
}

// A view is what the template shows.
type view struct {
	Title, Path string
	Chapters    []chapter
	Sections    []section     // headings of the page
	Head, Body  template.HTML // the heading of the page, and what follows it
	Prev, Next  *entry
	site        *site
	at          string // where the page is in the book
}

// A section is a heading, to be listed at the beginning of the page.
type section struct{ ID, Title string }

// show writes a page of the book.
func (s *site) show(name string, dir bool, v view) error {
	v.Path, v.Chapters, v.site, v.at = name, s.chapters, s, address(name, dir)
	if i := slices.IndexFunc(s.order, func(e *entry) bool { return e.Path == name }); i >= 0 {
		if i > 0 {
			v.Prev = s.order[i-1]
		}
		if i+1 < len(s.order) {
			v.Next = s.order[i+1]
		}
	}
	if head, rest, ok := strings.Cut(string(v.Body), "</h1>\n"); ok {
		v.Head, v.Body = template.HTML(head+"</h1>\n"), template.HTML(rest)
	}
	var b bytes.Buffer
	if err := s.layout.Execute(&b, v); err != nil {
		return err
	}
	s.files[v.at] = b.Bytes()
	return nil
}

// To returns the address of an entry, relative to the page.
func (v view) To(e *entry) string { return relative(v.at, address(e.Path, false)) }

// Home returns the address of a file of the book, relative to the page.
func (v view) Home(name string) string { return relative(v.at, name) }

// Lab returns the address of the lab, relative to the page.
func (v view) Lab() string { return relative(v.at, "../index.html") }

// Here reports whether the page is this entry.
func (v view) Here(e *entry) bool { return e.Path == v.Path }

// Around reports whether the page is this entry or below it.
func (v view) Around(e *entry) bool {
	return v.Here(e) || slices.ContainsFunc(e.Below, v.Here)
}

// relative returns the address of one file of the book from another.
func relative(from, to string) string {
	for {
		dir, rest, ok := strings.Cut(from, "/")
		below, in := strings.CutPrefix(to, dir+"/")
		if !ok || !in {
			return strings.Repeat("../", strings.Count(from, "/")) + to
		}
		from, to = rest, below
	}
}
