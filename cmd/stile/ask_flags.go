package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/scenario"
)

// A value is a flag: it says itself what it wants when it gets something else,
// and it knows its bounds, so that no run can eat up the machine.
type value[T any] struct {
	to    *T
	kind  string                    // what the help calls it
	parse func(s string) (T, error) // the error says what is wanted
	show  func(T) string
}

// Value returns the flag that sets to. kind is what the help calls it, and
// parse says in its error what is wanted.
func Value[T any](to *T, kind string, parse func(s string) (T, error), show func(T) string) pflag.Value {
	return value[T]{to, kind, parse, show}
}

func (v value[T]) Set(s string) error {
	x, err := v.parse(s)
	if err == nil {
		*v.to = x
	}
	return err
}

func (v value[T]) String() string {
	if v.to == nil {
		return ""
	}
	return v.show(*v.to)
}

func (v value[T]) Type() string { return v.kind }

// Bounds of what a run may be asked for.
const (
	MaxNodes   = 10_000
	MaxEntries = 10_000_000
)

// Count is a whole number from low to high.
func Count(to *int, low, high int) pflag.Value { return Limited(to, low, high, "") }

// Limited is a count that says why it is not higher.
func Limited(to *int, low, high int, why string) pflag.Value {
	return Value(to, "N", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case err == nil && n > high && why != "":
			err = fmt.Errorf("want a whole number from %d to %d: %s", low, high, why)
		case err != nil || n < low || n > high:
			err = fmt.Errorf("want a whole number from %d to %d", low, high)
		}
		return n, err
	}, strconv.Itoa)
}

// Counts is a list of whole numbers from 1 to high.
func Counts(to *[]int, high int) pflag.Value {
	return Value(to, "LIST", func(s string) ([]int, error) {
		var list []int
		for part := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 || n > high {
				return nil, fmt.Errorf("want whole numbers from 1 to %d, such as 3,5,9", high)
			}
			list = append(list, n)
		}
		return list, nil
	}, joined)
}

// Size is a number of bytes, from 1 MiB on.
func Size(to *int64) pflag.Value {
	return Value(to, "SIZE", func(s string) (int64, error) {
		number, shift := s, 0
		for i, unit := range []string{"K", "M", "G", "T"} {
			if rest, ok := strings.CutSuffix(strings.TrimSuffix(s, "iB"), unit); ok {
				number, shift = rest, 10*(i+1)
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > 1<<50>>shift || n<<shift < 1<<20 {
			return 0, fmt.Errorf("want a size such as 512MiB or 8GiB, from 1MiB to 1024TiB")
		}
		return n << shift, nil
	}, Bytes)
}

// Bytes writes a number of bytes in the largest unit that fits.
func Bytes(n int64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if n < 1<<10 {
			return fmt.Sprintf("%d%s", n, unit)
		}
		n >>= 10
	}
	return fmt.Sprintf("%dGiB", n)
}

// Seed is any number that fits.
func Seed(to *uint64) pflag.Value {
	return Value(to, "N", func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			err = fmt.Errorf("want a whole number from 0 to %d", uint64(math.MaxUint64))
		}
		return n, err
	}, func(n uint64) string { return fmt.Sprint(n) })
}

// Time is how long something takes, in simulated time.
func Time(to *scenario.Dist) pflag.Value {
	return Value(to, "TIME", func(s string) (scenario.Dist, error) {
		d, err := scenario.ParseDist(s)
		if err != nil {
			err = fmt.Errorf("want a time in T: a number such as 2 or 0.5, exp:MEAN or uniform:LO,HI, from 0 to %d", scenario.MaxTime)
		}
		return d, err
	}, scenario.Dist.String)
}

// Latency is how long a message takes, which is some time.
func Latency(to *scenario.Dist) pflag.Value {
	return Value(to, "TIME", func(s string) (scenario.Dist, error) {
		var d scenario.Dist
		if err := Time(&d).Set(s); err != nil {
			return d, err
		}
		if err := d.CheckLatency(); err != nil {
			return d, fmt.Errorf("%w: want more than 0", err)
		}
		return d, nil
	}, scenario.Dist.String)
}

// Times is a list of them. A comma separates them, and also the two ends of a
// uniform one.
func Times(to *[]scenario.Dist) pflag.Value {
	return Value(to, "TIMES", func(s string) ([]scenario.Dist, error) {
		var list []scenario.Dist
		parts := strings.Split(s, ",")
		for i := 0; i < len(parts); i++ {
			part := parts[i]
			if strings.HasPrefix(part, "uniform:") && i+1 < len(parts) {
				i++
				part += "," + parts[i]
			}
			d, err := scenario.ParseDist(part)
			if err != nil {
				return nil, fmt.Errorf("want times in T: each a number, exp:MEAN or uniform:LO,HI, from 0 to %d, such as 0,exp:50", scenario.MaxTime)
			}
			list = append(list, d)
		}
		return list, nil
	}, joined)
}

// joined writes a list as it is given.
func joined[T any](list []T) string {
	var parts []string
	for _, x := range list {
		parts = append(parts, fmt.Sprint(x))
	}
	return strings.Join(parts, ",")
}
