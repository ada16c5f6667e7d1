package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/words"
)

// Width is how many columns output for people may take.
const Width = 80

// labels is how many columns the label of a row takes.
const labels = 11

// A Page collects lines of text; the first failure to write is kept.
type Page struct {
	Written bool // the files that were asked for are there
	w       io.Writer
	err     error
}

// NewPage returns a page that is written to w.
func NewPage(w io.Writer) *Page { return &Page{w: w} }

// Line prints one line, without blanks at its end.
func (p *Page) Line(format string, args ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " ")+"\n")
	}
}

// Gap prints an empty line.
func (p *Page) Gap() { p.Line("") }

// Text prints a paragraph, of as many lines as it takes, indented by so many
// columns.
func (p *Page) Text(indent int, text string) {
	for _, line := range Wrap(text, Width-indent) {
		p.Line("%*s%s", indent, "", line)
	}
}

// Row prints a text beside its label.
func (p *Page) Row(label, format string, args ...any) {
	for _, line := range Wrap(fmt.Sprintf(format, args...), Width-labels) {
		p.Line("%-*s%s", labels, label, line)
		label = ""
	}
}

// Graph draws who waits for whom, but no more of it than can be read.
func (p *Page) Graph(g *deadlock.Graph) {
	const most = 40
	lines := strings.Split(strings.TrimRight(g.Text(), "\n"), "\n")
	for _, l := range lines[:min(len(lines), most)] {
		p.Line("%s", l)
	}
	if more := len(lines) - most; more > 0 {
		p.Line("  and %s", words.Plural(more, "more edge"))
	}
}

// Cut shortens s to n columns, the last of them an ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Wrap breaks text into lines of at most n columns.
func Wrap(text string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// tellProcesses names processes, and only the first of many.
func tellProcesses(ids []algorithm.ID) string {
	if len(ids) == 0 {
		return "nobody"
	}
	const most = 12
	var list []string
	for _, id := range ids[:min(len(ids), most)] {
		list = append(list, id.String())
	}
	if more := len(ids) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, " ")
}
