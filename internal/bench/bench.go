package bench

import (
	"context"
	"fmt"
	"os"
	"time"
)

// A Config says how long to measure.
type Config struct {
	Time    time.Duration // duration of each row
	Idle    time.Duration // duration of the measurement at rest
	Clients int           // number of clients that wait at one node
	Doing   func(what string)
}

// A Row is one figure.
type Row struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Limit *float64 `json:"limit"` // upper limit, or lower limit if Least; null if there is none
	Ratio *float64 `json:"ratio"` // of the value to the limit; null if there is none
	Least bool     `json:"-"`     // the limit is a lower one
}

// Met reports whether the limit is met.
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

// The numbers of users and locks.
const (
	nodes       = 3
	sharers     = 32     // goroutines on one lock
	users       = 256    // goroutines of each node that use many locks
	names       = 10_000 // locks that they use
	clientLocks = 1000   // locks that a client acquires in turn
)

// The limits of the figures.
const (
	localLimit   = 0.5     // microseconds
	handoffLimit = 1.0     // raw round trips
	clientLimit  = 1.5 * 2 // raw round trips
	againLimit   = 2.0     // microseconds
	sharedLimit  = 200_000 // entries per second
	manyLimit    = 100_000
	idleLimit    = 1.0  // percent of a core
	growthLimit  = 256  // KiB of live heap in all nodes
	stallLimit   = 1000 // milliseconds
)

// Run measures. When the context ends it returns the results so far, with an error.
func Run(ctx context.Context, c Config) ([]Row, error) {
	all := []Row{}
	dir, err := os.MkdirTemp("", "stile-bench-")
	if err != nil {
		return all, fmt.Errorf("create a folder for certificates and view logs: %w", err)
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
