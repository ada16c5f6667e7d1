package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
)

// maxChecked is the largest group, and maxAsked how often each process of it
// may ask, that the checker takes.
const (
	maxChecked = 64
	maxAsked   = 100
)

// A bound is how often each process may ask; 0 means without bound.
type bound struct{ to *int }

func (b bound) Set(s string) error {
	if s == "unbounded" {
		*b.to = 0
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxAsked {
		return fmt.Errorf("want a whole number from 1 to %d, or unbounded", maxAsked)
	}
	*b.to = n
	return nil
}

func (b bound) String() string {
	switch {
	case b.to == nil:
		return ""
	case *b.to == 0:
		return "unbounded"
	}
	return strconv.Itoa(*b.to)
}

func (b bound) Type() string { return "N" }

// A size is a number of bytes.
type size struct{ to *int64 }

// units are those of a size, longer names first.
var units = [...]struct {
	name  string
	shift int
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"K", 10}, {"M", 20}, {"G", 30}, {"T", 40}}

func (z size) Set(s string) error {
	number, shift := s, 0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			number, shift = rest, u.shift
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > 1<<50>>shift || n<<shift < 1<<20 {
		return fmt.Errorf("want a size such as 512MiB or 8GiB, at least 1MiB")
	}
	*z.to = n << shift
	return nil
}

func (z size) String() string {
	if z.to == nil || *z.to == 0 {
		return ""
	}
	return bytesOf(*z.to)
}

func (z size) Type() string { return "SIZE" }

// bytesOf writes a number of bytes in the largest unit that fits.
func bytesOf(n int64) string {
	for _, u := range []string{"B", "KiB", "MiB"} {
		if n < 1<<10 {
			return fmt.Sprintf("%d%s", n, u)
		}
		if n >>= 10; u == "MiB" {
			break
		}
	}
	return fmt.Sprintf("%dGiB", n)
}

// A span is a time on the clock on the wall.
type span struct{ to *time.Duration }

func (s span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("want a time such as 30s or 5m")
	}
	*s.to = d
	return nil
}

func (s span) String() string {
	if s.to == nil || *s.to == 0 {
		return ""
	}
	return s.to.String()
}

func (s span) Type() string { return "TIME" }

// parseStart reads where a check begins: any, HOLDER or HOLDER:busy.
func parseStart(s string, nodes int) ([]core.View, error) {
	switch s {
	case "":
		return nil, nil
	case "any":
		return check.AnyStart(nodes), nil
	}
	holder, busy, isBusy := strings.Cut(s, ":")
	n, err := strconv.Atoi(holder)
	if err != nil || isBusy && busy != "busy" {
		return nil, fmt.Errorf("--start %q: want any, or who has the lock at first, such as 2, or 2:busy if it is inside", s)
	}
	if n < 1 || n > nodes {
		return nil, fmt.Errorf("--start %q: there are processes 1 to %d", s, nodes)
	}
	return []core.View{{N: nodes, Holder: core.ID(n - 1), Busy: isBusy}}, nil
}
