package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/world/family"
)

// maxChecked is the largest group, and maxAsked how often each process of it
// may ask, that the checker takes.
const (
	maxChecked = 64
	maxAsked   = 100
)

// bound is how often each process may ask; 0 means without bound.
func bound(to *int) pflag.Value {
	return Value(to, "N", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case s == "unbounded":
			return 0, nil
		case err != nil || n < 1 || n > maxAsked:
			err = fmt.Errorf("want a whole number from 1 to %d, or unbounded", maxAsked)
		}
		return n, err
	}, func(n int) string {
		if n == 0 {
			return "unbounded"
		}
		return strconv.Itoa(n)
	})
}

// checkSpan is a time on the clock on the wall.
func checkSpan(to *time.Duration) pflag.Value {
	return Value(to, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return 0, fmt.Errorf("want a time such as 30s or 5m, more than 0s")
		}
		return d, nil
	}, func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	})
}

// wantedStart is what --start wants.
const wantedStart = "any, or who has the lock at first, such as 2, or 2:busy if it is inside"

// parseStart reads where a check begins: any, HOLDER or HOLDER:busy.
func parseStart(s string, nodes int) ([]algorithm.View, error) {
	switch s {
	case "":
		return nil, nil
	case "any":
		return check.AnyStart(nodes), nil
	}
	holder, busy, isBusy := strings.Cut(s, ":")
	n, err := strconv.Atoi(holder)
	if err != nil || isBusy && busy != "busy" {
		return nil, fmt.Errorf("--start %q: want %s", s, wantedStart)
	}
	if n < 1 || n > nodes {
		return nil, fmt.Errorf("--start %q: there are processes 1 to %d", s, nodes)
	}
	return []algorithm.View{{N: nodes, Holder: algorithm.ID(n - 1), Busy: isBusy}}, nil
}

// parseProperties reads a list of properties of a family. Nil means what the
// algorithm claims.
func parseProperties(s string, of *family.Family) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	all := check.Properties(of)
	list := strings.Split(s, ",")
	for _, p := range list {
		if !slices.Contains(all, p) {
			return nil, fmt.Errorf("--property %q: there are %s%s", p, strings.Join(all, ", "), spell.DidYouMean(p, all...))
		}
	}
	return list, nil
}

// paces names how long messages take.
var paces = [...]string{check.AnyPace: "any", check.Quick: "quick", check.Slow: "slow"}

// parsePace reads how long messages take, which is as usual if nothing is said.
func parsePace(s string, usual check.Pace) check.Pace {
	if i := slices.Index(paces[:], s); i >= 0 {
		return check.Pace(i)
	}
	return usual
}
