// Package web is the page of the lab: its sources in src, the bundle that 'make web'
// makes from them in dist, and a server for both that bundle and the calls that the page
// makes.
package web

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/world/calls"
	"github.com/stile-lock/stile/web/internal/wire"
)

// Bundle is the page, in its folder dist.
//
//go:embed dist
var Bundle embed.FS

// A Caller answers the calls of the page.
type Caller = wire.Caller

// Limits of a call.
const (
	maxBody     = calls.MaxBody                // maximum size of a request from the page, in bytes
	callTime    = calls.CallTime + time.Minute // time until a call that has not ended by itself is cancelled
	streamTime  = calls.LongTime + time.Minute // time until a stream is cancelled
	contentJSON = "application/json"
)

//go:embed src/policy.txt
var pagePolicy string

// policy lets the page use what it was served with, and nothing else. Only a server can
// say who may frame the page, so that part is not in the file.
var policy = strings.TrimSpace(pagePolicy) + "; frame-ancestors 'none'"

// Handler serves the page and, below /api/, its calls: POST api/NAME is answered by lines
// of JSON.
//
// It answers only requests that are addressed to localhost, to the IP address at which
// they arrived or to one of the names given, and that come from no page but its own: a
// malicious page that is open in a browser on this machine must not reach the lab.
func Handler(caller Caller, names ...string) http.Handler {
	return HandlerOf(Bundle, caller, names...)
}

// HandlerOf is Handler with another bundle.
func HandlerOf(bundle fs.FS, caller Caller, names ...string) http.Handler {
	s := &server{calls: caller, names: names, maxBody: maxBody, callTime: callTime, streamTime: streamTime}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{name}", s.call)
	mux.Handle("/", newFiles(bundle))
	return s.guard(mux)
}
