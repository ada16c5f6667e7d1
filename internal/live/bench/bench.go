package bench

import (
	"context"
	"fmt"
	"os"
	"time"
)

// A Config says how long to measure.
type Config struct {
	Time    time.Duration // each row
	Idle    time.Duration // the cluster at rest
	Clients int           // that wait at one node
	Doing   func(what string)
}

// A Row is one figure.
type Row struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Limit *float64 `json:"limit"` // what it may be at most, or must be at least; null if there is none
	Ratio *float64 `json:"ratio"` // of the value and the limit; null if there is none
	Least bool     `json:"-"`     // the limit is a lower one
}

// Met reports whether the limit is kept.
func (r *Row) Met() bool {
	switch {
	case r.Limit == nil:
		return true
	case r.Least:
		return r.Value >= *r.Limit
	}
	return r.Value <= *r.Limit
}

func plain(name string, value float64, unit string) Row {
	return Row{Name: name, Value: value, Unit: unit}
}

func bounded(name string, value float64, unit string, limit float64) Row {
	r := Row{Name: name, Value: value, Unit: unit, Limit: &limit}
	if limit != 0 {
		ratio := value / limit
		r.Ratio = &ratio
	}
	return r
}

func atLeast(name string, value float64, unit string, limit float64) Row {
	r := bounded(name, value, unit, limit)
	r.Least = true
	return r
}

// How many share what is measured.
const (
	nodes   = 3
	sharers = 32     // goroutines on one lock
	users   = 256    // goroutines of each node that use many locks
	names   = 10_000 // locks that they use
)

// What the figures are to be.
const (
	localLimit   = 0.5     // microseconds
	handoffLimit = 1.0     // raw round trips
	clientLimit  = 1.5 * 2 // raw round trips
	sharedLimit  = 200_000 // entries each second
	manyLimit    = 100_000
	idleLimit    = 1.0  // percent of a core
	growthLimit  = 256  // KiB, of what is alive in all nodes
	stallLimit   = 1000 // milliseconds
)

// Run measures. When the context ends it returns what there is by then, with an
// error.
func Run(ctx context.Context, c Config) ([]Row, error) {
	all := []Row{}
	dir, err := os.MkdirTemp("", "stile-bench-")
	if err != nil {
		return all, fmt.Errorf("make a folder for certificates and view logs: %w", err)
	}
	defer os.RemoveAll(dir)
	g, err := start(ctx, dir)
	defer g.stop()
	if err != nil {
		return all, err
	}
	g.Config = c
	for _, m := range g.measures() {
		c.Doing(m.what)
		rows, err := m.run()
		if err != nil {
			return all, err
		}
		all = append(all, rows...)
	}
	return all, nil
}
