package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/stile-lock/stile/internal/live/bench"
)

// A machine is where it was measured, and what.
type machine struct {
	Cores    int    `json:"cores"`
	CPU      string `json:"cpu"` // empty if it is not known
	Platform string `json:"platform"`
	Go       string `json:"go"`
	Commit   string `json:"commit"`
}

func thisMachine() machine {
	v := Build()
	return machine{Cores: runtime.NumCPU(), CPU: cpu(), Platform: v.Platform, Go: v.Go, Commit: v.Commit()}
}

// cpu names the CPU, where Linux does.
func cpu() string {
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

func benchText(p *Page, m machine, rows []bench.Row) {
	cpu := m.CPU
	if cpu != "" {
		cpu = " of " + cpu
	}
	p.Text(0, fmt.Sprintf("stile at commit %s, %s, %s, %d cores%s", m.Commit, m.Go, m.Platform, m.Cores, cpu))
	p.Gap()
	p.Line("%-36s %9s %-11s %9s %6s", "", "value", "unit", "limit", "ratio")
	for i := range rows {
		r := &rows[i]
		limit, ratio, met := "", "", ""
		if r.Limit != nil {
			limit = number(*r.Limit)
			if met = "  met"; !r.Met() {
				met = "  no"
			}
		}
		if r.Ratio != nil {
			ratio = fmt.Sprintf("%.2f", *r.Ratio)
		}
		name := r.Name
		if len(name) > 36 { // it has a line of its own
			p.Line("%s", name)
			name = ""
		}
		p.Line("%-36s %9s %-11s %9s %6s%s", name, number(r.Value), r.Unit, limit, ratio, met)
	}
	p.Gap()
	p.Text(0, "Entries each second are to be at least their limit, all else at most.")
}

// number writes a figure with as many digits as mean something.
func number(v float64) string {
	switch {
	case math.Abs(v) >= 1000, v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
