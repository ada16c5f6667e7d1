package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// width is how many columns output for people may take.
const width = 80

// A page collects lines of text; the first failure to write is kept.
type page struct {
	w   io.Writer
	err error
}

// line prints one line, without blanks at its end.
func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " ")+"\n")
	}
}

// right pads s with blanks on its right, to n columns.
func right(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// left pads s with blanks on its left, to n columns.
func left(s string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) + s
}

// cut shortens s to n columns, the last of them an ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// wrap breaks text into lines of at most n columns.
func wrap(text string, n int) []string {
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

// number writes x in few characters: more decimals for small ones.
func number(x float64) string {
	switch a := math.Abs(x); {
	case a >= 100_000:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case a >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case a > 0 && a < 0.1:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// plain writes x with up to two decimals, without needless zeros.
func plain(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// grouped writes n with a comma before each three digits.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes how many of something there are.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	switch {
	case strings.HasSuffix(one, "s"), strings.HasSuffix(one, "sh"):
		one += "e"
	case strings.HasSuffix(one, "y"):
		one = strings.TrimSuffix(one, "y") + "ie"
	}
	return grouped(int64(n)) + " " + one + "s"
}

// compact writes x in at most five characters, if it can.
func compact(x float64) string {
	switch a := math.Abs(x); {
	case a >= 10_000:
		return strconv.FormatFloat(x/1000, 'f', 0, 64) + "k"
	case a >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return number(x)
}
