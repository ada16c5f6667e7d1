package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/stile-lock/stile/web/internal/wire"
)

// guard rejects what does not come from our own page, and tells the browser to keep the
// page to itself.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", s.policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !s.ours(r):
			refuse(w, r, http.StatusForbidden, fmt.Errorf("%q is not a name of this server: open it as localhost, or by its IP address", r.Host))
		case foreign(r):
			refuse(w, r, http.StatusForbidden, errors.New("this request comes from another site's page: open the lab's own address"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ours reports whether a request names this server. A name that an attacker has made
// resolve to it, by DNS, is not one of its names.
func (s *server) ours(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || slices.Contains(s.names, host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().WithZone("") == ip.Unmap()
}

// foreign reports whether the page of another site makes the request. Following a link to
// here does no harm; making a call does. Clients other than browsers say nothing about
// sites.
func foreign(r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin != "http://"+r.Host && origin != "https://"+r.Host
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin"
}

// refuse answers a rejected request: to the page, in the form of every error.
func refuse(w http.ResponseWriter, r *http.Request, status int, why error) {
	text, kind := why.Error(), "text/plain; charset=utf-8"
	if strings.HasPrefix(r.URL.Path, "/api/") {
		text, kind = string(wire.Error(why)), contentJSON
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
