// Package page is the page of the console: the bundle that 'make web' makes from
// lab/web/src/console, and a server of it.
package page

import (
	"embed"
	"net/http"

	"github.com/stile-lock/stile/internal/bundle"
)

// Path is the path of the console.
const Path = "/console/"

//go:embed dist
var dist embed.FS

// policy lets the page of the console use what it was served with and the API of its
// own node, and nothing else. No text can become markup or a script, not even by a mistake of
// the page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Handler serves the page of the console below Path. It serves everyone: the page is
// the same for all, and has nothing to hide. What it shows comes from the API of a node, which
// decides who may see it.
func Handler() http.Handler {
	pages := bundle.New(dist, "dist", Path, "the console")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bundle.Isolate(w.Header(), policy)
		pages.ServeHTTP(w, r)
	})
}
