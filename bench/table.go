package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/stile-lock/stile/internal/words"
)

// rows returns the entrants and limits that have a cell in a workload, in the order of the
// tables.
func (r *Result) rows(w *workload) (all []*entrant) {
	for _, e := range append(append([]*entrant{}, limits...), entrants...) {
		if r.find(w.Name, e.Name) != nil {
			all = append(all, e)
		}
	}
	return all
}

// table returns the result as text, at most 80 columns wide.
func table(r *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nservers write to: %s; %d rounds of %g s\n", r.Machine, r.Disk, r.Rounds, r.Seconds)
	for _, e := range entrants {
		if why := r.Missing[e.Name]; why != "" {
			omitted(&b, e.Name, why)
		}
	}
	omitted(&b, "consul", "Debian has no package, and its Go module builds only in a clone of its repository")
	noisy := false
	for _, w := range workloads {
		rows := r.rows(w)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", w.Title)
		fmt.Fprint(&b, header(w))
		for _, e := range rows {
			c := r.find(w.Name, e.Name)
			name := e.Name
			if c.Noisy > 0 {
				name, noisy = name+"*", true
			}
			fmt.Fprintf(&b, "%-15s %-5s %s\n", name, e.Security, line(w, c))
			if c.Error != "" {
				fmt.Fprintf(&b, "  %.78s\n", c.failures())
			}
		}
	}
	if noisy {
		fmt.Fprintln(&b, "\n* The machine did too much else in some of these rounds.")
	}
	return b.String()
}

// omitted says why an entrant is not in the result.
func omitted(b *strings.Builder, name, why string) {
	const begin = "left out: "
	lines := words.Wrap(name+": "+why, 80-len(begin))
	fmt.Fprintln(b, begin+strings.Join(lines, "\n"+strings.Repeat(" ", len(begin))))
}

func header(w *workload) string {
	switch w.sort {
	case sortSpeed:
		return fmt.Sprintf("%-15s %-5s %8s %15s %8s %8s %8s %6s\n", "", "", "holds/s", "low - high", "p50 µs", "mean", "p99", "CPU µs")
	case sortIdle:
		return fmt.Sprintf("%-21s %s\n", "", "% of a core (low - high)")
	case sortMemory:
		return fmt.Sprintf("%-21s %s\n", "", "per held lock, per waiter")
	}
	return fmt.Sprintf("%-21s %s\n", "", "seconds (low - high)")
}

// line returns the figures of a row.
func line(w *workload, c *Cell) string {
	switch w.sort {
	case sortSpeed:
		s, ok := c.of(figRate)
		if !ok {
			return "-"
		}
		pass := ""
		if p, ok := c.of(figPass); ok {
			pass = fmt.Sprintf("  passed on after %s µs", short(p.median))
		}
		return fmt.Sprintf("%8s %15s %8s %8s %8s %6s", short(s.median), short(s.low)+" - "+short(s.high), short(c.median(figP50)), short(c.median(figMean)), short(c.median(figP99)), short(c.median(figCPU))) + pass
	case sortIdle:
		s, ok := c.of(figIdle)
		if !ok {
			return "-"
		}
		return fmt.Sprintf("%.2f (%.2f - %.2f)", s.median, s.low, s.high)
	case sortMemory:
		return c.size(figLock) + ", " + c.size(figWaiter)
	}
	return outageText(c)
}

// outageText returns how long a failover took.
func outageText(c *Cell) string {
	s, ok := c.of(figOutage)
	if !ok {
		return "-"
	}
	if c.median(figNever) >= 0.5 {
		return fmt.Sprintf("none within %.0f s", outageLimit.Seconds())
	}
	return fmt.Sprintf("%.2f (%.2f - %.2f)", s.median/1000, s.low/1000, s.high/1000)
}

// short returns a number in about three digits.
func short(v float64) string {
	switch {
	case v >= 999_500:
		return fmt.Sprintf("%.1f M", v/1e6)
	case v >= 99_950:
		return fmt.Sprintf("%.0f k", v/1e3)
	case v >= 9_995:
		return fmt.Sprintf("%.1f k", v/1e3)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// failures says which rounds have failed.
func (c *Cell) failures() string {
	return fmt.Sprintf("failed in %d rounds, first with: %s", max(c.Failed, 1), c.Error)
}

// size returns the median of a figure in bytes.
func (c *Cell) size(figure string) string {
	if s, ok := c.of(figure); ok {
		return size(s.median)
	}
	return "-"
}

// size returns a number of bytes.
func size(v float64) string {
	if math.Abs(v) < 1<<10 {
		return fmt.Sprintf("%.0f B", v)
	}
	return fmt.Sprintf("%.1f KiB", v/(1<<10))
}
