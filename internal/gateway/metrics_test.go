package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/node"
)

// measured starts a node, and serves it over HTTP.
func measured(t *testing.T) (*node.Node, *httptest.Server) {
	t.Helper()
	n, err := node.Start(node.Config{Name: "a", Listen: "127.0.0.1:0", Lease: time.Minute, Metrics: true, Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(newGateway(n, Config{Profiles: true}).door)
	t.Cleanup(s.Close)
	return n, s
}

// get returns an answer.
func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// scrape returns all metrics.
func scrape(t *testing.T, s *httptest.Server) map[string]*dto.MetricFamily {
	t.Helper()
	code, body := get(t, s.URL+"/metrics")
	if code != http.StatusOK {
		t.Fatal(code, body)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// value returns the sum of the values of a metric with these labels; of a histogram, the
// number of its observations.
func value(all map[string]*dto.MetricFamily, name string, labels ...string) (sum float64) {
	for _, m := range all[name].GetMetric() {
		has := func(i int) bool {
			return slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == labels[i] && l.GetValue() == labels[i+1] })
		}
		fits := true
		for i := 0; i < len(labels); i += 2 {
			fits = fits && has(i)
		}
		if fits {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func acquire(t *testing.T, x interface {
	Lock(context.Context, string, lock.Options) (lock.Handle, error)
}, name string) lock.Handle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, err := x.Lock(ctx, name, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What is measured moves when locks are used, by applications of the node and by clients.
func TestMetricsMove(t *testing.T) {
	n, s := measured(t)
	c, err := client.Dial(t.Context(), client.Config{Nodes: []string{n.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	own, theirs := acquire(t, n, "orders/1"), acquire(t, c, "orders/2")
	waits := make(chan lock.Handle)
	go func() {
		h, err := c.Lock(t.Context(), "orders/1", lock.Options{})
		if err != nil {
			t.Error(err)
		}
		waits <- h
	}()
	for scrape(t, s)["stile_lock_requests_waiting"].GetMetric() == nil || value(scrape(t, s), "stile_lock_requests_waiting") == 0 {
		time.Sleep(time.Millisecond)
	}
	all := scrape(t, s)
	check := func(want float64, name string, labels ...string) {
		t.Helper()
		if got := value(all, name, labels...); got != want {
			t.Errorf("%s%q is %v, want %v", name, labels, got, want)
		}
	}
	check(2, "stile_lock_acquisitions_total", "prefix", "orders/", "algorithm", "naimi-trehel")
	check(2, "stile_lock_wait_seconds", "prefix", "orders/")
	check(0, "stile_lock_hold_seconds")
	check(2, "stile_locks_held")
	check(1, "stile_lock_requests_waiting")
	check(1, "stile_lock_queue_longest")
	check(1, "stile_sessions")
	check(1, "stile_node_ready")
	check(1, "stile_view_members")
	check(60, "stile_lease_seconds")
	check(1, "stile_client_messages_total", "direction", "received", "kind", "hello")
	check(1, "stile_view_changes_total", "cause", "join")
	check(1, "stile_build_info")
	if value(all, "stile_disk_save_seconds", "what", "log") == 0 || all["go_goroutines"] == nil || all["process_open_fds"] == nil && all["process_start_time_seconds"] == nil {
		t.Error("no saves, or nothing about the process")
	}
	own.Unlock()
	third := <-waits
	third.Unlock()
	theirs.Unlock()
	all = scrape(t, s)
	check(3, "stile_lock_acquisitions_total")
	check(1, "stile_lock_handoffs_total", "from", "local")
	check(0, "stile_lock_handoffs_total", "from", "remote")
	check(3, "stile_lock_hold_seconds")
	check(0, "stile_locks_held")
	check(0, "stile_lock_requests_waiting")
}

// However many names there are, the number of series is bounded.
func TestMetricsBounded(t *testing.T) {
	n, s := measured(t)
	series := func() (count int) {
		for _, f := range scrape(t, s) {
			count += len(f.Metric)
		}
		return count
	}
	before := series()
	const names = 10_000
	for i := range names {
		acquire(t, n, fmt.Sprintf("p%d/x", i)).Unlock()
		acquire(t, n, fmt.Sprintf("q%d", i)).Unlock()
	}
	all := scrape(t, s)
	if got := value(all, "stile_lock_acquisitions_total"); got != 2*names {
		t.Errorf("%v acquisitions", got)
	}
	if got := value(all, "stile_lock_acquisitions_total", "prefix", meter.Other); got != 2*names-meter.MaxPrefixes {
		t.Errorf("%v others", got)
	}
	// There are 5 counters and gauges and 2 histograms of each prefix.
	if after := series(); after > before+7*(meter.MaxPrefixes+1) {
		t.Errorf("%d series, and %d before", after, before)
	}
}

// The names follow the conventions of Prometheus.
func TestMetricsLint(t *testing.T) {
	n, s := measured(t)
	acquire(t, n, "orders/1").Unlock()
	lint := func(text string) []promlint.Problem {
		all, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	_, body := get(t, s.URL+"/metrics")
	for _, p := range lint(body) {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if lint("# TYPE stile_waits_milliseconds counter\nstile_waits_milliseconds 1\n") == nil {
		t.Error("nothing is wrong with a bad name")
	}
}

// exported returns the names of all metrics of a node.
func exported() (all []string) {
	to := make(chan *prometheus.Desc, len(families))
	collector{}.Describe(to)
	close(to)
	name := regexp.MustCompile(`fqName: "(\w+)"`)
	for d := range to {
		all = append(all, name.FindStringSubmatch(d.String())[1])
	}
	slices.Sort(all)
	return all
}

// documented returns the names in the first column of a page's tables.
func documented(page string) (all []string) {
	for _, m := range regexp.MustCompile("(?m)^\\| `(stile_\\w+)` \\|").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return all
}

// The page documents exactly what there is.
func TestMetricsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	if want, got := exported(), documented(string(page)); !slices.Equal(want, got) {
		t.Errorf("documented are\n%q\nand exported are\n%q", got, want)
	}
	if slices.Equal(documented("| `stile_sessions` | x |"), exported()) {
		t.Error("any page will do")
	}
}

// The probes say whether and why a node cannot be used.
func TestProbes(t *testing.T) {
	n, s := measured(t)
	for _, path := range []string{"/healthz", "/readyz", "/debug/pprof/cmdline"} {
		if code, body := get(t, s.URL+path); code != http.StatusOK || body == "" {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	alone, err := node.Start(node.Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{"127.0.0.1:1"}, Metrics: true})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Kill()
	is := func(what string, h http.Handler, code int, says string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if w.Code != code || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %q", what, w.Code, w.Body)
		}
	}
	is("a node alone runs", Health(alone), http.StatusOK, "ok")
	is("a node alone", Ready(alone), http.StatusServiceUnavailable, "127.0.0.1:1")
	n.Kill()
	is("an ended node", Health(n), http.StatusServiceUnavailable, "stopped")
	is("an ended node", Ready(n), http.StatusServiceUnavailable, "ended")
	is("measurements of an ended node", Metrics(n), http.StatusOK, "stile_node_ready 0")
}
