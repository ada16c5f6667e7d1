package gateway

import (
	"context"
	"encoding/json"
	"net/http"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/console"
)

// Pages are what a gateway serves to browsers beside the API: handlers by the beginning of
// their paths, such as "/console/". They see whole paths, and serve everyone, without an
// identity. The context of their requests ends when the gateway is closed.
type Pages map[string]http.Handler

// ConsolePath is the path of the console; requests for / are redirected to it, if there is one.
const ConsolePath = "/console/"

// mount adds the pages.
func (g *Gateway) mount(mux *http.ServeMux, p Pages) {
	for path, h := range p {
		mux.Handle(path, g.bound(g.living(h), true, refuseJSON))
	}
	mux.Handle(console.Path, g.guard(g.living(g.console), refuseJSON))
	if p[ConsolePath] != nil {
		mux.Handle("GET /{$}", g.protect(http.RedirectHandler(ConsolePath, http.StatusFound), true, refuseJSON))
	}
}

// living ends the context of requests when the gateway is closed.
func (g *Gateway) living(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(g.life, func() { cancel(errStopping) })()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuseJSON answers a refused request of a page.
func refuseJSON(w http.ResponseWriter, _ *http.Request, err *connect.Error) {
	status := http.StatusForbidden
	switch err.Code() {
	case connect.CodeUnauthenticated:
		status = http.StatusUnauthorized
	case connect.CodeResourceExhausted:
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Message()}) // if it fails, the caller is gone
}
