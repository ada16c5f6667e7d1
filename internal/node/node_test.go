package node

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/held"
)

// start starts so many nodes, the first of which founds the cluster.
func start(t testing.TB, count int, change func(i int, c *Config)) []*Node {
	t.Helper()
	var all []*Node
	for i := range count {
		c := Config{Name: string(rune('a' + i)), Listen: "127.0.0.1:0", Lease: 2 * time.Second}
		if i > 0 {
			c.Join = []string{all[0].Address()}
		}
		if os.Getenv("STILE_LOG") != "" {
			c.Log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", c.Name)
		}
		if change != nil {
			change(i, &c)
		}
		n, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Kill)
		all = append(all, n)
	}
	for _, n := range all {
		if err := n.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestThree(t *testing.T) {
	all := start(t, 3, nil)
	var last uint64
	for i := range 30 {
		h, err := all[i%3].Lock(t.Context(), "x", held.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if h.Err() != nil || h.Token().Count <= last && h.Token().Epoch == 0 {
			t.Fatal(h.Err(), h.Token())
		}
		if err := h.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, n := range all {
		if err := n.Stop(ctx); err != nil {
			t.Error(n.Name(), err)
		}
	}
}
