package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const monitoring = "../../packaging/monitoring"

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unknown returns the metrics in an expression that do not exist.
func unknown(expr string) (all []string) {
	names := exported()
	for _, name := range regexp.MustCompile(`\bstile_\w+`).FindAllString(expr, -1) {
		series := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			series = strings.TrimSuffix(series, suffix)
		}
		if !slices.Contains(names, name) && (!slices.Contains(names, series) || !strings.HasSuffix(series, "_seconds")) {
			all = append(all, name)
		}
	}
	return all
}

// An alert is one of the alert rules.
type alert struct{ name, expr, severity, summary string }

// The lines of the file of alert rules. It uses no more of YAML than this.
var ruleLines = []struct {
	is  *regexp.Regexp
	set func(a *alert, value string)
}{
	{regexp.MustCompile(`^        expr: (.+)$`), func(a *alert, v string) { a.expr = strings.TrimPrefix(v, ">-") }},
	{regexp.MustCompile(`^          ([^"{}].*[^:])$`), func(a *alert, v string) {
		if before, after, ok := strings.Cut(v, ": "); ok && before == "severity" {
			a.severity = after
		} else if ok && before == "summary" {
			a.summary = strings.Trim(after, `"`)
		} else {
			a.expr += v
		}
	}},
	{regexp.MustCompile(`^        (?:for: \d+[sm]|labels:|annotations:)()$`), func(*alert, string) {}},
	{regexp.MustCompile(`^(?:groups:|  - name: \w+|    rules:)()$`), func(*alert, string) {}},
}

// readAlerts reads the file of alert rules.
func readAlerts(text string) (all []alert, err error) {
	begins := regexp.MustCompile(`^      - alert: (\w+)$`)
lines:
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if m := begins.FindStringSubmatch(line); m != nil {
			all = append(all, alert{name: m[1]})
			continue
		}
		for _, l := range ruleLines {
			if m := l.is.FindStringSubmatch(line); m != nil {
				last := &alert{}
				if len(all) > 0 {
					last = &all[len(all)-1]
				}
				l.set(last, m[1])
				continue lines
			}
		}
		return nil, fmt.Errorf("line %d: %q", i+1, line)
	}
	return all, nil
}

// The alert rules use metrics that exist, and the page explains each of them.
func TestAlerts(t *testing.T) {
	all, err := readAlerts(read(t, filepath.Join(monitoring, "alerts.yml")))
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	var names []string
	for _, a := range all {
		names = append(names, a.name)
		if a.expr == "" || a.summary == "" || a.severity != "warning" && a.severity != "critical" {
			t.Errorf("incomplete: %+v", a)
		}
		if bad := unknown(a.expr); len(bad) > 0 {
			t.Errorf("%s uses %q", a.name, bad)
		}
		if strings.Count(a.expr, "(") != strings.Count(a.expr, ")") {
			t.Errorf("%s: %s", a.name, a.expr)
		}
	}
	var explained []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(Stile\\w+)` \\|").FindAllStringSubmatch(read(t, "../../docs/monitoring.md"), -1) {
		explained = append(explained, m[1])
	}
	if !slices.Equal(names, explained) {
		t.Errorf("alerts are\n%q\nand explained are\n%q", names, explained)
	}
	for _, bad := range []string{"\t- alert: X", "      - alert: X\n        expr:x", "      - alert: X\n       for: 1m", "      - alert: X\n        for: soon"} {
		if _, err := readAlerts(bad); err == nil {
			t.Errorf("%q is a rule", bad)
		}
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.Command(promtool, "check", "rules", filepath.Join(monitoring, "alerts.yml")).CombinedOutput(); err != nil {
			t.Errorf("promtool: %s", out)
		}
	}
}

// The dashboard uses metrics that exist, and its panels do not overlap.
func TestDashboard(t *testing.T) {
	var d struct {
		Title      string
		UID        string
		Templating struct {
			List []struct{ Name, Query string }
		}
		Panels []struct {
			ID          int
			Title       string
			Type        string
			Description string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
	}
	text := read(t, filepath.Join(monitoring, "grafana.json"))
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || len(d.Panels) == 0 || len(d.Templating.List) == 0 {
		t.Errorf("%+v", d)
	}
	if bad := unknown(text); len(bad) > 0 {
		t.Errorf("it uses %q", bad)
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (len(p.Targets) == 0 || p.Description == "") {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s and %s overlap, or are too wide", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		for _, e := range p.Targets {
			if strings.Count(e.Expr, "(") != strings.Count(e.Expr, ")") || e.Expr == "" {
				t.Errorf("%s: %s", p.Title, e.Expr)
			}
		}
	}
	if unknown("rate(stile_lock_waits_bucket[1m]) + stile_sessions_sum") == nil || unknown("stile_lock_wait_seconds_bucket") != nil {
		t.Error("metrics that do not exist are known, or the other way round")
	}
}
