package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/bench"
	"github.com/stile-lock/stile/internal/words"
)

// benchFlags is what the command can be told.
type benchFlags struct {
	bench.Config
	json bool
}

// most is how long, and with how many clients, one can measure.
const (
	maxBenchTime    = 24 * time.Hour
	maxBenchClients = 10_000
)

// newBench returns the command.
func newBench() *cobra.Command {
	f := &benchFlags{Config: bench.Config{Time: 1500 * time.Millisecond, Idle: 3 * time.Second, Clients: 500}}
	c := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure how fast a cluster is on this machine",
		Long: `Starts three nodes in three processes on this machine, with certificates and
folders that are thrown away, and measures what locks cost, what a handoff
costs, how many entries there are each second, what waiting clients and an idle
cluster cost, and how long a lock stalls when all nodes are restarted in turn.

What goes over the network is compared with raw round trips over TLS between two
of the processes, taken by turns in the same run: what else the machine does
slows down both. The ratio is that of the value and its limit.`,
		Example: `  stile bench
  stile bench --time 10s --idle 10m --clients 10000 --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(benchSpan(&f.Time), "time", "how long each row is measured, such as 5s")
	fs.Var(benchSpan(&f.Idle), "idle", "how long the cluster is left at rest, such as 10m")
	fs.Var(limitedCountFlag(&f.Clients, 1, maxBenchClients, "no more may wait for one lock at a node"), "clients", "how many clients wait at one node")
	jsonFlag(fs, &f.json)
	return c
}

// benchSpan is a length of time by the clock on the wall.
func benchSpan(to *time.Duration) pflag.Value {
	return newFlag(to, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < time.Millisecond || d > maxBenchTime {
			return 0, errors.New("want a time from 1ms to 24h, such as 90s or 10m")
		}
		return d, nil
	}, time.Duration.String)
}

// A benchReport is what was measured, and on what.
type benchReport struct {
	Machine machine     `json:"machine"`
	Rows    []bench.Row `json:"rows"`
}

func (f *benchFlags) run(c *cobra.Command) error {
	return runAndReport(c.OutOrStdout(), f.json, nil, func() (outcome, error) {
		live := startProgress(c)
		defer live.end()
		f.Doing = func(what string) { live.show("measuring: %s", what) }
		rows, err := bench.Run(live, f.Config)
		here := thisMachine()
		r := outcome{json: benchReport{here, rows}, text: func(p *printer) { printBench(p, here, rows) }}
		if !live.on() {
			r.stopped, err = words.Plural(len(rows), "row"), nil
		}
		return r, err
	})
}

// A machine is where it was measured, and what.
type machine struct {
	Cores    int    `json:"cores"`
	CPU      string `json:"cpu"` // empty if it is not known
	Platform string `json:"platform"`
	Go       string `json:"go"`
	Commit   string `json:"commit"`
}

func thisMachine() machine {
	v := buildVersion()
	return machine{Cores: runtime.NumCPU(), CPU: cpuName(), Platform: v.Platform, Go: v.Go, Commit: v.commit()}
}

// cpuName names the CPU, where Linux does.
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
		cpu = " of " + cpu
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
		if len(name) > 36 { // it has a line of its own
			p.line("%s", name)
			name = ""
		}
		p.line("%-36s %9s %-11s %9s %6s%s", name, formatFigure(r.Value), r.Unit, limit, ratio, met)
	}
	p.gap()
	p.text(0, "Entries each second are to be at least their limit, all else at most.")
}

// formatFigure writes a figure with as many digits as mean something.
func formatFigure(v float64) string {
	switch {
	case math.Abs(v) >= 1000, v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
