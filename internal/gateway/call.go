package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
)

// A call is what the handlers know about the HTTP request that they answer.
type call struct {
	ctx      context.Context // of the request; without the deadline of the client
	who      node.Caller
	received member.Instant
	control  *http.ResponseController

	// What the door knows.
	route  *route
	inside context.Context // until the call ends, or the door ends it
	cancel context.CancelCauseFunc
	key    string // for whom places are counted
	taken  [len(shares)]atomic.Int64
}

type callKey struct{}

// callOf returns the call of a context.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// err returns why the call must end before it is answered: its caller has ended it, or the door.
func (c *call) err() error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	return context.Cause(c.inside)
}

// writeWithin ends the call if what is sent next is not accepted within some time.
func (c *call) writeWithin(d time.Duration) {
	_ = c.control.SetWriteDeadline(time.Now().Add(d)) // without it, the connection's own timeout holds
}

// apiPrefix is what the paths of the API begin with.
const apiPrefix = "/stile."

var apiErrors = connect.NewErrorWriter()

// refuse answers a request that is refused, as its caller understands it.
func refuse(w http.ResponseWriter, r *http.Request, err *connect.Error) {
	if err.Code() == connect.CodeResourceExhausted && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close") // otherwise the server reads the body before it answers
	}
	if strings.HasPrefix(r.URL.Path, apiPrefix) {
		_ = apiErrors.Write(w, r, err) // if it fails, the caller is gone
		return
	}
	status := http.StatusForbidden
	switch err.Code() {
	case connect.CodeUnauthenticated:
		status = http.StatusUnauthorized
	case connect.CodeResourceExhausted:
		status = http.StatusServiceUnavailable
	}
	w.Header().Set(ReasonHeader, err.Meta().Get(ReasonHeader))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Message()}) // if it fails, the caller is gone
}
