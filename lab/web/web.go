// Package web is the page of the lab: its sources in src, the bundle that 'make web' makes
// from them in dist, and a server that also answers the calls that the page makes. The
// sources of the console's page, which shares code with it, are in src/console.
package web

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/bundle"
	"github.com/stile-lock/stile/internal/origin"
	"github.com/stile-lock/stile/lab/internal/calls"
	"github.com/stile-lock/stile/lab/web/internal/wire"
)

// Bundle has the page in its folder dist.
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
// say which pages may frame it, so that part is not in the file.
func policy(frames []string) string {
	ancestors := "'none'"
	if len(frames) > 0 {
		ancestors = strings.Join(frames, " ")
	}
	return strings.TrimSpace(pagePolicy) + "; frame-ancestors " + ancestors
}

// Options say how the lab may be reached.
type Options struct {
	Names  []string // names by which it may be addressed, besides localhost and IP addresses
	Frames []string // origins whose pages may show it in a frame: see CheckOrigin
}

// CheckOrigin returns an error that says why a text is not the origin of a page.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.ContainsAny(origin, " ;,*'") {
		return fmt.Errorf("%q is not an origin: give a scheme and a host, such as https://example.com", origin)
	}
	return nil
}

// Handler serves the page and, below /api/, its calls: POST api/NAME is answered by lines
// of JSON.
//
// It answers only requests that are addressed to localhost, to an IP address or to one of the
// names given, and that come from no page but its own: a malicious page that is open in a
// browser on this machine must not reach the lab.
func Handler(caller Caller, names ...string) http.Handler {
	return HandlerOf(Bundle, caller, Options{Names: names})
}

// HandlerOf is Handler with another bundle, or with other options.
func HandlerOf(files fs.FS, caller Caller, o Options) http.Handler {
	s := &server{calls: caller, origin: origin.Guard{Names: o.Names}, policy: policy(o.Frames), maxBody: maxBody, callTime: callTime, streamTime: streamTime}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{name}", s.call)
	mux.Handle("/", bundle.New(files, "dist", "/", "the lab"))
	return s.guard(mux)
}
