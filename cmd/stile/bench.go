package main

import (
	"errors"
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
	most        = 24 * time.Hour
	mostClients = 10_000
)

// benchNew returns the command.
func benchNew() *cobra.Command {
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
		Args: Nothing,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(benchSpan(&f.Time), "time", "how long each row is measured, such as 5s")
	fs.Var(benchSpan(&f.Idle), "idle", "how long the cluster is left at rest, such as 10m")
	fs.Var(Limited(&f.Clients, 1, mostClients, "no more may wait for one lock at a node"), "clients", "how many clients wait at one node")
	JSON(fs, &f.json)
	return c
}

// benchSpan is a length of time by the clock on the wall.
func benchSpan(to *time.Duration) pflag.Value {
	return Value(to, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < time.Millisecond || d > most {
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
	return tellRun(c.OutOrStdout(), f.json, nil, func() (Report, error) {
		live := Begin(c)
		defer live.End()
		f.Doing = func(what string) { live.Show("measuring: %s", what) }
		rows, err := bench.Run(live, f.Config)
		here := thisMachine()
		r := Report{JSON: benchReport{here, rows}, Text: func(p *Page) { benchText(p, here, rows) }}
		if !live.On() {
			r.Stopped, err = words.Plural(len(rows), "row"), nil
		}
		return r, err
	})
}
