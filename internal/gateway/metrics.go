package gateway

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/process"
	frames "github.com/stile-lock/stile/internal/session"
)

// Metrics serves the measurements of a node, in the formats of Prometheus. The node must
// have been started with Config.Metrics.
func Metrics(n *node.Node) http.Handler {
	return promhttp.HandlerFor(registry(n), promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// registry returns everything that is measured.
func registry(n *node.Node) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{n}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// A collector shows the measurements of a node to Prometheus.
type collector struct{ n *node.Node }

// A family is a metric: its name, and how its values are found.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	get  func(x *node.Metrics, put putter)
}

// A putter adds a value with its labels.
type putter func(value any, labels ...string)

// byLock are the labels of what is measured by prefix.
var byLock = []string{"algorithm", "prefix"}

// families are all metrics, in the order of docs/monitoring.md.
var families = []family{
	histogram("lock_wait_seconds", "Time from a request to its acquisition.", byLock, func(l *node.LockMetrics) meter.Histogram { return l.Wait }),
	histogram("lock_hold_seconds", "Time from an acquisition to its end.", byLock, func(l *node.LockMetrics) meter.Histogram { return l.Hold }),
	ofLocks("lock_acquisitions_total", "Acquisitions.", prometheus.CounterValue, func(l *node.LockMetrics) float64 { return float64(l.Acquired) }),
	counter("lock_handoffs_total", "Acquisitions by requests that waited until the lock was released, by the node where it was.", []string{"algorithm", "prefix", "from"}, func(x *node.Metrics, put putter) {
		for _, l := range x.Locks {
			put(l.Local, l.Algorithm, l.Prefix, "local")
			put(l.Remote, l.Algorithm, l.Prefix, "remote")
		}
	}),
	ofLocks("locks_held", "Locks that are held through this node.", prometheus.GaugeValue, func(l *node.LockMetrics) float64 { return float64(l.Held) }),
	ofLocks("lock_requests_waiting", "Requests that wait at this node.", prometheus.GaugeValue, func(l *node.LockMetrics) float64 { return float64(l.Waiting) }),
	gauge("lock_queue_longest", "Largest number of requests that wait at this node for the same lock.", func(x *node.Metrics) float64 { return float64(x.Longest) }),
	gauge("locks_known", "Locks that this node has heard of since the view began.", func(x *node.Metrics) float64 { return float64(x.Known) }),
	counter("lock_losses_total", "Locks that their holders have lost, by cause.", []string{"cause"}, func(x *node.Metrics, put putter) {
		for i, name := range meter.LossNames() {
			put(x.Lost[i], name)
		}
	}),
	counter("lock_refusals_total", "Requests without waiting that were refused, by reason.", []string{"reason"}, func(x *node.Metrics, put putter) {
		put(x.Busy, "busy")
		put(x.Recovering, "recovering")
	}),
	counter("lock_claims_total", "Locks that clients have moved to this node from another one.", nil, func(x *node.Metrics, put putter) { put(x.Claimed) }),

	gauge("sessions", "Sessions of clients.", func(x *node.Metrics) float64 { return float64(x.Sessions) }),
	gauge("client_connections", "Connections of clients.", func(x *node.Metrics) float64 { return float64(x.Connections) }),

	counter("client_messages_total", "Messages between this node and its clients, by direction and kind.", []string{"direction", "kind"}, func(x *node.Metrics, put putter) {
		for i, name := range frames.KindNames() {
			if name = strings.ToLower(name); frames.Kind(i).OfNodes() {
				put(x.ToClients[i], "sent", name)
			} else {
				put(x.FromClients[i], "received", name)
			}
		}
	}),
	counter("node_messages_total", "Messages between this node and others, by direction and kind.", []string{"direction", "kind"}, func(x *node.Metrics, put putter) {
		names := process.MessageNames()
		both(put, x.Totals.Sent[:], x.Totals.Received[:], names[:])
	}),
	counter("lock_messages_total", "Messages about locks between this node and other members, by direction and kind; several may travel in one message between nodes.", []string{"direction", "kind"}, func(x *node.Metrics, put putter) {
		names := member.FrameNames()
		both(put, x.Traffic.Sent[:], x.Traffic.Received[:], names[:])
	}),

	gauge("node_ready", "Whether clients can acquire locks through this node now.", func(x *node.Metrics) float64 { return truth(x.Ready) }),
	counter("view_changes_total", "Views that have begun, by cause.", []string{"cause"}, func(x *node.Metrics, put putter) {
		for c := range meter.Causes {
			put(x.Views[c], c.String())
		}
	}),
	counter("evictions_total", "How often the cluster has evicted this node.", nil, func(x *node.Metrics, put putter) { put(x.Evicted) }),
	gauge("view_epoch", "Number of the view.", func(x *node.Metrics) float64 { return float64(x.Epoch) }),
	gauge("view_members", "Members of the view.", func(x *node.Metrics) float64 { return float64(x.Members) }),
	gauge("view_voters", "Voters of the view.", func(x *node.Metrics) float64 { return float64(x.Voters) }),
	gauge("view_ghosts", "Evicted members whose leases may still run.", func(x *node.Metrics) float64 { return float64(x.Ghosts) }),
	gauge("view_leader", "Whether this node leads the view service.", func(x *node.Metrics) float64 { return truth(x.Leads) }),

	gauge("lease_seconds", "Duration of a lease.", func(x *node.Metrics) float64 { return x.Lease.Seconds() }),
	gauge("lease_left_seconds", "Time left of the lease of this node.", func(x *node.Metrics) float64 { return x.Left.Seconds() }),
	{descOf("lease_margin_seconds", "Least time that was left of the lease when it was renewed, in the last one to two minutes.", nil), prometheus.GaugeValue, func(x *node.Metrics, put putter) {
		if x.Margin >= 0 {
			put(x.Margin.Seconds())
		}
	}},
	counter("audit_lines_lost_total", "Lines that could not be written to the audit file.", nil, func(x *node.Metrics, put putter) { put(x.AuditLost) }),
	counter("lease_lapses_total", "How often the lease expired before it was renewed.", nil, func(x *node.Metrics, put putter) { put(x.Lapses) }),

	{descOf("disk_save_seconds", "Time until a save was durable, by what was saved.", []string{"what"}), prometheus.UntypedValue, func(x *node.Metrics, put putter) {
		put(x.SaveLog, "log")
		put(x.SavePast, "past")
	}},

	{descOf("build_info", "The program.", []string{"version", "revision", "goversion"}), prometheus.GaugeValue, func(_ *node.Metrics, put putter) { put(1.0, build()...) }},
}

func descOf(name, help string, labels []string) *prometheus.Desc {
	return prometheus.NewDesc("stile_"+name, help, labels, nil)
}

func counter(name, help string, labels []string, get func(*node.Metrics, putter)) family {
	return family{descOf(name, help, labels), prometheus.CounterValue, get}
}

func gauge(name, help string, get func(*node.Metrics) float64) family {
	return family{descOf(name, help, nil), prometheus.GaugeValue, func(x *node.Metrics, put putter) { put(get(x)) }}
}

func ofLocks(name, help string, kind prometheus.ValueType, get func(*node.LockMetrics) float64) family {
	return family{descOf(name, help, byLock), kind, func(x *node.Metrics, put putter) {
		for i := range x.Locks {
			l := &x.Locks[i]
			put(get(l), l.Algorithm, l.Prefix)
		}
	}}
}

func histogram(name, help string, labels []string, get func(*node.LockMetrics) meter.Histogram) family {
	return family{descOf(name, help, labels), prometheus.UntypedValue, func(x *node.Metrics, put putter) {
		for i := range x.Locks {
			l := &x.Locks[i]
			put(get(l), l.Algorithm, l.Prefix)
		}
	}}
}

// both puts what was sent and what was received, by kind.
func both(put putter, sent, received []uint64, names []string) {
	for i, name := range names {
		name = strings.ToLower(name)
		put(sent[i], "sent", name)
		put(received[i], "received", name)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, f := range families {
		to <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	x := c.n.Metrics()
	for _, f := range families {
		f.get(&x, func(value any, labels ...string) {
			switch v := value.(type) {
			case float64:
				to <- prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...)
			case uint64:
				to <- prometheus.MustNewConstMetric(f.desc, f.kind, float64(v), labels...)
			case meter.Histogram:
				buckets, n := map[float64]uint64{}, uint64(0)
				for i, most := range meter.Bounds() {
					n += v.Buckets[i]
					buckets[time.Duration(most).Seconds()] = n
				}
				to <- prometheus.MustNewConstHistogram(f.desc, v.Count(), time.Duration(v.Sum).Seconds(), buckets, labels...)
			}
		})
	}
}

// build returns the version of the program, the commit that it was built from, and that of
// Go.
func build() []string {
	version, revision := "(devel)", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	return []string{version, revision, runtime.Version()}
}
