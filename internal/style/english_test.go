package style

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tics are words by which a text reads as a translation, and what to write instead.
var tics = []struct {
	word    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(some|no|any|every)body\b`), "name the subject: a process, a node, a client"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "name the subject: a process, a node, a client"},
	{regexp.MustCompile(`(?i)\bfor ever\b`), "forever"},
	{regexp.MustCompile(`(?i)\bno more([.,;:)]|$)`), "no longer"},
	{regexp.MustCompile(`(?i)\blets? go of\b`), "releases"},
	{regexp.MustCompile(`(?i)\bis had again\b`), "can be acquired again"},
	{regexp.MustCompile(`(?i)\b(does|do|can|cannot) not bear\b|\bbears? (with|the|a|one|no)\b`), "tolerates"},
}

func englishRules() []rule {
	return []rule{
		{"pages are in idiomatic English", pages, []plant{
			{map[string]string{"docs/x.md": "# X\n\nWhoever waits asks again.\n"}, "docs/x.md:3: \"Whoever\""},
			{map[string]string{"docs/x.md": "It waits\nfor ever.\n"}, "\"for ever\": write: forever"},
			{map[string]string{"docs/x.md": "A member is no more.\n"}, "no longer"},
			{map[string]string{"docs/x.md": "```\nnobody\n```\n\n`nobody`\n\n    nobody\n"}, ""},
			{map[string]string{"docs/results/x.md": "Nobody.\n"}, ""},
			{map[string]string{"docs/x.md": "There are no more than three.\n"}, ""},
		}},
		{"comments are in idiomatic English", comments, []plant{
			{source("x/x.go", "package x", "", "// f is called if nobody waits.", "func f() {}"), "x/x.go:3: \"nobody\""},
			{source("x/x.go", "package x", "", "// f is called if no process waits.", "func f() {}"), ""},
			{source("x/x_test.go", "package x", "", "// f is called if nobody waits.", "func f() {}"), ""},
		}},
		{"what the lock service prints is in idiomatic English", literals, []plant{
			{source("internal/live/x/x.go", "package x", "", "const s = \"nobody waits\""), "internal/live/x/x.go:3: \"nobody\""},
			{source("cmd/stile/x.go", "package main", "", "const s = `It waits", "for ever.`"), "forever"},
			{source("internal/live/x/x.go", "package x", "", "const s = \"no process waits\""), ""},
			{source("internal/live/x/x_test.go", "package x", "", "const s = \"nobody waits\""), ""},
		}},
	}
}

var quoted = regexp.MustCompile("`[^`]*`")

// ticsIn returns the words of the list that a line has, with advice.
func ticsIn(line string) (found []string) {
	for _, t := range tics {
		for _, w := range t.word.FindAllString(quoted.ReplaceAllString(line, ""), -1) {
			found = append(found, fmt.Sprintf("%q: write: %s", w, t.instead))
		}
	}
	return found
}

// pages finds such words in pages that people have written.
func pages(r *repo) ([]string, error) {
	var found []string
	for _, t := range r.texts {
		if strings.HasPrefix(t.path, "docs/results/") || t.path == "CHANGELOG.md" || strings.HasPrefix(t.path, "web/vendor/") {
			continue
		}
		code, last := false, ""
		for i, line := range strings.Split(t.src, "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if code || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "```") {
				last = ""
				continue
			}
			// A phrase may be broken over two lines.
			both := strings.TrimSpace(last + " " + strings.TrimSpace(line))
			for _, f := range ticsIn(both) {
				if !slices.Contains(ticsIn(last), f) {
					found = append(found, fmt.Sprintf("%s:%d: %s", t.path, i+1, f))
				}
			}
			last = line
		}
	}
	return found, nil
}

// comments finds such words in comments.
func comments(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		for _, f := range r.in(dir) {
			for _, g := range f.ast.Comments {
				for _, c := range g.List {
					for _, w := range ticsIn(c.Text) {
						found = append(found, r.at(c.Pos(), "%s", w))
					}
				}
			}
		}
	}
	return found, nil
}

// literals finds such words in the strings of the lock service and of the command, except
// those of controls, which are code.
func literals(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		if dir != "." && dir != "cmd/stile" && !strings.HasPrefix(dir, "internal/live/") || dir == "internal/live/controls" {
			continue
		}
		for _, f := range r.in(dir) {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if b, ok := n.(*ast.BasicLit); ok && b.Kind == token.STRING {
					text, _ := strconv.Unquote(b.Value)
					for _, w := range ticsIn(strings.Join(strings.Fields(text), " ")) {
						found = append(found, r.at(b.Pos(), "%s", w))
					}
				}
				return true
			})
		}
	}
	return found, nil
}
