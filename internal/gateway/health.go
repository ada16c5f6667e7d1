package gateway

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/origin"
)

// Health answers whether the node runs. A node that is stuck does not answer.
func Health(n *node.Node) http.Handler {
	return probe(func() string {
		if err := n.Err(); err != nil {
			return err.Error()
		}
		return ""
	})
}

// Ready answers whether clients can acquire locks through the node now, and why not.
func Ready(n *node.Node) http.Handler { return probe(n.Unready) }

// probe answers 200, or 503 with a reason.
func probe(why func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if reason := why(); reason != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, reason)
			return
		}
		fmt.Fprintln(w, "ok")
	})
}

// probeTimeout bounds a probe, which has a connection of its own.
const probeTimeout = 5 * time.Second

// A HealthServer answers probes, and nothing else, at an address of its own: whatever happens
// at the other addresses of the node does not keep it from answering.
type HealthServer struct {
	server   *http.Server
	listener net.Listener
	served   chan struct{}
}

// ServeHealth serves probes without TLS: they are asked by machines, and reveal only whether and
// why the node cannot be used.
func ServeHealth(n *node.Node, listen string) (*HealthServer, error) {
	l, err := transport.Open(listen, nil, true)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", Health(n))
	mux.Handle("GET /readyz", Ready(n))
	guard := origin.Guard{AnyName: true}
	s := &HealthServer{listener: n.Budget().Probes(l), served: make(chan struct{})}
	s.server = &http.Server{
		ReadTimeout: probeTimeout, WriteTimeout: probeTimeout, MaxHeaderBytes: 4 << 10, ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			origin.Isolate(w.Header())
			if err := guard.Check(r, false); err != nil {
				refuse(w, r, otherSite.error(err))
				return
			}
			mux.ServeHTTP(w, r)
		}),
	}
	s.server.SetKeepAlivesEnabled(false)
	go func() {
		defer close(s.served)
		_ = s.server.Serve(s.listener) // until it is closed
	}()
	return s, nil
}

// URL returns the address as callers on this machine write it.
func (s *HealthServer) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends it at once.
func (s *HealthServer) Close() error {
	err := s.server.Close()
	<-s.served
	return err
}
