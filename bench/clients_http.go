package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
)

// grpcClient holds each lock by a stream of its own, which needs one round trip.
type grpcClient struct {
	locks pb.LocksClient
	end   func()
}

func openGRPC(a *access) (client, error) {
	t, err := a.TLS.config()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: t, Protocols: new(http.Protocols)}
	scheme := "https://"
	if t == nil {
		scheme = "http://"
		transport.Protocols.SetUnencryptedHTTP2(true)
	} else {
		transport.Protocols.SetHTTP2(true)
	}
	c := &http.Client{Transport: transport}
	return &grpcClient{pb.NewLocksClient(c, scheme+a.Addrs[0], connect.WithGRPC()), c.CloseIdleConnections}, nil
}

func (c *grpcClient) acquire(ctx context.Context, name string, shared bool) (holder, error) {
	if isShared(name) {
		name = "kept/" + name
	}
	ctx, cancel := context.WithCancel(ctx)
	s, err := c.locks.Hold(ctx, &pb.HoldRequest{Name: name, Shared: shared})
	if err != nil {
		cancel()
		return nil, err
	}
	for s.Receive() {
		if s.Msg().GetHeld() != nil {
			return release(func() error { cancel(); s.Close(); return nil }), nil
		}
	}
	cancel()
	return nil, errors.Join(errors.New("the stream ended"), s.Err())
}

func (c *grpcClient) lost() bool   { return false }
func (c *grpcClient) close() error { c.end(); return nil }

// jsonClient is a session over HTTP/1.1, kept alive.
type jsonClient struct {
	c       *http.Client
	base    string
	session string
	stop    context.CancelFunc
}

// alive is how often sessions are kept alive.
const alive = 3 * time.Second

func openJSON(ctx context.Context, a *access) (client, error) {
	t, err := a.TLS.config()
	if err != nil {
		return nil, err
	}
	scheme := "https://"
	if t == nil {
		scheme = "http://"
	}
	c := &jsonClient{c: &http.Client{Transport: &http.Transport{TLSClientConfig: t}}, base: scheme + a.Addrs[0] + "/stile.v1.Locks/"}
	var opened struct{ Session string }
	if err := c.post(ctx, "OpenSession", struct{}{}, &opened); err != nil {
		return nil, err
	}
	c.session = opened.Session
	ctx, c.stop = context.WithCancel(context.Background())
	go func() {
		for sleep(ctx, alive) == nil {
			_ = c.post(ctx, "KeepAlive", map[string]string{"session": c.session}, &struct{}{}) // the next call fails too
		}
	}()
	return c, nil
}

// post calls a method.
func (c *jsonClient) post(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.c.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", method, answer.Status, b)
	}
	return json.Unmarshal(b, out)
}

// jsonRequest is what Acquire and Release need.
type jsonRequest struct {
	Session string `json:"session"`
	Name    string `json:"name"`
	Shared  bool   `json:"shared,omitempty"`
	Token   string `json:"token,omitempty"`
}

func (c *jsonClient) acquire(ctx context.Context, name string, shared bool) (holder, error) {
	if isShared(name) {
		name = "kept/" + name
	}
	var got struct{ Held struct{ Token string } }
	for got.Held.Token == "" { // a call waits for a limited time
		if err := c.post(ctx, "Acquire", jsonRequest{Session: c.session, Name: name, Shared: shared}, &got); err != nil {
			return nil, err
		}
	}
	return release(func() error {
		return c.post(context.Background(), "Release", jsonRequest{Session: c.session, Name: name, Token: got.Held.Token}, &struct{}{})
	}), nil
}

func (c *jsonClient) lost() bool { return false }

func (c *jsonClient) close() error {
	c.stop()
	err := c.post(context.Background(), "CloseSession", map[string]string{"session": c.session}, &struct{}{})
	c.c.CloseIdleConnections()
	return err
}
