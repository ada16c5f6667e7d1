package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// A Cluster is what the console sees of a cluster, through a node.
type Cluster interface {
	// Status returns the status of the node.
	Status() node.Status
	// May returns what a caller may do, by the rules of the node at present. Its error says
	// why the caller may not look at the node at all.
	May(who node.Caller) (Rights, error)
	// Ask asks a member, and decodes its answer. The node asks itself as the caller, and others
	// as itself: the caller must be allowed to know the answer.
	Ask(ctx context.Context, who node.Caller, m node.MemberInfo, what uint64, about []byte, to any) error
	// Locks asks all members for a page of locks, of those that the caller may read.
	Locks(ctx context.Context, who node.Caller, q node.LockQuery) (page *survey.Locks, next string, err error)
}

// Rights are what a caller may do.
type Rights struct {
	Reads       func(name string) bool // see a lock
	Administers func(name string) bool // administer a lock, or without a name the cluster
}

// A Console serves the views of a cluster.
type Console struct {
	cluster Cluster
	caller  func(*http.Request) node.Caller
	hub     *hub
	nodes   addresses
}

// New returns the console of a cluster, for callers as the function identifies them.
func New(c Cluster, caller func(*http.Request) node.Caller) *Console {
	return &Console{cluster: c, caller: caller, hub: newHub()}
}

// Close ends all streams.
func (c *Console) Close() { c.hub.close() }

// Path is where the handler is mounted.
const Path = "/console/api/"

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve := map[string]http.HandlerFunc{Path + "hello": c.hello, Path + "stream": c.stream}[r.URL.Path]
	switch {
	case serve == nil:
		Refuse(w, http.StatusNotFound, fmt.Errorf("there is nothing at %.100q: want %shello or %sstream", r.URL.Path, Path, Path))
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		Refuse(w, http.StatusMethodNotAllowed, fmt.Errorf("method %.20q: want GET", r.Method))
	default:
		serve(w, r)
	}
}

// Refuse answers with an error, as JSON.
func Refuse(w http.ResponseWriter, status int, why error) {
	answer(w, status, map[string]string{"error": why.Error()})
}

func answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	head(w, "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the reader has gone
}

func head(w http.ResponseWriter, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// refused answers with the status that fits an error.
func refused(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	switch {
	case errors.Is(err, errParameter):
		status = http.StatusBadRequest
	case errors.Is(err, lock.ErrDenied):
		status = http.StatusForbidden
	}
	Refuse(w, status, err)
}

// errParameter is the error for parameters that are not understood.
var errParameter = errors.New("bad request")

func badParameter(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errParameter, fmt.Errorf(format, args...))
}

// A viewer is a view that streams can show.
type viewer struct {
	parameters []string
	every      time.Duration // at least this long from look to look
	check      func(q url.Values) error
	begin      func(c *Console, who node.Caller, q url.Values) look
}

const (
	usually = time.Second
	quickly = time.Second / 4
)

// viewers returns the views by their names.
func viewers() map[string]viewer {
	return map[string]viewer{
		"overview":  {nil, usually, nil, beginOverview},
		"locks":     {[]string{"prefix", "sort", "after"}, usually, checkLocks, beginLocks},
		"lock":      {[]string{"name"}, usually, checkName, beginLock},
		"graph":     {nil, usually, nil, beginGraph},
		"elections": {nil, usually, nil, beginElections},
		"trail":     {[]string{"name", "seconds"}, quickly, checkTrail, beginTrail},
	}
}

// topicOf reads what a stream is asked to show.
func topicOf(q url.Values) (v viewer, query string, err error) {
	all := viewers()
	name := q.Get("view")
	v, ok := all[name]
	if !ok {
		return v, "", badParameter("view %.50q: want %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	for k, x := range q {
		switch {
		case k != "view" && !slices.Contains(v.parameters, k):
			return v, "", badParameter("parameter %.50q: view %s has %s", k, name, cmp.Or(strings.Join(v.parameters, ", "), "none"))
		case len(x) > 1:
			return v, "", badParameter("parameter %.50q is given %d times", k, len(x))
		}
	}
	if v.check != nil {
		err = v.check(q)
	}
	return v, q.Encode(), err
}

// mayLook returns why a caller may not see a view, or nil.
func (c *Console) mayLook(who node.Caller, q url.Values) error {
	may, err := c.cluster.May(who)
	name := q.Get("name")
	if err == nil && name != "" && !may.Reads(name) {
		err = fmt.Errorf("%w: %v may not read %.100q", lock.ErrDenied, who.Identity, name)
	}
	return err
}

const (
	aliveEvery   = 5 * time.Second
	writeTimeout = 30 * time.Second
)

// stream serves a view.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	who := c.caller(r)
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		refused(w, badParameter("%w", err))
		return
	}
	v, query, err := topicOf(q)
	if err == nil {
		err = c.mayLook(who, q)
	}
	var s *stream
	if err == nil {
		s, err = c.hub.open(who, query, v.every, func() look { return c.guarded(who, q, v.begin(c, who, q)) })
	}
	if err != nil {
		refused(w, err)
		return
	}
	defer s.close()
	head(w, "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies such as nginx pass events on at once
	control := http.NewResponseController(w)
	for id, last := 1, false; !last; {
		e, err := s.next(r.Context(), aliveEvery)
		if err != nil {
			if err = context.Cause(r.Context()); !errors.Is(err, lock.ErrDenied) {
				return
			}
			e = errorEvent(failureOf(err))
		}
		text := ": alive\n\n"
		if e.kind != "" {
			text = fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", id, e.kind, e.data)
			id++
		}
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // without it, the connection's own timeout holds
		if _, err := w.Write([]byte(text)); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
		last = e.last
	}
}

// guarded makes a look ask for the rights again each time.
func (c *Console) guarded(who node.Caller, q url.Values, l look) look {
	return func(ctx context.Context) (any, bool, error) {
		if err := c.mayLook(who, q); err != nil {
			return nil, false, err
		}
		return l(ctx)
	}
}
