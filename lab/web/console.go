package web

import "net/http"

// ConsolePath is the path of the console.
const ConsolePath = "/console/"

// consolePolicy lets the page of the console use what it was served with and the API of its
// own node, and nothing else. No text can become markup or a script, not even by a mistake of
// the page.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Console serves the page of the console below ConsolePath. It serves everyone: the page is
// the same for all, and has nothing to hide. What it shows comes from the API of a node, which
// decides who may see it.
func Console() http.Handler {
	pages := newFiles(Bundle, "dist/console", ConsolePath, "the console")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isolate(w.Header(), consolePolicy)
		pages.ServeHTTP(w, r)
	})
}
