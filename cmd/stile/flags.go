package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/scenario"
)

// The flags of stile: each says itself what it wants when it gets something
// else, and each knows its bounds, so that no run can eat up the machine.

// Bounds of what a run may be asked for.
const (
	maxNodes   = 10_000
	maxEntries = 10_000_000
	maxMoney   = 1_000_000_000_000
)

// A count is a whole number from low to high.
type count struct {
	to        *int
	low, high int
}

func (c count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < c.low || n > c.high {
		return fmt.Errorf("want a whole number from %d to %d", c.low, c.high)
	}
	*c.to = n
	return nil
}

func (c count) String() string {
	if c.to == nil {
		return ""
	}
	return strconv.Itoa(*c.to)
}

func (c count) Type() string { return "N" }

// A limited is a count that says why it is not higher.
type limited struct {
	count
	why string
}

func (l limited) Set(s string) error {
	err := l.count.Set(s)
	if n, bad := strconv.Atoi(s); bad == nil && n > l.high {
		err = fmt.Errorf("%w: %s", err, l.why)
	}
	return err
}

// counts is a list of whole numbers from 1 to high.
type counts struct {
	to   *[]int
	high int
}

func (c counts) Set(s string) error {
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > c.high {
			return fmt.Errorf("want whole numbers from 1 to %d, such as 3,5,9", c.high)
		}
		list = append(list, n)
	}
	*c.to = list
	return nil
}

func (c counts) String() string {
	if c.to == nil {
		return ""
	}
	words := make([]string, len(*c.to))
	for i, n := range *c.to {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

func (c counts) Type() string { return "LIST" }

// A seed is any number that fits.
type seed struct{ to *uint64 }

func (s seed) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("want a whole number from 0")
	}
	*s.to = n
	return nil
}

func (s seed) String() string {
	if s.to == nil {
		return ""
	}
	return strconv.FormatUint(*s.to, 10)
}

func (s seed) Type() string { return "N" }

// A duration is how long something takes.
type duration struct{ to *scenario.Dist }

func (d duration) Set(s string) error {
	dist, err := scenario.ParseDist(s)
	if err != nil {
		return fmt.Errorf("want a time in T: a number such as 2 or 0.5, exp:MEAN or uniform:LO,HI")
	}
	*d.to = dist
	return nil
}

func (d duration) String() string {
	if d.to == nil {
		return ""
	}
	return d.to.String()
}

func (d duration) Type() string { return "TIME" }

// durations is a list of them. A comma separates them, and also the two ends
// of a uniform one.
type durations struct{ to *[]scenario.Dist }

func (d durations) Set(s string) error {
	var list []scenario.Dist
	parts := strings.Split(s, ",")
	for i := 0; i < len(parts); i++ {
		part := parts[i]
		if strings.HasPrefix(part, "uniform:") && i+1 < len(parts) {
			i++
			part += "," + parts[i]
		}
		dist, err := scenario.ParseDist(part)
		if err != nil {
			return fmt.Errorf("want times in T: each a number, exp:MEAN or uniform:LO,HI, such as 0,exp:50")
		}
		list = append(list, dist)
	}
	*d.to = list
	return nil
}

func (d durations) String() string {
	if d.to == nil {
		return ""
	}
	words := make([]string, len(*d.to))
	for i, dist := range *d.to {
		words[i] = dist.String()
	}
	return strings.Join(words, ",")
}

func (d durations) Type() string { return "TIMES" }
