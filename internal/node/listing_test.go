package node

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
)

// listed asks a node for a page, and returns its names with what is special about each.
func listed(t *testing.T, n *Node, q LockQuery) (names, next string) {
	t.Helper()
	about, _ := json.Marshal(&q)
	b, err := n.list(about, &Caller{})
	var page LockPage[LockInfo]
	if err != nil || json.Unmarshal(b, &page) != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range page.Locks {
		s := l.Name
		if l.Holder == nil {
			s += " free"
		}
		if len(l.Waiters)+l.Unlisted > 0 {
			s += fmt.Sprintf(" +%d+%d", len(l.Waiters), l.Unlisted)
		}
		if l.Algorithm == "" || l.Home != "a" {
			t.Errorf("%+v", l)
		}
		all = append(all, s)
	}
	return strings.Join(all, ", "), page.Next
}

// Queries choose locks by their names, or those that are waited for or led, and short pages.
func TestListings(t *testing.T) {
	n := start(t, 1, func(_ int, c *Config) { c.Lease, c.Metrics = time.Hour, true })[0]
	var held []lock.Handle
	for i := range 5 {
		held = append(held, acquire(t, n, fmt.Sprintf("x/%d", i)))
	}
	if err := held[3].SetValue(""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range maxTopWaiters + 3 {
		wg.Go(func() { _, _ = n.Lock(ctx, "x/1", lock.Options{}) })
	}
	defer wg.Wait()
	defer cancel()
	becomes(t, n, "awaited", func(s Status) bool { return s.Waiting == maxTopWaiters+3 })
	release(t, held[4])
	for _, c := range []struct {
		q          LockQuery
		want, next string
	}{
		{LockQuery{}, "x/0, x/1 +13+0, x/2, x/3", ""},
		{LockQuery{Most: 2}, "x/0, x/1 +10+3", "x/1"},
		{LockQuery{Most: 2, After: "x/1"}, "x/2, x/3", "x/3"},
		{LockQuery{Most: 2, After: "x/3"}, "", ""},
		{LockQuery{Only: OnlyAwaited}, "x/1 +13+0", ""},
		{LockQuery{Only: OnlyLed}, "x/3", ""},
		{LockQuery{Only: OnlyLed, Prefix: "y"}, "", ""},
		{LockQuery{Names: []string{"x/4", "y", "x/1", "x/1"}}, "x/1 +13+0, x/4 free, y free", ""},
		{LockQuery{Names: []string{"x/4", "y", "x/1"}, Most: 1, After: "x/0"}, "x/1 +10+3, x/4 free, y free", ""},
	} {
		if got, next := listed(t, n, c.q); got != c.want || next != c.next {
			t.Errorf("%+v: %s, next %q", c.q, got, next)
		}
	}
	b, err := n.list([]byte(`{"names":["x/0","y"]}`), &Caller{})
	if err != nil || strings.Count(string(b), `"acquired":1`) != 1 {
		t.Errorf("%s %v", b, err)
	}
}

// Metrics count holders and requests of kept locks, which may be shared, and of others.
func TestCountedByPieces(t *testing.T) {
	n := start(t, 1, func(_ int, c *Config) { c.Lease, c.Metrics = time.Hour, true })[0]
	ctx, cancel := context.WithCancel(t.Context())
	shared := lock.Options{Terms: member.Terms{Mode: deadlock.Shared}}
	for _, name := range []string{"kept/a", "kept/a", "kept/b"} {
		if _, err := n.Lock(ctx, name, shared); err != nil {
			t.Fatal(err)
		}
	}
	acquire(t, n, "x")
	var wg sync.WaitGroup
	for _, name := range []string{"kept/a", "kept/a", "kept/a", "kept/b", "x", "x"} {
		wg.Go(func() { _, _ = n.Lock(ctx, name, lock.Options{}) })
	}
	defer wg.Wait()
	defer cancel()
	becomes(t, n, "awaited", func(s Status) bool { return s.Waiting == 6 })
	held, waiting, m := 0, 0, n.Metrics()
	for _, l := range m.Locks {
		held, waiting = held+l.Held, waiting+l.Waiting
	}
	if held != 3 || waiting != 6 || m.Longest != 3 || m.Known != 3 {
		t.Errorf("%d locks are held, %d requests wait, at most %d for one, %d locks are known", held, waiting, m.Longest, m.Known)
	}
}

// Listings have a share of the places of those in progress.
func TestShareOfListings(t *testing.T) {
	x := listings{all: 40, of: map[string]int{"client/a": 24, "client/b": 7}}
	if x.begin("client/a") {
		t.Error("one that has its share begins another one")
	}
	for _, user := range []string{"client/b", "client/c"} {
		if !x.begin(user) {
			t.Errorf("%s has no share", user)
		}
		x.end(user)
	}
	if x.all != 40 || len(x.of) != 2 {
		t.Errorf("%d, %v", x.all, x.of)
	}
}

// However many locks there are, and however many requests wait, a listing copies a bounded
// number of things while it holds the mutex. Locks that come and go in between do not keep it
// from listing all that are held all the time, each once.
func TestListingByPieces(t *testing.T) {
	const locks, most = 3 * maxPage, 256
	n := start(t, 1, func(_ int, c *Config) { c.Lease, c.Metrics = time.Hour, true })[0]
	for i := range locks {
		acquire(t, n, fmt.Sprintf("x/%04d", i))
	}
	var comes lock.Handle
	holds := 0
	for _, q := range []LockQuery{{}, {Top: 20, By: ByHold}, {Graph: true}, {Most: 30}, {Only: OnlyAwaited}} {
		listed, last := 0, ""
		for {
			l := listing{n: n, q: &q, now: threadTime, held: func(_ time.Duration, items int) {
				if holds++; items > most {
					t.Errorf("%+v: %d items are copied with the mutex held, and not at most %d", q, items, most)
				}
			}}
			page, err := l.page(&Caller{})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range page.Locks {
				var info LockInfo
				if err := json.Unmarshal(b, &info); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(info.Name, "x/") {
					listed++
				}
				if last >= info.Name && q.Top == 0 {
					t.Errorf("%+v: %s is listed after %s", q, info.Name, last)
				}
				last = info.Name
			}
			if comes != nil { // what came with the page before goes
				release(t, comes)
			}
			comes = acquire(t, n, fmt.Sprintf("w/%d", holds))
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if want := map[bool]int{true: locks}[q.Top == 0 && q.Only == ""]; listed != want && q.Top == 0 {
			t.Errorf("%+v: %d locks are listed, and not %d", q, listed, want)
		}
	}
	if holds < locks/most {
		t.Errorf("the mutex was acquired %d times", holds)
	}
}
