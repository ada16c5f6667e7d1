// Package origin keeps pages of other sites away from an HTTP address.
//
// A browser adds the authority of its user to the requests of every page: a client certificate,
// or merely that it runs on the machine itself. So a server that relies on either must refuse
// the requests of all pages but its own. Browsers say which page makes a request, in Origin and
// Sec-Fetch-Site. Other clients send neither, and are not affected.
//
// That leaves pages that browsers take for the server's own: a site can change the address of
// its name to that of a server without TLS. So such a server refuses names that it does not
// know. An IP address is not a name whose address could be changed.
package origin

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Isolate tells the browser to keep an answer to the pages of the server itself.
func Isolate(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// A Guard decides which requests are refused.
type Guard struct {
	// Names are the names by which the server may be addressed, in lower case, besides
	// localhost and IP addresses.
	Names []string
	// AnyName allows other names, too, for a server that does not know all of its own: only a
	// request of a page without TLS must use one of Names.
	AnyName bool
}

// errForeign is why the request of a page is refused.
var errForeign = errors.New("the request comes from another site's page: open the page of this address itself")

// Check returns why a request must be refused, or nil. A request for a static page, which
// reveals nothing and changes nothing, may follow a link on any page.
func (g *Guard) Check(r *http.Request, static bool) error {
	switch {
	case !g.named(r.Host) && !(g.AnyName && !plain(r)):
		return fmt.Errorf("%q is not a name of this server: use localhost or its IP address", r.Host)
	case static && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate":
		return nil
	case foreign(r):
		return errForeign
	}
	return nil
}

// named reports whether a request names the server, by its Host. Clients of HTTP/1.0 name none.
func (g *Guard) named(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	_, err := netip.ParseAddr(host)
	return err == nil || host == "" || host == "localhost" || slices.Contains(g.Names, host)
}

// plain reports whether the page that makes a request was loaded without TLS.
func plain(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Origin"), func(o string) bool { return strings.HasPrefix(strings.ToLower(o), "http://") })
}

// foreign reports whether the page of another site makes a request. A browser that the user
// tells to open an address says that no page does.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none": // the browser may be old, or the address one that it does not trust
	default:
		return true
	}
	origin := r.Header.Values("Origin")
	return slices.ContainsFunc(origin, func(o string) bool {
		return !strings.EqualFold(o, "http://"+r.Host) && !strings.EqualFold(o, "https://"+r.Host)
	})
}
