package gateway

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
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

// Profiles serves profiles of the process to administrators.
func Profiles() http.Handler {
	all := profiles()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := mayProfile(r, callOf(r.Context()).who.Identity); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		all.ServeHTTP(w, r)
	})
}

// mayProfile returns why a caller must not see profiles. With TLS it must be an
// administrator. Without, it must be on this machine.
func mayProfile(r *http.Request, who cert.Identity) error {
	if r.TLS == nil {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsLoopback() {
			return nil
		}
		return errors.New("without TLS, profiles are served only to callers on the same machine: connect from there, or use TLS and the certificate of an administrator")
	}
	if who.Kind != cert.IsAdmin {
		return fmt.Errorf("profiles are served only to administrators, and the caller is %v: use the certificate of an administrator", who)
	}
	return nil
}
