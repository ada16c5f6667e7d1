package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// A recipe writes a value for the bearer of a token, or refuses it. In the middle it
// waits, as who stands still there would.
type recipe func(ctx context.Context, tx *sql.Tx, token stile.Token, value string, middle func()) error

// fenced is the right one: the fence first, in the same transaction.
func fenced(ctx context.Context, tx *sql.Tx, token stile.Token, value string, middle func()) error {
	if err := stile.FenceTx(ctx, tx, "x", token); err != nil {
		return err
	}
	middle()
	_, err := tx.ExecContext(ctx, "UPDATE resource SET value = $1, epoch = $2, count = $3", value, int64(token.Epoch), int64(token.Count))
	return err
}

// unlocked is a wrong one: it looks at the fence, and does not hold on to it.
func unlocked(ctx context.Context, tx *sql.Tx, token stile.Token, value string, middle func()) error {
	var seen stile.Token
	err := tx.QueryRowContext(ctx, "SELECT epoch, count FROM stile_fence WHERE name = 'x'").Scan(&seen.Epoch, &seen.Count)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if token.Less(seen) {
		return stile.ErrStale
	}
	middle()
	if _, err := tx.ExecContext(ctx, "UPDATE resource SET value = $1, epoch = $2, count = $3", value, int64(token.Epoch), int64(token.Count)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO stile_fence VALUES ('x', $1, $2)
		ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, count = excluded.count`, int64(token.Epoch), int64(token.Count))
	return err
}

// apart is another wrong one: it shows its token in a transaction of its own.
func apart(db *sql.DB) recipe {
	return func(ctx context.Context, tx *sql.Tx, token stile.Token, value string, middle func()) error {
		other, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := errors.Join(stile.FenceTx(ctx, other, "x", token), other.Commit()); err != nil {
			return err
		}
		middle()
		_, err = tx.ExecContext(ctx, "UPDATE resource SET value = $1, epoch = $2, count = $3", value, int64(token.Epoch), int64(token.Count))
		return err
	}
}

// fresh makes the tables anew.
func fresh(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, q := range []string{"DROP TABLE IF EXISTS stile_fence", "DROP TABLE IF EXISTS resource", stile.FenceTable, stile.FenceTable,
		"CREATE TABLE resource (value text, epoch bigint, count bigint)", "INSERT INTO resource VALUES ('', 0, 0)"} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

// run writes a value in a transaction.
func run(ctx context.Context, db *sql.DB, level sql.IsolationLevel, r recipe, token stile.Token, value string, middle func()) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := r(ctx, tx, token, value, middle); err != nil {
		return err
	}
	return tx.Commit()
}

// overtaken has a holder that stands still in the middle of its transaction, and a
// newer one that writes meanwhile, or right after. It returns whose value is there in
// the end: the older holder's is the loss of the newer one's.
func overtaken(t *testing.T, db *sql.DB, level sql.IsolationLevel, r recipe) string {
	t.Helper()
	fresh(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	older, newer := stile.Token{Epoch: 1, Count: 7}, stile.Token{Epoch: 1, Count: 8}
	stands, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := run(ctx, db, level, r, older, "older", func() {
			close(stands)
			<-goOn
		}); err != nil {
			t.Logf("the older one: %v", err)
		}
	})
	<-stands
	wrote := make(chan error, 1)
	wg.Go(func() {
		err := run(ctx, db, level, r, newer, "newer", func() {})
		for ctx.Err() == nil && err != nil && !errors.Is(err, stile.ErrStale) { // it could not be put in order: try again
			err = run(ctx, db, level, r, newer, "newer", func() {})
		}
		wrote <- err
	})
	waitOrWrite(ctx, t, db, wrote)
	close(goOn)
	wg.Wait()
	if err := <-wrote; err != nil {
		t.Errorf("the newer one: %v", err)
	}
	var value string
	if err := db.QueryRowContext(ctx, "SELECT value FROM resource").Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// waitOrWrite waits until the newer one has written, or is kept waiting by the older.
func waitOrWrite(ctx context.Context, t *testing.T, db *sql.DB, wrote chan error) {
	t.Helper()
	for {
		var waiting int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting > 0 || len(wrote) > 0 {
			return
		}
	}
}

// Whoever was overtaken does not win: its transaction comes before that of the newer
// holder, or is refused. The wrong recipes lose what the newer one has written.
func TestFence(t *testing.T) {
	db := open(t)
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(level.String(), func(t *testing.T) {
			if v := overtaken(t, db, level, fenced); v != "newer" {
				t.Errorf("in the end there is what the %s holder wrote", v)
			}
		})
	}
	for name, wrong := range map[string]recipe{"no row lock": unlocked, "two transactions": apart(db)} {
		t.Run(name, func(t *testing.T) {
			if v := overtaken(t, db, sql.LevelReadCommitted, wrong); v != "older" {
				t.Errorf("the wrong recipe is not caught: there is what the %s holder wrote", v)
			}
		})
	}
	t.Run("stale", func(t *testing.T) {
		fresh(t, db)
		for _, x := range []struct {
			token stile.Token
			ok    bool
		}{
			{stile.Token{Epoch: 1, Count: 7}, true}, {stile.Token{Epoch: 1, Count: 7}, true}, {stile.Token{Epoch: 1, Count: 6}, false},
			{stile.Token{Epoch: 2, Count: 1}, true}, {stile.Token{Epoch: 1, Count: 9}, false}, {stile.Token{Epoch: 2, Count: 1}, true},
		} {
			err := run(t.Context(), db, sql.LevelDefault, fenced, x.token, x.token.String(), func() {})
			if (err == nil) != x.ok || err != nil && !errors.Is(err, stile.ErrStale) {
				t.Errorf("%v: %v", x.token, err)
			}
		}
	})
	t.Run("many", func(t *testing.T) { many(t, db) })
}

// many has many transactions at once, with all tokens: what is written never goes
// back, and a fence that was refused changes nothing.
func many(t *testing.T, db *sql.DB) {
	fresh(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check := func(ctx context.Context, tx *sql.Tx, token stile.Token, value string, middle func()) error {
		if err := stile.FenceTx(ctx, tx, "x", token); err != nil {
			return err
		}
		var before stile.Token
		if err := tx.QueryRowContext(ctx, "SELECT epoch, count FROM resource").Scan(&before.Epoch, &before.Count); err != nil {
			return err
		}
		if token.Less(before) {
			return fmt.Errorf("token %v passes after %v", token, before)
		}
		_, err := tx.ExecContext(ctx, "UPDATE resource SET value = $1, epoch = $2, count = $3", value, int64(token.Epoch), int64(token.Count))
		return err
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 25 {
				token := stile.Token{Epoch: 1, Count: uint64(j*8 + i)}
				err := run(ctx, db, sql.LevelReadCommitted, check, token, token.String(), func() {})
				if err != nil && !errors.Is(err, stile.ErrStale) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var count int
	if err := db.QueryRowContext(ctx, "SELECT count FROM resource").Scan(&count); err != nil || count != 24*8+7 {
		t.Errorf("the highest token was 199, and %d has written last: %v", count, err)
	}
}
