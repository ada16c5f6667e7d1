package gateway

import (
	"net/http"

	"github.com/stile-lock/stile/internal/live/node"
)

// Mount adds what operators and their tools ask for to a mux: measurements, probes and
// profiles. The node must have been started with Config.Metrics.
func Mount(mux *http.ServeMux, n *node.Node) {
	mux.Handle("GET /metrics", Metrics(n))
	mux.Handle("GET /healthz", Health(n))
	mux.Handle("GET /readyz", Ready(n))
	mux.Handle("GET /debug/pprof/", Profiles())
}
