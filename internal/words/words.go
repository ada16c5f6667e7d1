// Package words writes numbers as people read them.
package words

import (
	"math"
	"strconv"
	"strings"
)

// Grouped writes n with a comma before each three digits.
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

// Plural writes how many of something there are.
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

// Number writes x in few characters: more decimals for small ones, and NaN, no
// number at all, as a dash.
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

// Compact writes x in at most five characters, if it can.
func Compact(x float64) string {
	switch a := math.Abs(x); {
	case a >= 10_000:
		return strconv.FormatFloat(x/1000, 'f', 0, 64) + "k"
	case a >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return Number(x)
}

// Plain writes x with up to two decimals, without needless zeros.
func Plain(x float64) string { return Trimmed(x, 2) }

// Range writes what lies between two numbers, or the one if they are the same.
func Range(low, high float64) string {
	if low == high {
		return Plain(low)
	}
	return Plain(low) + ".." + Plain(high)
}

// Trimmed writes x with up to so many decimals, without needless zeros.
func Trimmed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
