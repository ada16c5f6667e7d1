package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/bench"
	"github.com/stile-lock/stile/internal/words"
)

// benchFlags holds the flags of 'stile bench'.
type benchFlags struct {
	bench.Config
	json bool
}

// Bounds of a measurement.
const (
	maxBenchTime    = 24 * time.Hour
	maxBenchClients = 10_000
)

func newBench() *cobra.Command {
	f := &benchFlags{Config: bench.Config{Time: 1500 * time.Millisecond, Idle: 3 * time.Second, Clients: 500}}
	c := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure the speed of a cluster on this machine",
		Long: `Starts three nodes in three processes on this machine, with temporary
certificates and directories. Measures the cost of a lock and of a handoff,
entries per second, the cost of waiting clients and of an idle cluster, and how
long a lock stalls while all nodes are restarted in turn.

Values that depend on the network are compared with raw TLS round trips between
two of the processes. Both are measured in turns during the same run, so other
load slows both down. The ratio is the value divided by its limit.`,
		Example: `  stile bench
  stile bench --time 10s --idle 10m --clients 10000 --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(benchSpan(&f.Time), "time", "time to measure each row, such as 5s")
	fs.Var(benchSpan(&f.Idle), "idle", "time to leave the cluster idle, such as 10m")
	fs.Var(limitedCountFlag(&f.Clients, 1, maxBenchClients, "one lock of a node has at most that many waiters"), "clients", "number of clients that wait at one node")
	jsonFlag(fs, &f.json)
	return c
}

// benchSpan takes a length of real time with a unit.
func benchSpan(to *time.Duration) pflag.Value {
	return clockTimeFlag(to, time.Millisecond, maxBenchTime, "must be a time from 1ms to 24h, such as 90s or 10m")
}

// A benchReport is the JSON form of a measurement.
type benchReport struct {
	Machine machine     `json:"machine"`
	Rows    []bench.Row `json:"rows"`
}

func (f *benchFlags) run(c *cobra.Command) error {
	return runAndReport(c.OutOrStdout(), f.json, nil, func() (outcome, error) {
		prog := startProgress(c)
		defer prog.end()
		f.Doing = func(what string) { prog.show("measuring: %s", what) }
		rows, err := bench.Run(prog, f.Config)
		here := thisMachine()
		r := outcome{json: benchReport{here, rows}, text: func(p *printer) { printBench(p, here, rows) }}
		if !prog.on() {
			r.stopped, err = words.Plural(len(rows), "row"), nil
		}
		return r, err
	})
}

// A machine describes the machine and the program that were measured.
type machine struct {
	Cores    int    `json:"cores"`
	CPU      string `json:"cpu"` // empty if unknown
	Platform string `json:"platform"`
	Go       string `json:"go"`
	Commit   string `json:"commit"`
}

func thisMachine() machine {
	v := buildVersion()
	return machine{Cores: runtime.NumCPU(), CPU: cpuName(), Platform: v.Platform, Go: v.Go, Commit: v.commit()}
}

// cpuName returns the name of the CPU, on Linux.
func cpuName() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(b) {
		if key, value, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}

func printBench(p *printer, m machine, rows []bench.Row) {
	cpu := m.CPU
	if cpu != "" {
		cpu = ", " + cpu
	}
	p.text(0, fmt.Sprintf("stile at commit %s, %s, %s, %d cores%s", m.Commit, m.Go, m.Platform, m.Cores, cpu))
	p.gap()
	p.line("%-36s %9s %-11s %9s %6s", "", "value", "unit", "limit", "ratio")
	for i := range rows {
		r := &rows[i]
		limit, ratio, met := "", "", ""
		if r.Limit != nil {
			limit = formatFigure(*r.Limit)
			if met = "  met"; !r.Met() {
				met = "  no"
			}
		}
		if r.Ratio != nil {
			ratio = fmt.Sprintf("%.2f", *r.Ratio)
		}
		name := r.Name
		if len(name) > 36 { // it gets its own line
			p.line("%s", name)
			name = ""
		}
		p.line("%-36s %9s %-11s %9s %6s%s", name, formatFigure(r.Value), r.Unit, limit, ratio, met)
	}
	p.gap()
	p.text(0, "Entries per second must be at least their limit, all other values at most.")
}

// formatFigure formats a number with as many digits as are significant.
func formatFigure(v float64) string {
	switch {
	case math.Abs(v) >= 1000, v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
