package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Worker()
	os.Exit(m.Run())
}

// All is measured, each row means something, and nothing is left behind.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Setenv("TMPDIR", t.TempDir())
	var done []string
	rows, err := Run(t.Context(), Config{Time: 10 * time.Millisecond, Idle: 10 * time.Millisecond, Clients: 5, Doing: func(what string) { done = append(done, what) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := len((&group{}).measures()); len(done) != want {
		t.Errorf("measured %q, want %d", done, want)
	}
	units := map[string]bool{}
	for _, r := range rows {
		units[r.Unit] = true
		if r.Value <= 0 && (r.Unit == "µs" || r.Unit == "entries/s" || r.Unit == "ms") {
			t.Errorf("%s: %v %s", r.Name, r.Value, r.Unit)
		}
		if (r.Unit == "clients" || r.Unit == "requests") && r.Value != 0 {
			t.Errorf("%s: %v %s", r.Name, r.Value, r.Unit)
		}
		if r.Ratio != nil && *r.Ratio != r.Value / *r.Limit {
			t.Errorf("%s: ratio %v of %v and %v", r.Name, *r.Ratio, r.Value, *r.Limit)
		}
	}
	for _, u := range []string{"µs", "entries/s", "KiB", "clients", "% of a core", "bytes", "files", "ms", "requests"} {
		if !units[u] {
			t.Errorf("no row is in %s", u)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// If nodes are killed instead of stopped, locks wait for leases, and that is seen.
func TestRollSeesStall(t *testing.T) {
	g, err := start(t.Context(), t.TempDir())
	defer g.stop()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := g.rollBy(func(w *worker) error { return w.cmd.Process.Kill() })
	if err != nil {
		t.Fatal(err)
	}
	if stall := rows[0]; stall.Met() {
		t.Errorf("%s: %v %s, though all nodes were killed in turn", stall.Name, stall.Value, stall.Unit)
	}
}

// An interrupted benchmark returns the results so far, and leaves no process running.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := Run(ctx, Config{Time: time.Hour, Idle: time.Hour, Clients: 1, Doing: func(what string) {
		if what != "raw TLS" {
			return
		}
		cancel()
	}})
	if err == nil || len(rows) > 0 {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
}

func TestMet(t *testing.T) {
	for _, x := range []struct {
		row Row
		met bool
	}{
		{plain("x", 5, "µs"), true},
		{bounded("x", 5, "µs", 5), true},
		{bounded("x", 5.1, "µs", 5), false},
		{bounded("x", 1, "files", 0), false},
		{atLeast("x", 5, "entries/s", 5), true},
		{atLeast("x", 4, "entries/s", 5), false},
	} {
		if x.row.Met() != x.met {
			t.Errorf("%+v: met %v", x.row, !x.met)
		}
	}
}
