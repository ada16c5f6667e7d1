package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/stile-lock/stile/internal/live/gateway"
)

// serveHTTP serves metrics and probes of the first node, without TLS and only on this
// machine, until the function that it returns is called.
func (p *servedNodes) serveHTTP(listen string) (end func(), err error) {
	host, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("--http %s: metrics and probes are served without TLS, and only on this machine: give a loopback address, such as 127.0.0.1:7421", listen)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("cannot serve HTTP: %w: give another address with --http", err)
	}
	mux := http.NewServeMux()
	gateway.Mount(mux, p.nodes[0])
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // until Close
	p.log.Info("HTTP served", "listen", l.Addr().String())
	return func() { _ = s.Close() }, nil
}
