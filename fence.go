package stile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// ErrStale means that a resource has seen a higher token: whoever shows this one has
// lost its lock, and may not know it yet.
var ErrStale = errors.New("the token is stale: somebody with a higher one was here")

// A Fence guards a resource in memory: it lets through whoever shows a token that is
// not lower than the highest shown before. The zero value is ready to use.
type Fence struct {
	mu   sync.Mutex
	seen Token
}

// Pass reports whether the bearer of a token may go on: nobody with a higher one has
// passed before.
func (f *Fence) Pass(t Token) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.Less(f.seen) {
		return false
	}
	f.seen = t
	return true
}

// What fences in a database are: a table with one row for each lock, and the
// statement that shows a token to it. Their SQL is that of PostgreSQL and SQLite.
const (
	FenceTable = `CREATE TABLE IF NOT EXISTS stile_fence (name text PRIMARY KEY, epoch bigint NOT NULL, count bigint NOT NULL)`
	FenceBump  = `INSERT INTO stile_fence AS f (name, epoch, count) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, count = excluded.count
WHERE f.epoch < excluded.epoch OR f.epoch = excluded.epoch AND f.count <= excluded.count`
)

// A Tx is a transaction: a *sql.Tx is one.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// FenceTx shows the token of a lock to a database, in a transaction, before anything
// else is done in it. If the error is ErrStale, or any other, the transaction must be
// rolled back. Until it ends it keeps out all others that show a token of this lock.
// See docs/fencing.md.
func FenceTx(ctx context.Context, tx Tx, name string, t Token) error {
	r, err := tx.ExecContext(ctx, FenceBump, name, int64(t.Epoch), int64(t.Count))
	if err != nil {
		return fmt.Errorf("show token %s of %q: %w", t, name, err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		return fmt.Errorf("show token %s of %q: %w", t, name, err)
	}
	if n == 0 {
		return fmt.Errorf("show token %s of %q: %w", t, name, ErrStale)
	}
	return nil
}
