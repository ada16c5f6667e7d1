package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/session"
)

// Locks that are too many for one answer are listed page by page, each of them once.
func TestLockPages(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Lease = time.Hour })[0]
	long := strings.Repeat("<", 500) // JSON needs six bytes for each
	var want []string
	for i := range 2*maxPage + 1 {
		want = append(want, fmt.Sprintf("%s%d", long[:i%500], i))
		acquire(t, n, want[i])
	}
	release(t, acquire(t, n, "no longer in use"))
	for _, prefix := range []string{"", "1", "<<", long[:400], "none"} {
		all, pages := allLocks(t, n, prefix)
		var got []string
		for _, l := range all {
			got = append(got, l.Name)
			if l.Holder == nil {
				t.Errorf("%q has no holder", l.Name)
			}
		}
		with := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return !strings.HasPrefix(s, prefix) })
		if slices.Sort(with); !slices.Equal(got, with) {
			t.Errorf("prefix %.5q: %d locks of %d, in %d pages", prefix, len(got), len(with), pages)
		}
		if prefix == "" && pages < 3 {
			t.Errorf("%d pages", pages)
		}
	}
}

// allLocks asks a node for all locks with a prefix, and returns the number of pages too.
func allLocks(t *testing.T, n *Node, prefix string) (all []LockInfo, pages int) {
	t.Helper()
	for q := (LockQuery{Prefix: prefix}); ; pages++ {
		about, _ := json.Marshal(&q)
		b, err := n.list(about, &Caller{})
		var page LockPage[LockInfo]
		if err != nil || len(b) > maxAnswer || json.Unmarshal(b, &page) != nil {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if all = append(all, page.Locks...); page.Next == "" {
			return all, pages + 1
		}
		q.After = page.Next
	}
}

// Of very many waiters only the first are listed, and the others are counted.
func TestManyWaiters(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Lease = time.Hour })[0]
	held := acquire(t, n, "x")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range maxListed + 5 {
		wg.Go(func() { _, _ = n.Lock(ctx, "x", lock.Options{}) })
	}
	becomes(t, n, "awaited", func(s Status) bool { return s.Waiting == maxListed+5 })
	if all, _ := allLocks(t, n, "x"); len(all) != 1 || len(all[0].Waiters) != maxListed || all[0].Unlisted != 5 {
		t.Errorf("%d locks", len(all))
	}
	cancel()
	wg.Wait()
	release(t, held)
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

// How many connections a node has depends on how many files there may be, of which it keeps some.
// With all others, they are never more.
func TestRoomForClients(t *testing.T) {
	for _, c := range []struct{ want, files, clients, strangers int }{
		{0, 1 << 20, DefaultClients, maxStrangers},
		{0, 20_000, DefaultClients, maxStrangers},
		{0, 17_500, 17_500 - reserved - maxStrangers, maxStrangers},
		{0, 1024, 518, 74},
		{0, 256, 112, 16},
		{100, 1024, 100, 128},
		{100_000, 200_000, 100_000, maxStrangers},
		{100_000, 100_000, 100_000 - reserved - maxStrangers, maxStrangers},
		{1, 0, 1, 1},
	} {
		var log journal
		config := Config{Clients: c.want, Log: log.logger()}
		b := config.budget(c.files)
		if b.Clients != c.clients || b.Strangers != c.strangers {
			t.Errorf("%d are wanted, with %d files: room for %d and %d strangers, and not %d and %d", c.want, c.files, b.Clients, b.Strangers, c.clients, c.strangers)
		}
		if c.files >= 1024 && b.Clients+b.Strangers+reserved > c.files {
			t.Errorf("%+v: more connections than files", c)
		}
		if fewer := c.clients < cmp.Or(c.want, DefaultClients); fewer != strings.Contains(log.b.String(), "ulimit") {
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
