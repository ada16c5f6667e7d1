package script

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
)

// An Error says where a file is wrong, what was found there, and what would be right.
type Error struct {
	File      string
	Line, Col int // from 1; Col counts characters
	Msg       string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// A word is a piece of a line without blanks.
type word struct {
	text string
	at   int // position in the line, in bytes
}

// A reader reads one line word by word. Its first error sticks, and everything read after
// it is meaningless.
type reader struct {
	file  string
	line  int
	text  string // line without the comment
	words []word
	n     int // number of processes
	sites int // number of sites; links are between them if there are any
	err   error
}

const blanks = " \t\r"

func trim(s string) string { return strings.Trim(s, blanks) }

// stripComment removes what follows a # at the beginning or after a blank.
func stripComment(s string) string {
	for i := range len(s) {
		if s[i] == '#' && (i == 0 || strings.IndexByte(blanks, s[i-1]) >= 0) {
			return s[:i]
		}
	}
	return s
}

// split splits a line into words. The arrow and the bar are words of their own, with or
// without blanks around them.
func split(s string) []word {
	var words []word
	for i := 0; i < len(s); {
		switch {
		case strings.IndexByte(blanks, s[i]) >= 0:
			i++
			continue
		case s[i] == '|':
			words = append(words, word{"|", i})
		case strings.HasPrefix(s[i:], "->"):
			words = append(words, word{"->", i})
		default:
			end := i + 1
			for end < len(s) && strings.IndexByte(blanks+"|", s[end]) < 0 && !strings.HasPrefix(s[end:], "->") {
				end++
			}
			words = append(words, word{s[i:end], i})
		}
		i += len(words[len(words)-1].text)
	}
	return words
}

// peek returns the text of the next word, or nothing at the end of the line.
func (r *reader) peek() string { return r.here().text }

// here returns the next word without taking it. At the end of the line it is empty.
func (r *reader) here() word {
	if len(r.words) == 0 {
		return word{"", len(r.text)}
	}
	return r.words[0]
}

// take returns the next word and advances to the one after it.
func (r *reader) take() word {
	w := r.here()
	if len(r.words) > 0 {
		r.words = r.words[1:]
	}
	return w
}

// has takes the next word if it is text, and reports whether it was.
func (r *reader) has(text string) bool {
	if r.peek() != text || text == "" {
		return false
	}
	r.take()
	return true
}

// fail records what was found and what would be right.
func (r *reader) fail(w word, want string, args ...any) {
	found := "the line ends here"
	if w.text != "" {
		found = "found " + strconv.Quote(w.text)
	}
	r.failAt(w, found+": want "+fmt.Sprintf(want, args...))
}

func (r *reader) failAt(w word, msg string) {
	if r.err == nil {
		col := utf8.RuneCountInString(r.text[:min(w.at, len(r.text))]) + 1
		r.err = &Error{r.file, r.line, col, msg}
	}
}

// end requires that nothing follows.
func (r *reader) end() {
	if w := r.take(); w.text != "" {
		r.fail(w, "the end of the line (a comment begins with #)")
	}
}

// rest returns the rest of the line, with single blanks.
func (r *reader) rest(what string) string {
	if len(r.words) == 0 {
		r.fail(r.take(), "%s", what)
		return ""
	}
	text := r.text[r.words[0].at:]
	r.words = nil
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool {
		return strings.ContainsRune(blanks, c)
	}), " ")
}

// process reads P3, or 3.
func (r *reader) process() algorithm.ID { return r.asProcess(r.take()) }

func (r *reader) asProcess(w word) algorithm.ID {
	number := strings.TrimPrefix(w.text, "P")
	x, err := strconv.Atoi(number)
	switch {
	case !isNumber(number):
		r.fail(w, "a process such as P2%s%s", smallP(w.text), arrowHint(w.text))
	case err != nil || x > r.n:
		r.failAt(w, fmt.Sprintf("there is no process %s: want P1 to P%d", w.text, r.n))
	case x == 0:
		r.failAt(w, fmt.Sprintf("there is no process %s: processes are numbered from 1 to %d", w.text, r.n))
	}
	if r.err != nil {
		return 0
	}
	return algorithm.ID(x - 1)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// link reads 1 -> 3.
func (r *reader) link() (from, to algorithm.ID) {
	end := r.asProcess
	if r.sites > 0 {
		end = r.asSite
	}
	from = end(r.take())
	arrow := r.take()
	if arrow.text != "->" {
		r.fail(arrow, "-> and the receiver, such as 1 -> 3%s", arrowHint(arrow.text))
	}
	w := r.take()
	to = end(w)
	if r.err == nil && from == to {
		r.failAt(w, fmt.Sprintf("a link from %s to itself: messages to itself are never in flight", r.endName(from)))
	}
	return from, to
}

func (r *reader) endName(id algorithm.ID) string {
	if r.sites > 0 {
		return "site " + strconv.Itoa(int(id)+1)
	}
	return id.String()
}

// asSite reads the number of a site.
func (r *reader) asSite(w word) algorithm.ID {
	x, err := strconv.Atoi(w.text)
	switch {
	case !isNumber(w.text):
		r.fail(w, "the number of a site, from 1 to %d%s", r.sites, arrowHint(w.text))
	case err != nil || x < 1 || x > r.sites:
		r.failAt(w, fmt.Sprintf("there is no site %s: want 1 to %d", w.text, r.sites))
	}
	if r.err != nil {
		return 0
	}
	return algorithm.ID(x - 1)
}

// list reads processes such as 1,2,5-7, or 1, 2, 5-7, up to a bar.
func (r *reader) list() []algorithm.ID {
	var ids []algorithm.ID
	for len(r.words) > 0 && r.peek() != "|" && r.err == nil {
		w := r.take()
		for at := 0; at < len(w.text); {
			part, _, more := strings.Cut(w.text[at:], ",")
			ids = append(ids, r.span(word{part, w.at + at})...)
			at += len(part)
			if more {
				at++
			}
		}
	}
	return ids
}

// span reads a process or a range of them.
func (r *reader) span(w word) []algorithm.ID {
	a, b, isRange := strings.Cut(w.text, "-")
	lo := r.asProcess(word{a, w.at})
	hi := lo
	if isRange {
		hi = r.asProcess(word{b, w.at + len(a) + 1})
	}
	if r.err == nil && hi < lo {
		r.fail(w, "an ascending range, such as 5-7")
	}
	var ids []algorithm.ID
	for id := lo; id <= hi && r.err == nil; id++ {
		ids = append(ids, id)
	}
	return ids
}

// time reads a number of units of T.
func (r *reader) time() int64 {
	w := r.take()
	t, err := ParseTime(w.text)
	if err != nil {
		r.fail(w, "a time: a number such as 2 or 0.5%s", timeHint(w.text))
	}
	return t
}

// dist reads a number, exp:MEAN or uniform:LO,HI.
func (r *reader) dist() Dist {
	w := r.take()
	d, err := ParseDist(w.text)
	if err != nil {
		r.fail(w, "a time: a number such as 2 or 0.5, exp:MEAN or uniform:LO,HI%s", timeHint(w.text))
	}
	return d
}

// latency reads a message latency.
func (r *reader) latency() Dist {
	w := r.here()
	d := r.dist()
	if err := d.CheckLatency(); err != nil {
		r.failAt(w, err.Error())
	}
	return d
}

// number reads a whole number.
func (r *reader) number(lo, hi int) int {
	w := r.take()
	x, err := strconv.Atoi(w.text)
	if err != nil || x < lo || x > hi || !isNumber(w.text) {
		r.fail(w, "a whole number from %d to %d", lo, hi)
	}
	return x
}

// nth reads an ordinal such as 2nd, if one comes next.
func (r *reader) nth() int {
	text := r.peek()
	digits := strings.TrimRight(text, "stndrh")
	x, err := strconv.Atoi(digits)
	if err != nil || x < 1 || digits == text {
		return 0
	}
	w := r.take()
	if ordinal(x) != text {
		r.fail(w, "%s", ordinal(x))
	}
	if x == 1 {
		return 0
	}
	return x
}
