package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lab/draw"
	"github.com/stile-lock/stile/internal/words"
)

// screenWidth is the number of columns that text output may take.
const screenWidth = 80

// labelWidth is the number of columns of a row's label.
const labelWidth = 11

// A printer writes lines of text and keeps the first error.
type printer struct {
	written bool // the requested files were written
	w       io.Writer
	err     error
}

func newPrinter(w io.Writer) *printer { return &printer{w: w} }

// line prints a line without trailing blanks. It may contain text from anywhere, so
// characters that a terminal would obey are escaped.
func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, words.Printable(strings.TrimRight(fmt.Sprintf(format, args...), " "))+"\n")
	}
}

// lines prints a text of several lines.
func (p *printer) lines(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.line("%s", line)
	}
}

// gap prints an empty line.
func (p *printer) gap() { p.line("") }

// text prints a paragraph, wrapped and indented.
func (p *printer) text(indent int, text string) {
	for _, line := range words.Wrap(text, screenWidth-indent) {
		p.line("%*s%s", indent, "", line)
	}
}

// item prints a paragraph of a list.
func (p *printer) item(text string) {
	mark := "-"
	for _, line := range words.Wrap(text, screenWidth-4) {
		p.line("  %s %s", mark, line)
		mark = " "
	}
}

// row prints a label and wrapped text beside it.
func (p *printer) row(label, format string, args ...any) {
	for _, line := range words.Wrap(fmt.Sprintf(format, args...), screenWidth-labelWidth) {
		p.line("%-*s%s", labelWidth, label, line)
		label = ""
	}
}

// graph prints a wait-for graph, up to a readable length.
func (p *printer) graph(g *deadlock.Graph) {
	const most = 40
	lines := strings.Split(strings.TrimRight(draw.WaitForText(g), "\n"), "\n")
	for _, l := range lines[:min(len(lines), most)] {
		p.line("%s", l)
	}
	if more := len(lines) - most; more > 0 {
		p.line("  and %s", words.Plural(more, "more edge"))
	}
}

// truncate shortens s to n columns, ending in an ellipsis.
func truncate(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// processNames lists processes, and only the first of many.
func processNames(ids []algorithm.ID) string {
	if len(ids) == 0 {
		return "none"
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

// A screenWriter is the output of a command. With ascii it replaces each other
// character by an ASCII one, so that columns stay aligned.
type screenWriter struct {
	ascii bool
	w     io.Writer
	begun []byte // of a character that is still incomplete
}

func newScreenWriter(w io.Writer) *screenWriter { return &screenWriter{w: w} }

// Write implements io.Writer.
func (s *screenWriter) Write(b []byte) (int, error) {
	if !s.ascii {
		return s.w.Write(b)
	}
	text := append(s.begun, b...)
	end := len(text)
	for i := 1; i <= min(end, utf8.UTFMax); i++ {
		if r := text[end-i]; utf8.RuneStart(r) {
			if !utf8.FullRune(text[end-i:]) {
				end -= i
			}
			break
		}
	}
	s.begun = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(s.w, words.ASCII(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// localeIsUnicode reports whether terminals of the locale show more than ASCII. It is
// true if no locale is set.
func localeIsUnicode(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}
