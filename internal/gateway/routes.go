package gateway

import (
	"net/http"
	"strings"

	"github.com/stile-lock/stile/internal/console"
	"github.com/stile-lock/stile/internal/node/rights"
)

// A need is what a caller must have to be let in by a route. The zero value is none of them: a
// route that leaves it out cannot be served.
type need uint8

const (
	aPage      need = iota + 1 // nothing, and links on pages of other sites may lead here
	nothing                    // nothing
	identity                   // a certificate or a token that is accepted
	ownSession                 // identity; the method finds only sessions of this identity
	rightOn                    // identity; the method demands a right on the name in its request
	lockAny                    // the right to lock any name
	readAny                    // the right to read any name
	readAll                    // the right to read all names
	adminAll                   // the right to administer all names
	profile                    // adminAll; without TLS, also to be on this machine
)

// open reports whether callers need no identity.
func (n need) open() bool { return n == aPage || n == nothing }

// demands are the rights that needs include: rights.Attach and rights.Look on any name, and the
// others on all names.
var demands = map[need]rights.Action{
	lockAny:  rights.Attach,
	readAny:  rights.Look,
	readAll:  rights.Read,
	adminAll: rights.Administer,
	profile:  rights.Administer,
}

// A share is what callers share, for the calls of a route beside all calls.
type share uint8

const (
	calls     share = iota // in progress
	bodies                 // bytes of requests, until they are read
	holds                  // streams that hold or wait for a lock
	watches                // streams that watch locks or leaders
	views                  // streams of the console
	strangers              // calls of those who need no identity
	scrapes                // of measurements
	profiles               // of the process
)

// shares are the sizes of the pools, and what is said when there is no place.
var shares = [...]struct {
	most int
	what string
}{
	calls:     {16_384, "calls"},
	bodies:    {32 << 20, "requests that are not read yet"},
	holds:     {8192, "streams"},
	watches:   {64, "streams that watch locks or leaders"},
	views:     {256, "views of the console"},
	strangers: {1024, "requests for pages and probes"},
	scrapes:   {8, "scrapes of measurements"},
	profiles:  {2, "profiles"},
}

// A route is what is served at a path.
type route struct {
	pattern string // of http.ServeMux
	need    need
	share   share
	what    string // in the audit log
}

// routes are all that a gateway can serve. docs/security.md lists them, which a test compares.
var routes = []route{
	{"POST /stile.v1.Locks/OpenSession", lockAny, calls, "open-session"},
	{"POST /stile.v1.Locks/KeepAlive", ownSession, calls, "keep-alive"},
	{"POST /stile.v1.Locks/CloseSession", ownSession, calls, "close-session"},
	{"POST /stile.v1.Locks/Acquire", ownSession, calls, "acquire"},
	{"POST /stile.v1.Locks/TryAcquire", ownSession, calls, "try-acquire"},
	{"POST /stile.v1.Locks/Release", ownSession, calls, "release"},
	{"POST /stile.v1.Locks/SetValue", ownSession, calls, "set-value"},
	{"POST /stile.v1.Locks/Begin", ownSession, calls, "begin"},
	{"POST /stile.v1.Locks/Commit", ownSession, calls, "commit"},
	{"POST /stile.v1.Locks/Abort", ownSession, calls, "abort"},
	{"POST /stile.v1.Locks/Retry", ownSession, calls, "retry"},
	{"POST /stile.v1.Locks/Hold", lockAny, holds, "hold"},

	{"POST /stile.v1.Cluster/Status", readAny, calls, "status"},
	{"POST /stile.v1.Cluster/Members", readAny, calls, "members"},
	{"POST /stile.v1.Cluster/ListLocks", readAny, calls, "locks"},
	{"POST /stile.v1.Cluster/WatchLocks", readAny, watches, "watch-locks"},
	{"POST /stile.v1.Cluster/Leader", rightOn, calls, "leader"},
	{"POST /stile.v1.Cluster/ObserveLeader", rightOn, watches, "observe-leader"},
	{"POST /stile.v1.Cluster/ForceRelease", rightOn, calls, "force-release"},
	{"POST /stile.v1.Cluster/Evict", adminAll, calls, "evict"},
	{"POST /stile.v1.Cluster/Choose", adminAll, calls, "choose"},
	{"POST /stile.v1.Cluster/Leave", adminAll, calls, "leave"},
	{"POST /stile.v1.Cluster/MoveSession", adminAll, calls, "move-session"},

	{"GET /metrics", readAll, scrapes, "metrics"},
	{"GET " + profilesPath, profile, profiles, "profile"},
	{"GET /healthz", nothing, strangers, "probe"},
	{"GET /readyz", nothing, strangers, "probe"},

	{"GET " + console.Path + "hello", identity, calls, "console"},
	{"GET " + console.Path + "stream", readAny, views, "console"},
	{console.Path, identity, calls, "console"},
	{ConsolePath, aPage, strangers, "page"},
	{"GET /{$}", aPage, strangers, "page"},
}

// nowhere is the route of requests for paths and methods that are not served.
var nowhere = route{"", identity, calls, "unknown path"}

// A mux serves declared routes only.
type mux struct {
	http.ServeMux
	routes map[string]*route // that are served, by their patterns
}

// serve serves the declared routes that begin with a prefix: there must be some.
func (m *mux) serve(prefix string, h http.Handler) {
	before := len(m.routes)
	for i := range routes {
		r := &routes[i]
		if strings.HasPrefix(r.pattern, prefix) && m.routes[r.pattern] == nil {
			m.add(r, h)
		}
	}
	if len(m.routes) == before {
		panic("no route is declared that begins with " + prefix)
	}
}

// add serves a route, which must say what it needs.
func (m *mux) add(r *route, h http.Handler) {
	if r.need == 0 || r.what == "" {
		panic("the route " + r.pattern + " does not say what it needs")
	}
	m.routes[r.pattern] = r
	m.ServeMux.Handle(r.pattern, h)
}

// find returns what serves a request, and its route.
func (m *mux) find(r *http.Request) (http.Handler, *route) {
	h, pattern := m.ServeMux.Handler(r)
	if at := m.routes[pattern]; at != nil {
		return h, at
	}
	return h, &nowhere
}
