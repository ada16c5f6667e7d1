package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/wire"
	"github.com/stile-lock/stile/internal/remote"
)

// Locks that are too many for an answer are not all gathered before that is noticed.
func TestTooManyLocks(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Lease = time.Hour })[0]
	long := strings.Repeat("n", 500)
	for i := range maxAnswer / 500 {
		lock(t, n, fmt.Sprint(long, i))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if all, err := n.locks(""); !errors.Is(err, errAnswer) || len(all) > 0 {
		t.Errorf("%d locks, %v", len(all), err)
	}
	all, err := n.locks(long + "1")
	if err != nil || len(all) == 0 {
		t.Errorf("%d locks, %v", len(all), err)
	}
	for _, l := range all {
		l.Waiters = []WaiterInfo{{Who: "w"}}
		b, err := json.Marshal(l)
		if low := lockBytes + holderBytes + waiterBytes + len(l.Name) + len(l.Node) + len(l.Holder.Who) + 1; err != nil || len(b) < low-len("null") {
			t.Fatalf("%s has %d bytes, and at least %d were counted: %v", b, len(b), low, err)
		}
	}
}

// Connections that have no session end when they are silent, whatever they have said
// before; those with one do not.
func TestSilentClients(t *testing.T) {
	ask := client.Frame{Kind: client.Ask, Number: 1, What: AskStatus}
	hello := client.Frame{Kind: client.Hello, Protocol: client.Protocol, Number: 1, Name: "x", Length: 100 * member.Millisecond}
	for name, says := range map[string][]client.Frame{
		"nothing":                nil,
		"a question":             {ask},
		"a session that is over": {hello, ask},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, 1, func(i int, c *Config) { c.Lease, c.silence = time.Hour, 300*time.Millisecond })[0]
			ctx, cancel := soon(t)
			defer cancel()
			stays, err := remote.Dial(ctx, remote.Config{Nodes: []string{n.Address()}})
			if err != nil {
				t.Fatal(err)
			}
			defer stays.Close()
			n.mu.Lock()
			first := n.conn
			n.mu.Unlock()
			if err := listen(ctx, n.Address(), says); ctx.Err() != nil {
				t.Errorf("it is still there: %v", err)
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			if v := n.visitors[first]; v == nil {
				t.Error("who has a session is cut off")
			}
		})
	}
}

// listen says something to a node as a client, and then listens until the end.
func listen(ctx context.Context, node string, says []client.Frame) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	link, err := wire.DialClient(ctx, node, wire.ClientConfig{}, &wg)
	if err != nil {
		return err
	}
	defer link.Fail(errClosed)
	defer context.AfterFunc(ctx, func() { link.Fail(ctx.Err()) })()
	for _, f := range says {
		if err := link.Send(f.AppendTo(nil), false); err != nil {
			return err
		}
	}
	link.Flush()
	return link.Run(func([]byte) error { return nil })
}
