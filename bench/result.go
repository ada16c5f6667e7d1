package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// A Result is what a run has measured.
type Result struct {
	At         string            `json:"at"`   // commit
	Date       string            `json:"date"` // day
	Note       string            `json:"note"` // about this run
	Machine    string            `json:"machine"`
	Disk       string            `json:"disk"`
	Versions   map[string]string `json:"versions"`
	Rounds     int               `json:"rounds"`
	Seconds    float64           `json:"seconds"`    // of each measurement
	Minutes    float64           `json:"minutes"`    // that the run took
	Background float64           `json:"background"` // limit of the background load, in percent
	Missing    map[string]string `json:"missing"`    // by entrant, why it is not measured
	Cells      []*Cell           `json:"cells"`
}

// A Cell is what was measured of an entrant in a workload, in all rounds.
type Cell struct {
	Workload string               `json:"workload"`
	Entrant  string               `json:"entrant"`
	Values   map[string][]float64 `json:"values"`           // by figure
	Noisy    int                  `json:"noisy"`            // rounds with too much background load, even after repeating
	Failed   int                  `json:"failed,omitempty"` // rounds
	Error    string               `json:"error,omitempty"`  // of the first of them
}

// The figures of cells.
const (
	figRate    = "rate" // holds per second
	figMean    = "mean" // microseconds
	figP50     = "p50"
	figP99     = "p99"
	figMax     = "max"
	figPass    = "pass"    // microseconds between holds of different nodes
	figCPU     = "cpu"     // microseconds per hold, of all processes
	figLeast   = "least"   // percent: holds of the client with the fewest, of the mean
	figForeign = "foreign" // percent of the machine: background load
	figIdle    = "idle"    // percent of a core
	figLock    = "lock"    // bytes per held lock
	figWaiter  = "waiter"  // bytes per client that waits
	figOutage  = "outage"  // milliseconds
	figNever   = "never"   // 1 if the limit of the outage was reached
	figTold    = "told"    // 1 if the paused holder noticed
	figOverlap = "overlap" // holds at the same time as another one
)

// cell returns the cell of an entrant in a workload.
func (r *Result) cell(workload, entrant string) *Cell {
	if c := r.find(workload, entrant); c != nil {
		return c
	}
	c := &Cell{Workload: workload, Entrant: entrant, Values: map[string][]float64{}}
	r.Cells = append(r.Cells, c)
	return c
}

// find returns a cell that was measured, or nil.
func (r *Result) find(workload, entrant string) *Cell {
	for _, c := range r.Cells {
		if c.Workload == workload && c.Entrant == entrant {
			return c
		}
	}
	return nil
}

// add adds the value of a round, to four digits.
func (c *Cell) add(figure string, v float64) {
	if v != 0 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-3)
		v = math.Round(v/unit) * unit
		v = math.Round(v*1e6) / 1e6
	}
	c.Values[figure] = append(c.Values[figure], v)
}

// fail notes that a round has failed.
func (c *Cell) fail(err error) {
	c.Failed++
	c.Error = cmp.Or(c.Error, brief(err))
}

// brief returns the beginning of an error, on one line.
func brief(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return text[:min(len(text), 200)]
}

// A spread is the median of some rounds, with the lowest and highest.
type spread struct {
	low, median, high float64
	rounds            int
}

// of returns the spread of a figure, and false if there is none.
func (c *Cell) of(figure string) (s spread, ok bool) {
	if c == nil || len(c.Values[figure]) == 0 {
		return s, false
	}
	return spreadOf(c.Values[figure]), true
}

// median returns the median of a figure, or 0.
func (c *Cell) median(figure string) float64 {
	s, _ := c.of(figure)
	return s.median
}

func spreadOf(values []float64) spread {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{v[0], (v[(n-1)/2] + v[n/2]) / 2, v[n-1], n}
}

// write writes the result to a file.
func (r *Result) write(path string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(shorten(b), '\n'), 0o666)
}

// shorten puts lists of numbers on one line each.
func shorten(b []byte) []byte {
	var out strings.Builder
	in := false
	for line := range strings.Lines(string(b)) {
		text := strings.TrimSpace(line)
		if in {
			out.WriteString(text)
			if strings.HasSuffix(text, ",") && !strings.HasPrefix(text, "]") {
				out.WriteByte(' ')
			}
			if strings.HasPrefix(text, "]") {
				out.WriteByte('\n')
				in = false
			}
			continue
		}
		if strings.HasSuffix(text, ": [") && text != `"cells": [` {
			out.WriteString(strings.TrimSuffix(line, "\n"))
			in = true
			continue
		}
		out.WriteString(line)
	}
	return []byte(strings.TrimSuffix(out.String(), "\n"))
}

func readResult(path string) (*Result, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w: run the race with -json first", err)
	}
	r := &Result{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("read the result %s: %w", path, err)
	}
	return r, nil
}
