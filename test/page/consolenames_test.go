package page

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// A listing is a page of the console's list of locks, as its stream sends it.
type listing struct {
	Order  []string `json:"order"`
	Next   string   `json:"next"`
	Silent []struct {
		Node string `json:"node"`
		Why  string `json:"why"`
	} `json:"silent"`
}

// listing opens the stream of a page of names, and returns the first document. It is an error
// if the node has no stream at present, or if the page lacks the locks of a member.
func (l *live) listing(i int, prefix, after string) (doc listing, err error) {
	ctx, stop := context.WithCancel(l.t.Context())
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.console(i, "api/stream?view=locks&sort=name&prefix="+url.QueryEscape(prefix)+"&after="+url.QueryEscape(after)), nil)
	if err != nil {
		return doc, err
	}
	a, err := l.browser().Do(r)
	if err != nil {
		return doc, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return doc, fmt.Errorf("status %d", a.StatusCode)
	}
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 1<<24)
	kind := ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case field == "event":
			kind = value
		case field == "data" && kind != "full":
			return doc, fmt.Errorf("%s: %s", kind, value)
		case field == "data":
			if err := json.Unmarshal([]byte(value), &doc); err != nil {
				return doc, err
			}
			for _, s := range doc.Silent {
				return doc, fmt.Errorf("node %s is silent: %s", s.Node, s.Why)
			}
			return doc, nil
		}
	}
	return doc, fmt.Errorf("the stream has ended: %w", lines.Err())
}

// acquires has clients hold all of these locks, each some of them.
func acquires(t testing.TB, all []*stile.Client, names int, name func(i int) string) {
	t.Helper()
	var running sync.WaitGroup
	const atOnce = 16
	for j := range atOnce * len(all) {
		running.Go(func() {
			for i := j; i < names; i += atOnce * len(all) {
				if _, err := all[j%len(all)].Lock(t.Context(), name(i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
}

// The pages of the console reach 100,000 locks that clients of three real nodes hold: each once
// and in the order of the names. A member that does not answer in time is asked again.
func TestLiveManyNames(t *testing.T) {
	if !nightly() {
		t.Skip("it needs minutes: set STILE_NIGHTLY=1")
	}
	const names = 100_000
	l := prepared(t, "naimi-trehel")
	l.lease = "2m" // so long that nothing is lost on a machine that has much else to do
	for i := range l.nodes {
		l.start(i)
	}
	var clients []*stile.Client
	for i := range 12 {
		clients = append(clients, l.dial(i%len(l.nodes)))
	}
	began := time.Now()
	acquires(t, clients, names, func(i int) string { return fmt.Sprintf("names/%06d", i) })
	if t.Failed() {
		return
	}
	t.Logf("%d locks acquired in %.1f s", names, time.Since(began).Seconds())
	began = time.Now()
	got, pages, again := 0, 0, map[string]int{}
	for after := ""; ; {
		doc, err := l.listing(pages%len(l.nodes), "names/", after)
		if err != nil {
			if again[err.Error()]++; t.Context().Err() != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			continue
		}
		for _, name := range doc.Order {
			if want := fmt.Sprintf("names/%06d", got); name != want {
				t.Fatalf("lock %d of page %d is %s, want %s", got, pages, name, want)
			}
			got++
		}
		pages++
		if after = doc.Next; after == "" {
			break
		}
	}
	if got != names {
		t.Errorf("%d pages have %d names, want %d", pages, got, names)
	}
	t.Logf("%d pages read in %.1f s; asked again: %v", pages, time.Since(began).Seconds(), again)
}
