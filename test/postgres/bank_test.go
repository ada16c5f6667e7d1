package postgres

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/teller"
)

var transfers = flag.Int("transfers", 4000, "how many transfers the live bank makes")

// TestBank runs the live bank on PostgreSQL, while nodes are killed and cut off and processes
// are paused, for about a minute. The balances are exact, and the schema is gone after each
// run.
func TestBank(t *testing.T) {
	dsn, db := serve(t)
	binary := filepath.Join(t.TempDir(), "stile")
	build := exec.Command("go", "build", "-o", binary, "./cmd/stile")
	build.Dir = "../.." // the command belongs to the other module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, lock := range []string{"naimi-trehel", "kept:wound-wait"} {
		c := exec.Command(binary, "bank", "--live", "--postgres", dsn, "--lock", lock, "--chaos", "kill,pause,partition", "--transfers", fmt.Sprint(*transfers), "--json")
		out, err := c.Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		var r teller.Report
		if err := errors.Join(err, json.Unmarshal(out, &r)); err != nil {
			t.Fatalf("%s: %v", lock, err)
		}
		t.Logf("%s: %d transfers in %.1f s, %+v, %d nodes killed, %d processes paused, %d nodes isolated", lock, r.Made, r.Seconds, r.Tally, r.Killed, r.Paused, r.Isolated)
		if !r.Exact() || r.Made != *transfers || min(r.Killed, r.Paused, r.Isolated) == 0 {
			t.Errorf("%s: %+v", lock, r)
		}
		var left int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'stile_bank%'").Scan(&left); err != nil || left > 0 {
			t.Errorf("%s: %d schemas are left: %v", lock, left, err)
		}
	}
}

// TestLostUpdate has two holders read before either writes. Without a fence the second write
// loses the first one; with it the older holder is refused.
func TestLostUpdate(t *testing.T) {
	dsn, _ := serve(t)
	ctx := t.Context()
	first, second := teller.Transfer{ID: 1, From: 1, To: 2, Amount: 5}, teller.Transfer{ID: 2, From: 2, To: 1, Amount: 7}
	tokens := func(count uint64) []teller.Grant {
		token := stile.Token{Epoch: 1, Count: count}
		return []teller.Grant{{Name: "account/001", Token: token}, {Name: "account/002", Token: token}}
	}
	for _, fence := range []bool{false, true} {
		s, err := teller.OpenStore(teller.Place{Postgres: dsn, Schema: fmt.Sprint("lost_update_", fence)}, fence)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Found(ctx, 2); err != nil {
			t.Fatal(err)
		}
		_, _, err = s.Read(ctx, first, tokens(1))
		_, _, err2 := s.Read(ctx, second, tokens(2))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		err = s.Write(ctx, first, tokens(1), teller.Opening-5, teller.Opening+5)
		if errors.Is(err, stile.ErrStale) != fence || !fence && err != nil {
			t.Errorf("fence %v: the older holder: %v", fence, err)
		}
		if err := s.Write(ctx, second, tokens(2), teller.Opening-7, teller.Opening+7); err != nil {
			t.Errorf("fence %v: the newer holder: %v", fence, err)
		}
		if err := s.Write(ctx, second, tokens(2), 0, 0); !errors.Is(err, teller.ErrMade) {
			t.Errorf("fence %v: the same transfer again: %v", fence, err)
		}
		if a, err := s.Audit(ctx); err != nil || a.Exact() != fence {
			t.Errorf("fence %v: %+v, %v", fence, a, err)
		}
		if err := s.Drop(ctx); err != nil {
			t.Error(err)
		}
	}
}
