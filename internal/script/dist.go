package script

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// T is one unit of time, the usual latency of a message, in ticks. All times
// in files and on the command line are in units of T with up to six decimals.
const T = 1_000_000

// MaxTime bounds every time that is read, in units of T, so that sums of many stay in
// range.
const MaxTime = 1_000_000_000

// A Shape is a family of distributions.
type Shape uint8

// The shapes.
const (
	Constant    Shape = iota // always A
	Uniform                  // A to B, uniformly
	Exponential              // with mean A
)

// A Dist is the distribution of a duration, in ticks.
type Dist struct {
	Shape Shape
	A, B  int64
}

// Always returns the distribution of one value, in ticks.
func Always(ticks int64) Dist { return Dist{A: ticks} }

// CheckLatency returns an error if d is impossible as a message latency.
func (d Dist) CheckLatency() error {
	if d.Mean() < 1 || d.Shape == Uniform && d.A < 1 {
		return fmt.Errorf("a latency of %v: want a time above 0", d)
	}
	return nil
}

// ParseDist parses a number, uniform:LO,HI or exp:MEAN, in units of T.
func ParseDist(s string) (Dist, error) {
	kind, rest, found := strings.Cut(s, ":")
	if !found {
		a, err := ParseTime(s)
		return Always(a), err
	}
	switch kind {
	case "exp":
		a, err := ParseTime(rest)
		return Dist{Exponential, a, 0}, err
	case "uniform":
		lo, hi, ok := strings.Cut(rest, ",")
		if !ok {
			return Dist{}, fmt.Errorf("time %q: want uniform:LO,HI", s)
		}
		a, err := ParseTime(lo)
		if err != nil {
			return Dist{}, err
		}
		b, err := ParseTime(hi)
		if err != nil {
			return Dist{}, err
		}
		if b < a {
			return Dist{}, fmt.Errorf("time %q: the upper bound is below the lower", s)
		}
		return Dist{Uniform, a, b}, nil
	}
	return Dist{}, fmt.Errorf("time %q: want a number, exp:MEAN or uniform:LO,HI", s)
}

// ParseTime parses a number with up to six decimals, in units of T, and returns it in
// ticks.
func ParseTime(s string) (int64, error) {
	whole, frac, _ := strings.Cut(s, ".")
	bad := fmt.Errorf("time %q: want a number such as 2 or 0.5", s)
	if whole == "" || len(frac) > 6 || strings.HasSuffix(s, ".") {
		return 0, bad
	}
	for _, r := range whole + frac {
		if r < '0' || r > '9' {
			return 0, bad
		}
	}
	w, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || w > MaxTime {
		return 0, fmt.Errorf("time %q is too large: want at most %d", s, MaxTime)
	}
	f, _ := strconv.ParseInt((frac + "000000")[:6], 10, 64)
	return w*T + f, nil
}

// FormatTime formats ticks in units of T, without trailing zeros.
func FormatTime(ticks int64) string {
	sign := ""
	if ticks < 0 {
		sign, ticks = "-", -ticks
	}
	s := sign + strconv.FormatInt(ticks/T, 10)
	if f := ticks % T; f != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%06d", f), "0")
	}
	return s
}

// String returns d in the form that ParseDist accepts.
func (d Dist) String() string {
	switch d.Shape {
	case Uniform:
		return "uniform:" + FormatTime(d.A) + "," + FormatTime(d.B)
	case Exponential:
		return "exp:" + FormatTime(d.A)
	}
	return FormatTime(d.A)
}

// Mean returns the mean in ticks.
func (d Dist) Mean() int64 {
	if d.Shape == Uniform {
		return d.A + (d.B-d.A)/2
	}
	return d.A
}

// Max returns the longest time in ticks, or for Exponential one that is hardly ever
// exceeded.
func (d Dist) Max() int64 {
	switch d.Shape {
	case Uniform:
		return d.B
	case Exponential:
		return min(20*d.A, math.MaxInt64/4)
	}
	return d.A
}
