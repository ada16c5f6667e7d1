// Package words formats numbers, names and texts for people.
package words

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Grouped formats n with a comma before each group of three digits.
func Grouped[N int | int64](n N) string {
	if n < 0 {
		return "-" + Grouped(-n)
	}
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// List joins phrases: a, b and c.
func List(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// Plural formats a count with its noun.
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	switch {
	case strings.HasSuffix(one, "s"), strings.HasSuffix(one, "sh"):
		one += "e"
	case strings.HasSuffix(one, "y"):
		one = strings.TrimSuffix(one, "y") + "ie"
	}
	return Grouped(n) + " " + one + "s"
}

// Number formats x in few characters: more decimals for small numbers, and NaN as a dash.
func Number(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "-"
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

// Compact formats x in at most five characters, if possible.
func Compact(x float64) string {
	switch a := math.Abs(x); {
	case a >= 10_000:
		return strconv.FormatFloat(x/1000, 'f', 0, 64) + "k"
	case a >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return Number(x)
}

// Plain formats x with up to two decimals, without trailing zeros.
func Plain(x float64) string { return Trimmed(x, 2) }

// Range formats the range between two numbers, or the number if they are the same.
func Range(low, high float64) string {
	if low == high {
		return Plain(low)
	}
	return Plain(low) + ".." + Plain(high)
}

// Trimmed formats x with up to the given number of decimals, without trailing zeros.
func Trimmed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
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
