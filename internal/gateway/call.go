package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/clock"
	"github.com/stile-lock/stile/internal/origin"
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

// A refusal answers a request that is refused.
type refusal func(w http.ResponseWriter, r *http.Request, err *connect.Error)

// protect refuses the requests of pages of other sites, and tells browsers to keep the answers
// to pages of this address.
func (g *Gateway) protect(next http.Handler, static bool, refuse refusal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin.Isolate(w.Header())
		if err := g.origin.Check(r, static); err != nil {
			refuse(w, r, otherSite.error(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bound limits calls.
func (g *Gateway) bound(next http.Handler, static bool, refuse refusal) http.Handler {
	return g.protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received := clock.Now()
		defer g.calls.Add(-1)
		if g.calls.Add(1) > maxCalls {
			refuse(w, r, manyCalls.errorf("the node answers too many calls: try again soon"))
			return
		}
		c := &call{ctx: r.Context(), received: received, control: http.NewResponseController(w)}
		if r.Body != http.NoBody { // in HTTP/1.1, the deadline would end a call without one
			_ = c.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // recorders in tests have none
		}
		c.writeWithin(maxWait + writeTimeout)
		next.ServeHTTP(w, r.WithContext(context.WithValue(c.ctx, callKey{}, c)))
	}), static, refuse)
}

// guard limits calls, and finds out who makes them.
func (g *Gateway) guard(next http.Handler, refuse refusal) http.Handler {
	return g.bound(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if callOf(r.Context()).who, err = g.identify(r); err != nil {
			refuse(w, r, noIdentity.error(err))
			return
		}
		if err := settled(r.Context(), callOf(r.Context()).who); err != nil {
			refuse(w, r, manyCalls.error(err))
			return
		}
		next.ServeHTTP(w, r)
	}), false, refuse)
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
