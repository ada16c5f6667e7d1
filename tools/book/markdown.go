package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// lab is where pages expect the lab that 'stile-lab' serves. In the book it is beside it.
const lab = "http://127.0.0.1:7422/"

// diagram is a paragraph with a drawing, whose words would be too small to read if it were made to fit.
var diagram = regexp.MustCompile(`<p>(<img src="[^"]*\.svg"[^>]*>)</p>`)

func markup() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify))
}

// listed returns the tables of a page as chapters: for each row the first link of its
// first cell.
func listed(src []byte, from string) []chapter {
	var all []chapter
	doc := markup().Parser().Parse(text.NewReader(src))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level > 1 {
			all = append(all, chapter{Title: plain(h, src)})
		}
		t, ok := n.(*east.Table)
		if !ok || len(all) == 0 {
			continue
		}
		for row := t.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
			c := &all[len(all)-1]
			if e := firstLink(row.FirstChild(), src, from); e != nil {
				c.Entries = append(c.Entries, e)
			}
		}
	}
	return all
}

// headline returns the title of a page.
func headline(src []byte) string {
	doc := markup().Parser().Parse(text.NewReader(src))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 1 {
			return plain(h, src)
		}
	}
	return ""
}

// firstLink returns the page that the first link of a cell leads to, or nil.
func firstLink(cell ast.Node, src []byte, from string) *entry {
	var found *entry
	_ = ast.Walk(cell, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering && found == nil {
			to, fragment, _ := strings.Cut(string(link.Destination), "#")
			if to != "" && fragment == "" && !strings.Contains(to, ":") {
				found = &entry{Title: plain(link, src), Path: path.Join(path.Dir(from), to)}
			}
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

// plain returns the words of a node.
func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(src))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// slug returns the anchor of a heading, as the usual viewers of Markdown make it.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// markdown shows a page of Markdown.
func (s *site) markdown(name string, src []byte) error {
	md := markup()
	doc := md.Parser().Parse(text.NewReader(src))
	v := view{Title: name}
	used := map[string]int{}
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := plain(n, src)
			id := slug(title)
			if used[id]++; used[id] > 1 {
				id += fmt.Sprintf("-%d", used[id]-1)
			}
			n.SetAttributeString("id", []byte(id))
			if n.Level == 1 {
				v.Title = title
				break
			}
			if n.Level == 2 {
				v.Sections = append(v.Sections, section{id, title})
			}
			anchor := ast.NewLink()
			anchor.Destination, anchor.Title = []byte("#"+id), []byte("link to this section")
			anchor.SetAttributeString("class", []byte("anchor"))
			anchor.AppendChild(anchor, ast.NewString([]byte("#")))
			n.AppendChild(n, anchor)
			return ast.WalkSkipChildren, s.relink(name, n)
		case *ast.Link:
			n.Destination = s.target(name, n.Destination)
		case *ast.AutoLink:
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			n.Destination = s.target(name, n.Destination)
		case *ast.HTMLBlock:
			if text := strings.TrimSpace(string(n.Lines().Value(src))); !strings.HasPrefix(text, "<!--") {
				s.problems = append(s.problems, fmt.Sprintf("%s has HTML, which the book does not show: %.60s", name, text))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, src, doc); err != nil {
		return err
	}
	body := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
		"<!-- raw HTML omitted -->\n", "", "<!-- raw HTML omitted -->", "").Replace(b.String())
	v.Body = template.HTML(diagram.ReplaceAllString(body, `<div class="scroll diagram" tabindex="0">$1</div>`))
	return s.show(name, false, v)
}

// relink gives the links of a heading their targets.
func (s *site) relink(name string, h *ast.Heading) error {
	for n := h.FirstChild(); n != nil; n = n.NextSibling() {
		if link, ok := n.(*ast.Link); ok {
			link.Destination = s.target(name, link.Destination)
		}
	}
	return nil
}

// target returns where a link of a file leads in the book, and adds what it leads to.
func (s *site) target(from string, link []byte) []byte {
	to, fragment, has := strings.Cut(string(link), "#")
	if has {
		fragment = "#" + fragment
	}
	at := address(from, false)
	switch {
	case to == lab:
		return []byte(relative(at, "../index.html") + fragment)
	case strings.Contains(to, ":"), to == "":
		return link
	}
	file := path.Join(path.Dir(from), to)
	info, err := fs.Stat(s.fsys, file)
	if err != nil || !fs.ValidPath(file) {
		s.problems = append(s.problems, fmt.Sprintf("%s: %s does not exist", from, link))
		return link
	}
	s.want(file)
	return []byte(relative(at, address(file, info.IsDir())) + fragment)
}
