package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/console/page"
	"github.com/stile-lock/stile/internal/gateway"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/terminal"
)

// noHTTP is the value of --http for nodes that do not serve HTTP.
const noHTTP = "off"

// httpFlag takes a host and a port, or off.
func httpFlag(to *string) pflag.Value {
	return terminal.NewFlag(to, "HOST:PORT", func(s string) (string, error) {
		if s == "" || s == noHTTP {
			return noHTTP, nil
		}
		return s, terminal.CheckAddress(s)
	}, func(s string) string { return s })
}

// httpAddresses returns where the nodes of this process serve HTTP; empty for those that do
// not. Ports are consecutive. If --http is not given, they follow the usual ports of the
// nodes, on an address that only this machine can reach. Nodes at other ports may be several
// on a machine, and need --http to serve it.
func httpAddresses(listen, http string, nodes int) ([]string, error) {
	all := make([]string, nodes)
	if http == "" {
		_, usual, _ := net.SplitHostPort(node.DefaultListen)
		host, port, err := net.SplitHostPort(listen)
		if err != nil || port != usual {
			return all, nil
		}
		if !net.ParseIP(host).IsLoopback() {
			host, _, _ = net.SplitHostPort(gateway.DefaultListen)
		}
		first, _ := strconv.Atoi(usual)
		http = net.JoinHostPort(host, strconv.Itoa(first+nodes))
	}
	if http == noHTTP {
		return all, nil
	}
	for i := range all {
		var err error
		if all[i], err = nthAddress("http", http, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// healthAddresses returns where the nodes of this process serve probes; empty for none.
func healthAddresses(health string, nodes int) (all []string, err error) {
	all = make([]string, nodes)
	for i := range all {
		if health == "" {
			break
		}
		if all[i], err = nthAddress("health", health, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// serveHealth serves the probes of a node.
func (p *servedNodes) serveHealth(n *node.Node, listen string) error {
	s, err := gateway.ServeHealth(n, listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use, so node %s cannot serve probes there: give another address with --health", listen, n.Name())
	}
	if err != nil {
		return fmt.Errorf("node %s cannot serve probes: %w", n.Name(), err)
	}
	p.probes = append(p.probes, s)
	return nil
}

// serveHTTP serves the API of a node, and its pages.
func (p *servedNodes) serveHTTP(n *node.Node, c gateway.Config) error {
	if p.page == nil {
		p.page = page.Handler()
	}
	c.Page = p.page
	g, err := gateway.New(n, c)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use, so node %s cannot serve HTTP there: give another address with --http, such as 127.0.0.1:7431, or --http off", c.Listen, n.Name())
	}
	if err != nil {
		return fmt.Errorf("node %s cannot serve HTTP: %w", n.Name(), err)
	}
	p.gates = append(p.gates, g)
	host, _, _ := net.SplitHostPort(c.Listen)
	if ip, err := netip.ParseAddr(host); c.TLS == nil && (host == "" || err == nil && ip.IsUnspecified()) {
		p.log.Warn("--insecure with HTTP on all addresses: anyone who can connect may do everything: give certificates ('stile cert' creates them), or --http with one address", "listen", c.Listen)
	}
	return nil
}
