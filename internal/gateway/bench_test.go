package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
)

// beside measures something beside two bare round trips of the same transport, in turns, so
// that what else the machine does disturbs both. It reports the medians and their ratio.
func beside(b *testing.B, bare, full func() error) {
	b.Helper()
	var spent [2][]time.Duration
	for b.Loop() {
		for i, f := range []func() error{bare, full} {
			start := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			spent[i] = append(spent[i], time.Since(start))
		}
	}
	var median [2]float64
	for i, all := range spent {
		slices.Sort(all)
		median[i] = float64(all[len(all)/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op") // both together, which says nothing
	b.ReportMetric(median[0], "bare-µs")
	b.ReportMetric(median[1], "lock-µs")
	b.ReportMetric(median[1]/median[0], "ratio")
}

// listen serves a handler.
func listen(b *testing.B, h http.Handler) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	b.Cleanup(func() {
		s.Close()
		<-done
	})
	return "http://" + l.Addr().String()
}

// BenchmarkJSON acquires and releases a lock that no other process wants, over HTTP/1.1.
func BenchmarkJSON(b *testing.B) {
	a := serve(b, nil)
	bare := listen(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
		}
	}))
	post := func(url string, body []byte) ([]byte, error) {
		r, err := a.client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		answer, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%d: %s: %w", r.StatusCode, answer, err)
		}
		return answer, nil
	}
	session := a.open(nil)
	twice := func(one, two string) func() error {
		return func() error {
			answer, err := post(one, fmt.Appendf(nil, `{"session":%q,"name":"x"}`, session))
			if err != nil {
				return err
			}
			var acquired struct{ Held struct{ Token string } }
			if err := json.Unmarshal(answer, &acquired); err != nil {
				return err
			}
			_, err = post(two, fmt.Appendf(nil, `{"session":%q,"name":"x","token":%q}`, session, acquired.Held.Token))
			return err
		}
	}
	beside(b, twice(bare, bare), twice(a.url+pb.LocksAcquireProcedure, a.url+pb.LocksReleaseProcedure))
}

// bareGRPC returns a unary gRPC call that does nothing.
func bareGRPC(b *testing.B, client *http.Client) func() error {
	const procedure = "/bare/Call"
	mux := http.NewServeMux()
	mux.Handle(procedure, connect.NewUnaryHandlerSimple(procedure, func(_ context.Context, in *pb.KeepAliveRequest) (*pb.ReleaseResponse, error) {
		return &pb.ReleaseResponse{Token: in.GetSession()}, nil
	}, uncompressed))
	c := connect.NewClient[pb.KeepAliveRequest, pb.ReleaseResponse](client, listen(b, mux)+procedure, connect.WithGRPC())
	return func() error {
		for range 2 {
			if _, err := c.CallUnary(context.Background(), connect.NewRequest(&pb.KeepAliveRequest{Session: "1234.5678"})); err != nil {
				return err
			}
		}
		return nil
	}
}

// overHTTP2 returns a client that speaks HTTP/2 without TLS.
func overHTTP2(b *testing.B) *http.Client {
	t := &http.Transport{Protocols: new(http.Protocols)}
	t.Protocols.SetUnencryptedHTTP2(true)
	b.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// BenchmarkGRPC does the same with unary gRPC calls, over HTTP/2.
func BenchmarkGRPC(b *testing.B) {
	a := serve(b, nil)
	two := overHTTP2(b)
	c := pb.NewLocksClient(two, a.url, connect.WithGRPC())
	session := a.open(nil)
	beside(b, bareGRPC(b, two), func() error {
		out, err := c.Acquire(context.Background(), &pb.AcquireRequest{Session: session, Name: "x"})
		if err != nil {
			return err
		}
		_, err = c.Release(context.Background(), &pb.ReleaseRequest{Session: session, Name: "x", Token: out.GetHeld().GetToken()})
		return err
	})
}

// BenchmarkHold does it with a stream for each hold, which opens a session and closes it.
func BenchmarkHold(b *testing.B) {
	a := serve(b, nil)
	two := overHTTP2(b)
	c := pb.NewLocksClient(two, a.url, connect.WithGRPC())
	beside(b, bareGRPC(b, two), func() error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s, err := c.Hold(ctx, &pb.HoldRequest{Name: "x"})
		if err != nil {
			return err
		}
		for s.Receive() {
			if s.Msg().GetHeld() != nil {
				return nil
			}
		}
		return s.Err()
	})
}
