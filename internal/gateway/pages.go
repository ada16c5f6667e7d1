package gateway

import (
	"context"
	"net/http"
)

// ConsolePath is the path of the console; requests for / are redirected to it, if there is one.
const ConsolePath = "/console/"

// living ends the context of requests when the gateway is closed.
func (g *Gateway) living(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(g.life, func() { cancel(errStopping) })()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
