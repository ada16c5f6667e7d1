package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/node/clock"
)

// A call is what the handlers know about the HTTP request that they answer.
type call struct {
	ctx      context.Context // of the request; without the deadline of the client
	who      node.Caller
	received member.Instant
	control  *http.ResponseController
}

type callKey struct{}

// callOf returns the call of a context.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// writeWithin ends the call if what is sent next is not accepted within some time.
func (c *call) writeWithin(d time.Duration) {
	_ = c.control.SetWriteDeadline(time.Now().Add(d)) // without it, the connection's own timeout holds
}

// guard limits calls, and finds out who makes them.
func (g *Gateway) guard(next http.Handler) http.Handler {
	refuse := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received := clock.Now()
		defer g.calls.Add(-1)
		if g.calls.Add(1) > maxCalls {
			_ = refuse.Write(w, r, manyCalls.errorf("the node answers too many calls: try again soon"))
			return
		}
		if err := g.fits(r); err != nil {
			_ = refuse.Write(w, r, badRequest.error(err))
			return
		}
		who, err := g.identify(r)
		if err != nil {
			_ = refuse.Write(w, r, noIdentity.error(err))
			return
		}
		c := &call{ctx: r.Context(), who: who, received: received, control: http.NewResponseController(w)}
		_ = c.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // recorders in tests have none
		c.writeWithin(maxWait + writeTimeout)
		next.ServeHTTP(w, r.WithContext(context.WithValue(c.ctx, callKey{}, c)))
	})
}

// fits refuses plain requests for another host, if only this machine can connect: a page of a
// web site could make a browser send them, after it has changed the address of its own
// name to that of this machine.
func (g *Gateway) fits(r *http.Request) error {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if g.local && r.TLS == nil && host != "" && host != "localhost" && net.ParseIP(host) == nil {
		return fmt.Errorf("the request is for host %q: use 127.0.0.1 or localhost", r.Host)
	}
	return nil
}

// identify returns who makes a request: the owner of a bearer token, or of a certificate.
func (g *Gateway) identify(r *http.Request) (node.Caller, error) {
	who, err := node.Caller{From: r.RemoteAddr}, error(nil)
	bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case ok && r.TLS == nil && !g.local:
		err = errors.New("a token over plain HTTP can be overheard: use TLS")
	case ok:
		who.Identity, err = g.node.Tokens().Find(bearer, time.Now())
	case r.TLS == nil:
	case len(r.TLS.PeerCertificates) == 0:
		err = errors.New("the request does not say who makes it: give a client certificate ('stile cert' creates them) or a token ('stile token' does)")
	default:
		return node.CallerOf(r.TLS.PeerCertificates, r.RemoteAddr)
	}
	return who, err
}
