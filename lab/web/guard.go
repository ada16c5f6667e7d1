package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stile-lock/stile/internal/bundle"
	"github.com/stile-lock/stile/lab/web/internal/wire"
)

// guard rejects what does not come from our own page.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bundle.Isolate(w.Header(), s.policy)
		if err := s.origin.Check(r, !isCall(r)); err != nil {
			refuse(w, r, http.StatusForbidden, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isCall reports whether a request is a call of the page.
func isCall(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// refuse answers a rejected request: to the page, in the form of every error.
func refuse(w http.ResponseWriter, r *http.Request, status int, why error) {
	text, kind := why.Error(), "text/plain; charset=utf-8"
	if isCall(r) {
		text, kind = string(wire.Error(why)), contentJSON
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
