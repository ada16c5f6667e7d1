package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node/transport"
	"github.com/stile-lock/stile/internal/live/session"
)

// Locks that are too many for an answer are not all gathered before that is noticed.
func TestTooManyLocks(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Lease = time.Hour })[0]
	long := strings.Repeat("n", 500)
	for i := range maxAnswer / 500 {
		acquire(t, n, fmt.Sprint(long, i))
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

// A node has a maximum number of clients, and refuses the next one at once; other nodes can
// still join.
func TestManyClients(t *testing.T) {
	all := start(t, 1, func(_ int, c *Config) { c.Clients = 1 })
	ctx, cancel := soon(t)
	defer cancel()
	c := client.Config{Nodes: []string{all[0].Address()}}
	x, err := client.Dial(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, _, err := client.Query(ctx, c, AskStatus, nil); !client.TurnedAway(err) {
		t.Errorf("one more is told %v", err)
	}
	ready(t, run(t, Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{all[0].Address()}}))
}

// How many clients a node has depends on how many files there may be, of which it
// keeps some.
func TestRoomForClients(t *testing.T) {
	for _, c := range []struct{ want, files, room int }{
		{0, 1 << 20, DefaultClients},
		{0, 1024, 1024 - reserved},
		{0, 256, 64},
		{100, 1024, 100},
		{100_000, 100_000, 100_000 - reserved},
		{1, 0, 1},
	} {
		var log journal
		config := Config{Clients: c.want, Log: log.logger()}
		if got := config.room(c.files); got != c.room {
			t.Errorf("%d are wanted, with %d files: room for %d, and not %d", c.want, c.files, got, c.room)
		}
		if fewer := c.room < cmp.Or(c.want, DefaultClients); fewer != strings.Contains(log.b.String(), "ulimit") {
			t.Errorf("%+v: it logs %q", c, &log.b)
		}
	}
}

// Connections that have no session end when they are silent, whatever they have said
// before; those with one do not.
func TestSilentClients(t *testing.T) {
	ask := session.Frame{Kind: session.Ask, Number: 1, What: AskStatus}
	hello := session.Frame{Kind: session.Hello, Protocol: session.Protocol, Number: 1, Name: "x", Length: 100 * member.Millisecond}
	for name, says := range map[string][]session.Frame{
		"nothing":                nil,
		"a question":             {ask},
		"a session that is over": {hello, ask},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, 1, func(i int, c *Config) { c.Lease, c.silence = time.Hour, 300*time.Millisecond })[0]
			ctx, cancel := soon(t)
			defer cancel()
			stays, err := client.Dial(ctx, client.Config{Nodes: []string{n.Address()}})
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
			if v := n.conns[first]; v == nil {
				t.Error("who has a session is cut off")
			}
		})
	}
}

// listen says something to a node as a client, and then listens until the end.
func listen(ctx context.Context, node string, says []session.Frame) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	link, err := transport.DialClient(ctx, node, transport.ClientConfig{}, &wg)
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
