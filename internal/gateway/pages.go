package gateway

import (
	"context"
	"encoding/json"
	"net/http"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/console"
	"github.com/stile-lock/stile/internal/node/rights"
)

// Pages are what a gateway serves to browsers beside the API. Handlers see whole paths. A
// handler that writes for a long time extends its write deadline with
// http.NewResponseController; the context of its requests ends when the gateway is closed.
type Pages struct {
	// Static are handlers by the beginning of their paths, such as "/console/". They serve
	// everyone, without an identity.
	Static map[string]http.Handler
	// Tools are handlers by the beginning of their paths, such as "/lab/api/". They serve
	// callers who may see the status of the node.
	Tools map[string]http.Handler
}

// ConsolePath is the path of the console; requests for / are redirected to it, if there is one.
const ConsolePath = "/console/"

// mount adds the pages.
func (g *Gateway) mount(mux *http.ServeMux, p *Pages) {
	for path, h := range p.Static {
		mux.Handle(path, g.bound(g.living(h), true, refuseJSON))
	}
	for path, h := range p.Tools {
		mux.Handle(path, g.guard(g.lookers(path, g.living(h)), refuseJSON))
	}
	mux.Handle(console.Path, g.guard(g.living(g.console), refuseJSON))
	if p.Static[ConsolePath] != nil {
		mux.Handle("GET /{$}", g.protect(http.RedirectHandler(ConsolePath, http.StatusFound), true, refuseJSON))
	}
}

// lookers serves only callers who may see the status of the node.
func (g *Gateway) lookers(what string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.node.Admit(callOf(r.Context()).who, what, rights.Look, ""); err != nil {
			refuseJSON(w, r, isDenied.error(err))
			return
		}
		next.ServeHTTP(w, r)
	})
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
