// Package web is the page of the lab: its sources in src, the bundle that 'make
// web' makes of them in dist, and a server of both that bundle and the calls that
// the page makes.
package web

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/world/calls"
	"github.com/stile-lock/stile/web/wire"
)

// Bundle is the page, in its folder dist.
//
//go:embed dist
var Bundle embed.FS

// A Caller does the calls of the page.
type Caller = wire.Caller

// What a call may cost.
const (
	maxBody     = calls.MaxBody                // bytes that the page may send
	callTime    = calls.CallTime + time.Minute // until a call is told to end that has not ended by itself
	streamTime  = calls.LongTime + time.Minute // until a stream is
	contentJSON = "application/json"
)

//go:embed src/policy.txt
var pagePolicy string

// policy lets the page use what it was served with, and nothing else. Who may frame
// it can be said by a server alone, and so is not in the file.
var policy = strings.TrimSpace(pagePolicy) + "; frame-ancestors 'none'"

// Handler serves the page and, below /api/, its calls: POST api/NAME is answered by
// lines of JSON.
//
// It answers only who addresses it as localhost or by the IP address at which it
// was reached, or by one of the names given, and no page but its own: whoever is
// led to an evil page by a browser on this machine must not give it the lab.
func Handler(caller Caller, names ...string) http.Handler {
	return HandlerOf(Bundle, caller, names...)
}

// HandlerOf is Handler of another bundle.
func HandlerOf(bundle fs.FS, caller Caller, names ...string) http.Handler {
	s := &server{calls: caller, names: names, maxBody: maxBody, callTime: callTime, streamTime: streamTime}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{name}", s.call)
	mux.Handle("/", newFiles(bundle))
	return s.guard(mux)
}
