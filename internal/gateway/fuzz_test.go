package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/node"
)

var (
	methods = []string{
		pb.LocksOpenSessionProcedure, pb.LocksKeepAliveProcedure, pb.LocksCloseSessionProcedure, pb.LocksAcquireProcedure, pb.LocksTryAcquireProcedure,
		pb.LocksReleaseProcedure, pb.LocksSetValueProcedure, pb.LocksHoldProcedure, pb.ClusterStatusProcedure, pb.ClusterMembersProcedure, pb.ClusterListLocksProcedure,
		pb.ClusterWatchLocksProcedure, pb.ClusterForceReleaseProcedure, pb.LocksBeginProcedure, pb.LocksCommitProcedure, pb.LocksAbortProcedure, pb.LocksRetryProcedure,
		pb.ClusterLeaderProcedure, pb.ClusterObserveLeaderProcedure, "/",
	}
	contents = []string{
		"application/json", "application/json; charset=utf-8", "application/proto", "application/connect+json", "application/connect+proto",
		"application/grpc", "application/grpc+json", "application/grpc-web", "application/grpc-web+json", "text/plain", "",
	}
)

// A counted is a recorder that knows the status of what panicked or not. It ends streams
// when they have sent something.
type counted struct {
	*httptest.ResponseRecorder
	end func()
}

func (w counted) Write(b []byte) (int, error) {
	w.end()
	return w.ResponseRecorder.Write(b)
}

// No bytes cause a panic or an internal error, in any protocol, and a session survives what
// others send.
func FuzzCalls(f *testing.F) {
	n := startNode(f, func(c *node.Config) { c.Log = nil })
	g := newGateway(n, Config{})
	f.Cleanup(g.sessions.kill)
	g.sessions.places.most = 200
	s, err := g.sessions.open(context.Background(), n, node.Caller{}, "", 0)
	if err != nil {
		f.Fatal(err)
	}
	h := g.door
	for i := range methods {
		f.Add(uint8(i), uint8(0), "{}")
		f.Add(uint8(i), uint8(0), `{"session":"SESSION","name":"x","wait":"0s"}`)
		f.Add(uint8(i), uint8(0), `{"name":"x","wait":"0.001s"}`)
		f.Add(uint8(i), uint8(0), `{"session":"SESSION","transaction":"1"}`)
		f.Add(uint8(i), uint8(0), `{"session":"SESSION","name":"kept/x","transaction":"1","units":1,"of":2,"value":"","wait":"0s"}`)
		f.Add(uint8(i), uint8(3), "\x00\x00\x00\x00\x0c"+`{"name":"x"}`)
		f.Add(uint8(i), uint8(5), "\x00\x00\x00\x00\x03\x0a\x01x")
		f.Add(uint8(i), uint8(5), "\x01\xff\xff\xff\xff\x0a")
	}
	f.Add(uint8(0), uint8(0), `{"length":"-315576000000s"}`)
	f.Add(uint8(3), uint8(0), `{"session":"SESSION","name":"x","wait":"315576000000.999999999s","key":"\u0000"}`)
	f.Fuzz(func(t *testing.T, method, content uint8, body string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		// What would wait does not.
		body = strings.ReplaceAll(body, "SESSION", s.id)
		r := httptest.NewRequestWithContext(ctx, "POST", methods[int(method)%len(methods)], strings.NewReader(body))
		r.Header.Set("Content-Type", contents[int(content)%len(contents)])
		r.Header.Set("Connect-Timeout-Ms", "20")
		r.Header.Set("Grpc-Timeout", "20m")
		w := counted{httptest.NewRecorder(), cancel}
		h.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s %q: %d %s", r.URL.Path, r.Header.Get("Content-Type"), body, w.Code, w.Body)
		}
		for i := range g.door.pools {
			if n := g.door.pools[i].taken(); n != 0 {
				t.Errorf("%d of %s are left", n, shares[i].what)
			}
		}
	})
}
