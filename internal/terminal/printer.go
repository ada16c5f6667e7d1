package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/words"
)

// ScreenWidth is the number of columns that text output may take.
const ScreenWidth = 80

// labelWidth is the number of columns of a row's label.
const labelWidth = 11

// A Printer writes lines of text and keeps the first error.
type Printer struct {
	Written bool // the requested files were written
	w       io.Writer
	err     error
}

func NewPrinter(w io.Writer) *Printer { return &Printer{w: w} }

// Line prints a line without trailing blanks. It may contain text from anywhere, so
// characters that a terminal would obey are escaped.
func (p *Printer) Line(format string, args ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, words.Printable(strings.TrimRight(fmt.Sprintf(format, args...), " "))+"\n")
	}
}

// Lines prints a text of several lines.
func (p *Printer) Lines(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.Line("%s", line)
	}
}

// Gap prints an empty line.
func (p *Printer) Gap() { p.Line("") }

// Text prints a paragraph, wrapped and indented.
func (p *Printer) Text(indent int, text string) {
	for _, line := range words.Wrap(text, ScreenWidth-indent) {
		p.Line("%*s%s", indent, "", line)
	}
}

// Item prints a paragraph of a list.
func (p *Printer) Item(text string) {
	mark := "-"
	for _, line := range words.Wrap(text, ScreenWidth-4) {
		p.Line("  %s %s", mark, line)
		mark = " "
	}
}

// Row prints a label and wrapped text beside it.
func (p *Printer) Row(label, format string, args ...any) {
	for _, line := range words.Wrap(fmt.Sprintf(format, args...), ScreenWidth-labelWidth) {
		p.Line("%-*s%s", labelWidth, label, line)
		label = ""
	}
}

// Graph prints a wait-for graph, up to a readable length.
func (p *Printer) Graph(g *deadlock.Graph) {
	const most = 40
	lines := strings.Split(strings.TrimRight(draw.WaitForText(g), "\n"), "\n")
	for _, l := range lines[:min(len(lines), most)] {
		p.Line("%s", l)
	}
	if more := len(lines) - most; more > 0 {
		p.Line("  and %s", words.Plural(more, "more edge"))
	}
}

// Truncate shortens s to n columns, ending in an ellipsis.
func Truncate(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
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
